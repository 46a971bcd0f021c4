// What browsers, Node and React Native have of storage, locks and channels, behind one face.

/** Where tokens and the queue are kept: `localStorage`, React Native's `AsyncStorage`, or anything with these three methods. */
export interface StorageLike {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** Mutual exclusion of everything that shares the storage: `navigator.locks`, or anything like it. */
export interface LocksLike {
  /** With `ifAvailable` the work is called at once, with null if another one holds the lock. */
  request<T>(name: string, options: LockOptionsLike, work: (lock: unknown) => Promise<T>): Promise<T>;
}

export interface LockOptionsLike {
  signal?: AbortSignal;
  ifAvailable?: boolean;
}

/** Messages to everything else that shares the storage: `BroadcastChannel`, or anything like it. */
export interface ChannelLike {
  postMessage(message: unknown): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
}

/** Where there is no storage, and in tests: several clients that share one are like the tabs of a browser. */
export class MemoryStorage implements StorageLike {
  readonly #items = new Map<string, string>();

  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.#items.set(key, value);
  }

  removeItem(key: string): void {
    this.#items.delete(key);
  }
}

/** Locks within one process: for Node, React Native, and browsers without Web Locks. */
export class ProcessLocks implements LocksLike {
  readonly #last = new Map<string, Promise<unknown>>();

  async request<T>(name: string, options: LockOptionsLike, work: (lock: unknown) => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    if (before && options.ifAvailable) return work(null);
    const run = (async () => {
      await before;
      if (options.signal?.aborted) throw options.signal.reason;
      return work({ name });
    })();
    const settled = run.then(ignore, ignore);
    this.#last.set(name, settled);
    try {
      return await run;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }
}

/** `localStorage` where it may be used. A page of a sandbox or with blocked cookies has none. */
export function defaultStorage(): StorageLike | undefined {
  try {
    return (globalThis as { localStorage?: StorageLike }).localStorage ?? undefined;
  } catch {
    return undefined;
  }
}

export function defaultLocks(): LocksLike {
  const locks = (globalThis as { navigator?: { locks?: LocksLike } }).navigator?.locks;
  return locks ?? new ProcessLocks();
}

export function defaultChannel(): ((name: string) => ChannelLike) | undefined {
  if (typeof BroadcastChannel === "undefined") return undefined;
  return (name) => {
    const channel = new BroadcastChannel(name) as ChannelLike & { unref?: () => void };
    // In Node a channel would keep the process alive.
    channel.unref?.();
    return channel;
  };
}

/** Calls back when the network is back, and returns what ends that. */
export type OnlineHook = (callback: () => void) => () => void;

export function defaultOnline(callback: () => void): () => void {
  const target = globalThis as Partial<Pick<EventTarget, "addEventListener" | "removeEventListener">>;
  // React Native has a global without events.
  if (typeof target.addEventListener !== "function") return ignore;
  target.addEventListener("online", callback);
  return () => target.removeEventListener?.("online", callback);
}

/** A random UUID, or undefined where there are no secure random numbers. */
export function randomUuid(): string | undefined {
  const source = (globalThis as { crypto?: Partial<Crypto> }).crypto;
  if (typeof source?.randomUUID === "function") return source.randomUUID();
  // Pages that are not served by https have no `randomUUID`.
  if (typeof source?.getRandomValues !== "function") return undefined;
  const hex = [...source.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

export function ignore(): void {}
