// A value that all tabs share: kept in the storage, changed under a lock, and told to the other tabs.
//
// A browser's tabs are processes, and see what another one has written to `localStorage` a moment later, even if they hold the lock
// meanwhile. So each value has a number, and goes to the other tabs by a channel as well: the higher number counts.

import type { Core } from "./core.js";
import { record } from "./failure.js";
import { type ChannelLike, ignore } from "./platform.js";

interface Numbered<T> {
  rev: number;
  value: T;
}

/** How long a tab that had to wait for the lock waits for what was written meanwhile. */
const SETTLE_MS = 250;
const STEP_MS = 10;
/** How long the lock is held after a change, so that it reaches the other tabs before they hold it. */
const HOLD_MS = 20;

export class Shared<T> {
  readonly #core: Core;
  readonly #key: string;
  readonly #read: (value: unknown) => T;
  readonly #onChange: (value: T) => void;
  readonly #channel: ChannelLike | undefined;
  #known: Numbered<T>;
  // The last change is not in the storage, which is full or blocked.
  #isUnstored = false;
  /** Resolves when the stored value is read. At once, unless the storage is asynchronous. */
  readonly ready: Promise<void>;

  /**
   * `read` makes the value out of what is stored, which may be of any release: it drops what it cannot read. `onChange` is called
   * with each value of other tabs.
   */
  constructor(core: Core, key: string, read: (value: unknown) => T, onChange: (value: T) => void) {
    this.#core = core;
    this.#key = `${core.scope}:${key}`;
    this.#read = read;
    this.#onChange = onChange;
    this.#known = { rev: 0, value: read(undefined) };
    this.#channel = core.channel?.(this.#key);
    if (this.#channel) this.#channel.onmessage = ({ data }) => this.#adopt(data);
    const text = core.storage.getItem(this.#key);
    if (text instanceof Promise) this.ready = text.then((text) => this.#adopt(parse(text)), ignore);
    else {
      this.#known = this.#numbered(parse(text)) ?? this.#known;
      this.ready = Promise.resolve();
    }
  }

  /** The value as this tab knows it. */
  get value(): T {
    return this.#known.value;
  }

  /** Works alone among all tabs, with the newest value. */
  async exclusive<R>(work: () => Promise<R>): Promise<R> {
    await this.ready;
    const { rev } = this.#known;
    const { locks } = this.#core;
    const alone = async (): Promise<{ result: R }> => {
      await this.#load();
      const before = this.#known.rev;
      const result = await work();
      if (this.#channel && this.#known.rev !== before) await sleep(HOLD_MS);
      return { result };
    };
    const first = await locks.request(this.#key, { ifAvailable: true }, async (lock) => (lock ? alone() : undefined));
    if (first) return first.result;
    const second = await locks.request(this.#key, {}, async () => {
      for (let waited = 0; waited < SETTLE_MS && this.#known.rev === rev; waited += STEP_MS) {
        await this.#load();
        if (this.#known.rev === rev) await sleep(STEP_MS);
      }
      return alone();
    });
    return second.result;
  }

  /** Keeps another value, within `exclusive`. Whether the storage took it; if not, it lasts as long as this client. */
  async set(value: T): Promise<boolean> {
    const next = { rev: this.#known.rev + 1, value };
    const isStored = await attempt(() => this.#core.storage.setItem(this.#key, JSON.stringify(next)));
    this.#isUnstored = !isStored;
    this.#known = next;
    this.#channel?.postMessage(next);
    return isStored;
  }

  close(): void {
    this.#channel?.close();
  }

  async #load(): Promise<void> {
    if (this.#isUnstored) return;
    this.#adopt(parse(await this.#core.storage.getItem(this.#key)));
  }

  #adopt(given: unknown): void {
    const other = this.#numbered(given);
    if (!other || other.rev <= this.#known.rev) return;
    this.#known = other;
    this.#onChange(other.value);
  }

  // The number counts even where the value cannot be read, so that the next change has a higher one.
  #numbered(given: unknown): Numbered<T> | undefined {
    const rev = record(given)?.["rev"];
    return Number.isSafeInteger(rev) ? { rev: rev as number, value: this.#read(record(given)?.["value"]) } : undefined;
  }
}

/** Whether a storage took what was written to it. */
export async function attempt(write: () => unknown): Promise<boolean> {
  try {
    await write();
    return true;
  } catch {
    return false;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a text holds; undefined if it is no JSON. */
export function parse(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
