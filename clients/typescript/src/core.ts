// What all parts of the client share: the connection, the retries, and the platform.

import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import { errorOf, isTemporary, MancalaError, noAnswer } from "./failure.js";
import { type ChannelLike, ignore, type LocksLike, type OnlineHook, type StorageLike } from "./platform.js";
import type { paths } from "./types.js";

export type Api = FetchClient<paths>;
export type Fetch = (request: Request) => Promise<Response>;

/** How often a call that may be sent again is sent, and how long the client waits between attempts. */
export interface RetryPolicy {
  /** Attempts in all. Default 8, which is about a minute. */
  attempts: number;
  /** The first wait, which doubles each time. Default 500 ms. A `Retry-After` of the server is obeyed instead. */
  baseMs: number;
  /** The longest wait. Default 20 s. */
  maxMs: number;
  /** How long one attempt may take. Default 15 s. */
  timeoutMs: number;
  /** How long a stream may take to begin. Default 10 s. */
  streamMs: number;
  /** How long a stream may stay silent: the server sends something every 15 s. Default 40 s. */
  silenceMs: number;
}

export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** In place of the client's policy. */
  retry?: Partial<RetryPolicy> | undefined;
}

/** How the player has confirmed who it is: by the account's password, or by signing in again. */
export type Confirmation = { password: string } | "signed-in";

export interface Core {
  readonly baseUrl: string;
  /** The prefix of everything that is stored, locked or sent to other tabs. */
  readonly scope: string;
  /** Sends without a token. */
  readonly anonymous: Api;
  /** Sends with the session's token, and renews it where it has expired. */
  readonly api: Api;
  /** The same for a single request. */
  readonly authorized: Fetch;
  /** Renews a token that has expired: the server takes a player without a valid one for gone. */
  readonly present: () => void;
  readonly storage: StorageLike;
  readonly locks: LocksLike;
  readonly channel: ((name: string) => ChannelLike) | undefined;
  readonly online: OnlineHook;
  readonly now: () => number;
  /** A random UUID, or undefined where there are no secure random numbers. */
  readonly uuid: () => string | undefined;
  readonly retry: RetryPolicy;
  /** Asks the player who it is; null without an answer. Calls that need it at the same time ask once. */
  readonly confirm: () => Promise<Confirmation | null>;
  /** Whether the player is being asked. The time of a call stands still meanwhile. */
  readonly isConfirming: () => boolean;
}

/** What openapi-fetch answers. */
export type Raw<T> = { data?: T; error?: unknown; response: Response };

export interface Attempt {
  signal: AbortSignal;
  /** Counts from 1. In a later attempt an earlier one may have been carried out. */
  number: number;
}

/** Sends until there is an answer that is not temporary. Only for what may be sent again. */
export async function call<T>(
  core: Pick<Core, "retry" | "online" | "isConfirming">,
  send: (attempt: Attempt) => Promise<Raw<T>>,
  options: CallOptions = {},
): Promise<{ data: T; response: Response; attempts: number }> {
  const policy = { ...core.retry, ...options.retry };
  for (let number = 1; ; number += 1) {
    try {
      return { ...(await once(core, send, number, policy.timeoutMs, options.signal)), attempts: number };
    } catch (error) {
      if (!(error instanceof MancalaError) || !isTemporary(error.failure, error.status) || number >= policy.attempts) throw error;
      await pause(core, error, waitOf(error, number, policy), options.signal);
    }
  }
}

async function once<T>(
  core: Pick<Core, "isConfirming">,
  send: (attempt: Attempt) => Promise<Raw<T>>,
  number: number,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<{ data: T; response: Response }> {
  check(signal);
  const limit = limited(timeoutMs, signal, core.isConfirming);
  try {
    const { data, error, response } = await limit.race(send({ signal: limit.signal, number }));
    if (!response.ok) throw errorOf(response, error);
    return { data: data as T, response };
  } catch (error) {
    if (error instanceof MancalaError) throw error;
    check(signal);
    // A lost connection, a timeout, and an answer that was cut off look alike.
    throw noAnswer(error);
  } finally {
    limit.clear();
  }
}

/** A signal that aborts after a time, or with another one. */
export interface Limit {
  readonly signal: AbortSignal;
  /** A promise that also rejects with the signal. A `fetch` may never hear of an abort, and then would never end. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** Whether the time is up. */
  isExpired(): boolean;
  /** Begins the time anew. */
  restart(ms: number): void;
  /** Ends the time. */
  clear(): void;
  abort(): void;
}

/** `AbortSignal.any` and `AbortSignal.timeout` are too young for some browsers. */
export function limited(ms: number, signal?: AbortSignal, isPaused = () => false): Limit {
  const controller = new AbortController();
  let isExpired = false;
  const expire = () => {
    if (isPaused()) {
      timer = setTimeout(expire, ms);
      return;
    }
    isExpired = true;
    controller.abort(new Error("no answer in time"));
  };
  const follow = () => controller.abort(reasonOf(signal));
  let timer = setTimeout(expire, ms);
  signal?.addEventListener("abort", follow);
  if (signal?.aborted) follow();
  return {
    signal: controller.signal,
    race: (promise) =>
      new Promise((resolve, reject) => {
        const abort = () => reject(reasonOf(controller.signal));
        const end = () => controller.signal.removeEventListener("abort", abort);
        controller.signal.addEventListener("abort", abort);
        if (controller.signal.aborted) abort();
        promise.then(resolve, reject).finally(end);
      }),
    isExpired: () => isExpired,
    restart(ms) {
      clearTimeout(timer);
      timer = setTimeout(expire, ms);
    },
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", follow);
    },
    abort: () => controller.abort(),
  };
}

/** The wait after a failed attempt: what the server says, or exponential backoff with jitter. */
export function waitOf(error: unknown, attempt: number, policy: Pick<RetryPolicy, "baseMs" | "maxMs">): number {
  const failure = error instanceof MancalaError ? error.failure : undefined;
  const told = failure !== undefined && "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  const grown = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));
  // Of several clients that were cut off at the same moment, each comes back at another.
  return told !== undefined ? told + Math.random() * policy.baseMs : grown * (0.5 + Math.random() / 2);
}

/** Waits after an error. If there was no answer, not longer than until the network is back. */
export function pause(core: Pick<Core, "online">, error: unknown, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      forget();
      settle();
    };
    const done = end(resolve);
    const abort = end(() => reject(reasonOf(signal)));
    const timer = setTimeout(done, ms);
    const isOffline = error instanceof MancalaError && error.failure.code === "no_answer";
    const forget = isOffline ? core.online(done) : ignore;
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
  });
}

/** Throws if the signal was aborted. React Native has neither `throwIfAborted` nor `reason`. */
export function check(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

export function reasonOf(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? Object.assign(new Error("aborted"), { name: "AbortError" });
}

export function apiOf(baseUrl: string, fetch: Fetch): Api {
  // Lists in a query are separated by commas.
  return createFetchClient<paths>({ baseUrl, fetch, querySerializer: { array: { style: "form", explode: false } } });
}
