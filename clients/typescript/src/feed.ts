// Events as they happen: by a stream that resumes where it broke off, or by pages that wait where streams do not get through.

import { type Core, check, type Limit, limited, pause, waitOf } from "./core.js";
import { errorOf, isTemporary, MancalaError, noAnswer } from "./failure.js";
import { ignore } from "./platform.js";
import { readSse } from "./sse.js";

/** How events are read: `auto` tries a stream first. */
export type FeedMode = "auto" | "stream" | "poll";

/** What is read, and what its events say. */
export interface Source<E> {
  /** The path of the events, such as `/v1/me/events`. */
  path: string;
  /** Whether the feed may begin at the present moment where its place is refused. */
  canRestart: boolean;
  /** The place after an event, from which the feed goes on. */
  placeOf(event: E): string;
  gameOf(event: E): { id: string; seq: number };
  /** How long after this event others may follow; undefined: the feed has no end in sight. Only pages need it. */
  quietAfterMs(event: E): number | undefined;
}

export interface FeedOptions {
  /** Begins after this place; without one, where the server begins. */
  from: string | undefined;
  mode: FeedMode;
  signal: AbortSignal;
}

export type FeedItem<E> =
  /** The feed has begun, or gone on, after this place. Nothing that happens from now on is missed. */
  { type: "open"; place: string } | { type: "event"; place: string; event: E };

export interface Page<E> {
  items: E[];
  last_event_id?: string;
}

interface State {
  place: string | undefined;
  failures: number;
  // Streams one after the other that did not get through.
  blocked: number;
  retryMs: number | undefined;
  isOver: boolean;
}

const WAIT_S = 50;
// A page that waits, and the way there and back.
const PAGE_MS = (WAIT_S + 10) * 1000;
// After so many streams something on the way keeps them back.
const BLOCKED_MAX = 2;
// The server could not let the page wait.
const UNWAITED_MS = 5000;

/** Every event after `from`, in order, until the feed has an end. Throws what is not temporary. */
export async function* feed<E>(core: Core, source: Source<E>, options: FeedOptions): AsyncGenerator<FeedItem<E>, void, undefined> {
  const state: State = { place: options.from, failures: 0, blocked: 0, retryMs: undefined, isOver: false };
  const canStream = typeof Response !== "undefined" && "body" in Response.prototype;
  while (!state.isOver) {
    check(options.signal);
    const byStream = options.mode === "stream" || (options.mode === "auto" && canStream && state.blocked < BLOCKED_MAX);
    try {
      yield* byStream ? stream(core, source, options, state) : poll(core, source, options, state);
      if (!state.isOver) await pause(core, undefined, state.retryMs ?? core.retry.baseMs, options.signal);
    } catch (error) {
      check(options.signal);
      const failure = error instanceof MancalaError ? error : noAnswer(error);
      if (!isTemporary(failure.failure, failure.status)) throw failure;
      state.failures += 1;
      await pause(core, failure, waitOf(failure, state.failures, core.retry), options.signal);
    }
  }
}

async function* stream<E>(core: Core, source: Source<E>, options: FeedOptions, state: State): AsyncGenerator<FeedItem<E>, void, undefined> {
  const limit = limited(core.retry.streamMs, options.signal);
  // Bytes come at once, a comment at least. Where none come, a proxy may be collecting them.
  let isBlocked = true;
  const alive = () => {
    isBlocked = false;
    state.blocked = 0;
    state.failures = 0;
    limit.restart(core.retry.silenceMs);
    // Nothing else may call for a token while a player waits.
    core.present();
  };
  try {
    const headers = { Accept: "text/event-stream", ...(state.place !== undefined && { "Last-Event-ID": state.place }) };
    const response = await answerOf(core, new Request(core.baseUrl + source.path, { headers, signal: limit.signal }), limit);
    if (response.status === 204) {
      state.isOver = true;
      isBlocked = false;
      return;
    }
    if (!response.ok) throw errorOf(response, await limit.race(json(response)));
    if (!response.body) {
      state.blocked = BLOCKED_MAX;
      return;
    }
    if (state.place !== undefined) yield { type: "open", place: state.place };
    for await (const message of readSse(response.body, limit, alive)) {
      state.retryMs = message.retryMs ?? state.retryMs;
      if (message.type === "end") {
        state.isOver = true;
        return;
      }
      if (message.data === "") {
        // Only a place to go on from.
        const isFirst = state.place === undefined;
        state.place = message.id ?? state.place;
        if (isFirst && state.place !== undefined) yield { type: "open", place: state.place };
        continue;
      }
      const event = JSON.parse(message.data) as E;
      const isFirst = state.place === undefined;
      state.place = source.placeOf(event);
      // Something happened while the stream was opened: no place came before it.
      if (isFirst) yield { type: "open", place: state.place };
      yield { type: "event", place: state.place, event };
    }
  } catch (error) {
    // A refusal, or no connection at all, says nothing about streams.
    if (!limit.isExpired()) isBlocked = false;
    throw error;
  } finally {
    if (isBlocked && !options.signal.aborted) state.blocked += 1;
    limit.clear();
    limit.abort();
  }
}

async function* poll<E>(core: Core, source: Source<E>, options: FeedOptions, state: State): AsyncGenerator<FeedItem<E>, void, undefined> {
  let isOpen = state.place !== undefined;
  let quietAt: number | undefined;
  if (state.place !== undefined) yield { type: "open", place: state.place };
  for (;;) {
    // Without a place the first page comes at once, and says where to begin.
    const { page, isEarly } = await readPage(core, source, state.place, isOpen ? WAIT_S : 0, options.signal);
    state.failures = 0;
    state.place = page.last_event_id ?? state.place;
    if (!isOpen && state.place !== undefined) yield { type: "open", place: state.place };
    isOpen = true;
    for (const event of page.items) {
      const quiet = source.quietAfterMs(event);
      quietAt = quiet === undefined ? quietAt : core.now() + quiet;
      state.place = source.placeOf(event);
      yield { type: "event", place: state.place, event };
    }
    state.place = page.last_event_id ?? state.place;
    if (quietAt !== undefined && core.now() >= quietAt) {
      state.isOver = true;
      return;
    }
    if (page.items.length === 0 && isEarly) await pause(core, undefined, UNWAITED_MS, options.signal);
  }
}

/** One page of events after a place. With `waitS` the server holds an empty one back. */
export async function readPage<E>(
  core: Core,
  source: Source<E>,
  place: string | undefined,
  waitS: number,
  signal: AbortSignal | undefined,
): Promise<{ page: Page<E>; isEarly: boolean }> {
  const limit = limited(waitS > 0 ? PAGE_MS : core.retry.timeoutMs, signal);
  try {
    const query = place === undefined ? "?limit=100" : `?limit=100&after=${encodeURIComponent(place)}`;
    const headers = { Accept: "application/json", ...(waitS > 0 && { Prefer: `wait=${waitS}` }) };
    const request = new Request(core.baseUrl + source.path + query, { headers, signal: limit.signal });
    const response = await answerOf(core, request, limit);
    const body = await limit.race(json(response));
    if (!response.ok) throw errorOf(response, body);
    if (body === undefined) throw noAnswer("the answer was cut off");
    return { page: body as Page<E>, isEarly: waitS > 0 && !response.headers.has("Preference-Applied") };
  } finally {
    limit.clear();
  }
}

/** An answer within a limit. The body of one that comes later is not kept open. */
async function answerOf(core: Core, request: Request, limit: Limit): Promise<Response> {
  const sent = core.authorized(request);
  try {
    return await limit.race(sent);
  } catch (error) {
    sent.then((late) => late.body?.cancel()).catch(ignore);
    throw error;
  }
}

async function json(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
