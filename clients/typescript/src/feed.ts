// Events as they happen: by a stream that resumes where it broke off, or by pages that wait where streams do not get through.

import { limited, pause, waitOf, type Core } from "./core.js";
import { errorOf, isTemporary, MancalaError, noAnswer } from "./failure.js";
import { readSse } from "./sse.js";

/** How events are read: `auto` tries a stream first. */
export type FeedMode = "auto" | "stream" | "poll";

export type FeedItem<E> =
  /** The feed has begun, or gone on, after this place. Nothing that happens from now on is missed. */
  | { type: "open"; place: string }
  | { type: "event"; place: string; event: E };

export interface FeedOptions<E> {
  /** The path of the events, such as `/v1/me/events`. */
  path: string;
  /** Begins after this place; without one, where the server begins. */
  from: string | undefined;
  mode: FeedMode;
  signal: AbortSignal | undefined;
  placeOf(event: E): string;
  /** Whether a feed by pages has come to its end: nothing happens after this event, or this long after it. */
  quietAfterMs(event: E): number | undefined;
}

interface Page<E> {
  items: E[];
  last_event_id?: string;
}

// A stream sends a comment every 15 seconds.
const SILENCE_MS = 40_000;
const WAIT_S = 50;
// A page that waits, and the way there and back.
const PAGE_MS = (WAIT_S + 10) * 1000;
// After so many streams that stayed silent, something on the way keeps them back.
const SILENT_MAX = 2;
// The server could not let the page wait.
const UNWAITED_MS = 5000;

/** Every event after `from`, in order, until the feed has an end. Throws what is not temporary. */
export async function* feed<E>(core: Core, options: FeedOptions<E>): AsyncGenerator<FeedItem<E>, void, undefined> {
  const state: State = { place: options.from, failures: 0, silent: 0, retryMs: undefined, isOver: false };
  const canStream = typeof Response !== "undefined" && "body" in Response.prototype;
  while (!state.isOver) {
    options.signal?.throwIfAborted();
    const byStream = options.mode === "stream" || (options.mode === "auto" && canStream && state.silent < SILENT_MAX);
    try {
      yield* byStream ? stream(core, options, state) : poll(core, options, state);
      if (!state.isOver) await pause(core, state.retryMs ?? core.retry.baseMs, options.signal);
    } catch (error) {
      options.signal?.throwIfAborted();
      const failure = error instanceof MancalaError ? error : noAnswer(error);
      if (!isTemporary(failure.failure, failure.status)) throw failure;
      state.failures += 1;
      await pause(core, waitOf(failure, state.failures, core.retry), options.signal);
    }
  }
}

interface State {
  place: string | undefined;
  failures: number;
  silent: number;
  retryMs: number | undefined;
  isOver: boolean;
}

async function* stream<E>(core: Core, options: FeedOptions<E>, state: State): AsyncGenerator<FeedItem<E>, void, undefined> {
  const limit = limited(SILENCE_MS, options.signal);
  let hasBytes = false;
  try {
    const headers = { Accept: "text/event-stream", ...(state.place !== undefined && { "Last-Event-ID": state.place }) };
    const request = new Request(core.baseUrl + options.path, { headers, signal: limit.signal, cache: "no-store" });
    const response = await core.authorized(request);
    if (response.status === 204) {
      state.isOver = true;
      return;
    }
    if (!response.ok) throw errorOf(response, await json(response));
    if (!response.body) {
      state.silent = SILENT_MAX;
      return;
    }
    const alive = () => {
      hasBytes = true;
      limit.restart(SILENCE_MS);
    };
    if (state.place !== undefined) yield { type: "open", place: state.place };
    for await (const message of readSse(response.body, alive)) {
      state.retryMs = message.retryMs ?? state.retryMs;
      state.failures = 0;
      state.silent = 0;
      if (message.type === "end") {
        state.isOver = true;
        return;
      }
      const isFirst = state.place === undefined;
      if (message.data === "") {
        // Only a place to go on from.
        state.place = message.id ?? state.place;
        if (isFirst && state.place !== undefined) yield { type: "open", place: state.place };
        continue;
      }
      const event = JSON.parse(message.data) as E;
      state.place = options.placeOf(event);
      yield { type: "event", place: state.place, event };
    }
  } finally {
    if (!hasBytes && !options.signal?.aborted) state.silent += 1;
    limit.clear();
    limit.abort();
  }
}

async function* poll<E>(core: Core, options: FeedOptions<E>, state: State): AsyncGenerator<FeedItem<E>, void, undefined> {
  let isOpen = false;
  let quietAt: number | undefined;
  for (;;) {
    const asked = await readPage<E>(core, options, state.place, isOpen);
    state.failures = 0;
    const { items, last_event_id } = asked.page;
    if (!isOpen && items.length === 0) yield { type: "open", place: last_event_id ?? state.place ?? "" };
    isOpen = true;
    for (const event of items) {
      const quiet = options.quietAfterMs(event);
      quietAt = quiet === undefined ? quietAt : core.now() + quiet;
      state.place = options.placeOf(event);
      yield { type: "event", place: state.place, event };
    }
    state.place = last_event_id ?? state.place;
    if (quietAt !== undefined && core.now() >= quietAt) {
      state.isOver = true;
      return;
    }
    if (items.length === 0 && asked.isEarly) await pause(core, UNWAITED_MS, options.signal);
  }
}

// The first page comes at once: without a place it says where to begin.
async function readPage<E>(core: Core, options: FeedOptions<E>, place: string | undefined, waits: boolean) {
  const limit = limited(PAGE_MS, options.signal);
  try {
    const query = place === undefined ? "?limit=100" : `?limit=100&after=${encodeURIComponent(place)}`;
    const headers = { Accept: "application/json", ...(waits && { Prefer: `wait=${WAIT_S}` }) };
    const response = await core.authorized(new Request(core.baseUrl + options.path + query, { headers, signal: limit.signal }));
    const body = await json(response);
    if (!response.ok) throw errorOf(response, body);
    if (body === undefined) throw noAnswer("the answer was cut off");
    return { page: body as Page<E>, isEarly: waits && !response.headers.has("Preference-Applied") };
  } finally {
    limit.clear();
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
