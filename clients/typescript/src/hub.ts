// One feed for everything that follows the same events, in all tabs. The tab that holds the lock reads, and tells the others.

import { type Core, check, pause, reasonOf, waitOf } from "./core.js";
import { isTemporary, MancalaError, noAnswer, record } from "./failure.js";
import { type FeedMode, feed, type Page, readPage, type Source } from "./feed.js";
import type { ChannelLike } from "./platform.js";

/** What is passed on, in this tab and between tabs. */
type Message<E> =
  /** Nothing is missed from this place on. After a gap something may have been missed before it. */
  | { type: "open"; place: string; isGap: boolean }
  | { type: "event"; place: string; event: E }
  /** Nothing can follow. */
  | { type: "end" };

/** A tab that has just begun asks whether there is a feed. */
type Sent<E> = Message<E> | { type: "hello" };

const TYPES: unknown[] = ["hello", "open", "event", "end"] satisfies Sent<unknown>["type"][];

type Listener<E> = (message: Message<E> | { type: "failed"; error: unknown }) => void;

/** The feeds of one client, by what they read. */
export class Hubs {
  readonly #core: Core;
  readonly #hubs = new Map<string, Hub<unknown>>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** The messages of a feed that many may listen to. It runs while there is a listener. */
  listen<E>(key: string, source: Source<E>, mode: FeedMode, from: string | undefined, listener: Listener<E>): () => void {
    let hub = this.#hubs.get(key) as Hub<E> | undefined;
    if (!hub) {
      const forget = () => this.#hubs.delete(key);
      hub = new Hub<E>(this.#core, `${this.#core.scope}:feed:${key}`, source, mode, from, forget);
      this.#hubs.set(key, hub as Hub<unknown>);
    }
    return hub.add(listener);
  }

  close(): void {
    for (const hub of [...this.#hubs.values()]) hub.close(Object.assign(new Error("the client was closed"), { name: "AbortError" }));
  }
}

class Hub<E> {
  readonly #core: Core;
  readonly #source: Source<E>;
  readonly #mode: FeedMode;
  readonly #forget: () => void;
  readonly #channel: ChannelLike | undefined;
  readonly #listeners = new Set<Listener<E>>();
  readonly #controller = new AbortController();
  // Where the feed goes on if this tab takes it over.
  #place: string | undefined;
  #isOpen = false;
  #isLeader = false;

  constructor(core: Core, name: string, source: Source<E>, mode: FeedMode, from: string | undefined, forget: () => void) {
    this.#core = core;
    this.#source = source;
    this.#mode = mode;
    this.#place = from;
    this.#forget = forget;
    this.#channel = core.channel?.(name);
    if (this.#channel) {
      this.#channel.onmessage = ({ data }) => {
        // A tab of another release may say what this one does not know.
        if (TYPES.includes(record(data)?.["type"])) this.#hear(data as Sent<E>);
      };
      this.#channel.postMessage({ type: "hello" });
    }
    const { signal } = this.#controller;
    core.locks.request(name, { signal }, () => this.#lead()).catch((error: unknown) => this.close(error));
  }

  add(listener: Listener<E>): () => void {
    this.#listeners.add(listener);
    if (this.#isOpen && this.#place !== undefined) listener({ type: "open", place: this.#place, isGap: false });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Lets another tab take over. */
  close(error?: unknown): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort();
    this.#channel?.close();
    this.#forget();
    if (error !== undefined) for (const listener of this.#listeners) listener({ type: "failed", error });
  }

  async #lead(): Promise<void> {
    const { signal } = this.#controller;
    check(signal);
    this.#isLeader = true;
    let isGap = false;
    for (;;) {
      try {
        for await (const item of feed(this.#core, this.#source, { from: this.#place, mode: this.#mode, signal })) {
          this.#tell(item.type === "open" ? { ...item, isGap } : item);
          isGap = false;
        }
        this.#tell({ type: "end" });
        return;
      } catch (error) {
        // The place is too old, or was given before a backup was restored: the feed of all games begins anew.
        if (!isForgotten(error) || this.#place === undefined || !this.#source.canRestart) throw error;
        this.#place = undefined;
        isGap = true;
      }
    }
  }

  #tell(message: Message<E>): void {
    this.#pass(message);
    this.#channel?.postMessage(message);
    if (message.type === "end") this.close();
  }

  #hear(message: Sent<E>): void {
    if (message.type !== "hello") {
      this.#pass(message);
      if (message.type === "end") this.close();
    } else if (this.#isLeader && this.#isOpen && this.#place !== undefined) {
      this.#channel?.postMessage({ type: "open", place: this.#place, isGap: false });
    }
  }

  #pass(message: Message<E>): void {
    // The feed that is being opened goes on after what came before.
    if (message.type === "event" && !this.#isOpen) return;
    if (message.type !== "end") this.#place = message.place;
    // The feed goes on where it was: no news.
    if (message.type === "open" && this.#isOpen && !message.isGap) return;
    this.#isOpen ||= message.type === "open";
    for (const listener of [...this.#listeners]) listener(message);
  }
}

/** What `subscribe` yields. */
export type Heard<E> = { type: "open"; place: string; isGap: boolean } | { type: "event"; event: E };

export interface Subscription<E> {
  key: string;
  source: Source<E>;
  mode: FeedMode;
  /** Everything after this place is yielded. Without it, everything from now on. */
  after: string | undefined;
  /** The last event that is known, by game. */
  known: [string, number][];
  signal: AbortSignal | undefined;
}

// A consumer that falls so far behind reads the lists again.
const WAITING_MAX = 10_000;

/** Each event once, those of one game in order, and when something may have been missed. */
export async function* subscribe<E>(core: Core, hubs: Hubs, wanted: Subscription<E>): AsyncGenerator<Heard<E>, void, undefined> {
  const { source, signal } = wanted;
  const known = new Map(wanted.known);
  const inbox = new Inbox<E>();
  let place = wanted.after;
  let isOpen = false;
  const isNews = (event: E) => {
    const { id, seq } = source.gameOf(event);
    const isNew = seq > (known.get(id) ?? 0);
    if (isNew) known.set(id, seq);
    return isNew;
  };
  // What happened between two places, from pages.
  async function* catchUp(from: string): AsyncGenerator<Heard<E>, void, undefined> {
    for (let next = from; ; ) {
      const page = await readOnce(core, source, next, signal);
      for (const event of page.items) if (isNews(event)) yield { type: "event", event };
      const last = page.items.at(-1);
      if (last === undefined) return;
      next = page.last_event_id ?? source.placeOf(last);
    }
  }
  const stop = hubs.listen(wanted.key, source, wanted.mode, wanted.after, (message) => inbox.put(message));
  const abort = () => inbox.put({ type: "failed", error: reasonOf(signal) });
  signal?.addEventListener("abort", abort);
  try {
    check(signal);
    for (;;) {
      const message = await inbox.take();
      if (message.type === "end") return;
      if (message.type === "failed") throw message.error;
      if (message.type === "open") {
        if (message.isGap) known.clear();
        yield message;
        if (!isOpen && wanted.after !== undefined && wanted.after !== message.place && !message.isGap) yield* catchUp(wanted.after);
        isOpen = true;
        place = message.place;
        continue;
      }
      const { id, seq } = source.gameOf(message.event);
      const last = known.get(id);
      // A tab that slept may have missed a message.
      if (last !== undefined && seq > last + 1 && place !== undefined) yield* catchUp(place);
      place = message.place;
      if (isNews(message.event)) yield { type: "event", event: message.event };
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    stop();
  }
}

async function readOnce<E>(core: Core, source: Source<E>, place: string, signal: AbortSignal | undefined): Promise<Page<E>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await readPage(core, source, place, 0, signal)).page;
    } catch (error) {
      check(signal);
      const failure = error instanceof MancalaError ? error : noAnswer(error);
      if (!isTemporary(failure.failure, failure.status)) throw failure;
      await pause(core, failure, waitOf(failure, attempt, core.retry), signal);
    }
  }
}

type Put<E> = Parameters<Listener<E>>[0];

// Messages that wait for their consumer.
class Inbox<E> {
  #waiting: Put<E>[] = [];
  #wake: (() => void) | undefined;

  put(message: Put<E>): void {
    this.#waiting.push(message);
    if (this.#waiting.length > WAITING_MAX && message.type === "event") {
      this.#waiting = [{ type: "open", place: message.place, isGap: true }];
    }
    this.#wake?.();
  }

  async take(): Promise<Put<E>> {
    for (;;) {
      const message = this.#waiting.shift();
      if (message) return message;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function isForgotten(error: unknown): boolean {
  return error instanceof MancalaError && error.failure.code === "validation_failed";
}
