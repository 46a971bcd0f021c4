// The client: its parts, put together.

import { type Api, apiOf, type Confirmation, type Core, check, type Fetch, type RetryPolicy } from "./core.js";
import { type FollowAllOptions, type FollowGameOptions, followGame, followPlayer } from "./follow.js";
import { Games } from "./games.js";
import { Hubs } from "./hub.js";
import {
  type ChannelLike,
  defaultChannel,
  defaultLocks,
  defaultOnline,
  defaultStorage,
  ignore,
  type LocksLike,
  MemoryStorage,
  type OnlineHook,
  ProcessLocks,
  randomUuid,
  type StorageLike,
} from "./platform.js";
import { Queue } from "./queue.js";
import { Session } from "./session.js";
import type { GameEvent, PlayerEvent } from "./types.js";

export interface ClientOptions {
  /** Where the server is, such as `https://mancala.example`. */
  baseUrl: string;
  /** Tells several sessions at one server apart that share a storage. */
  name?: string;
  /** Keeps the session and the queue. Default: `localStorage`, or else memory. */
  storage?: StorageLike;
  /** Default: `globalThis.fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Locks among everything that shares the storage. Default: Web Locks, or else locks within this process. */
  locks?: LocksLike;
  /** Channels to everything that shares the storage; null for none. Default: `BroadcastChannel`, if there is a shared storage. */
  channel?: ((name: string) => ChannelLike) | null;
  /** Calls back when the network is back. Default: the event `online`. */
  online?: OnlineHook;
  /** The time in milliseconds. Default: `Date.now`. */
  now?: () => number;
  /** Secure random UUIDs. Default: `crypto`. Where there is none, as in React Native, a guest is asked for only once. */
  uuid?: () => string;
  retry?: Partial<RetryPolicy>;
  /**
   * Called where the server wants more than a token, because the call takes the account over or ends it. Ask for the password, or let the player sign in
   * again (`session.signIn`, `signInBy`), and answer with that: the call is sent once more. Without an answer it fails with `recent_sign_in_required`.
   */
  onSignInRequired?: () => Promise<Confirmation | null>;
}

const RETRY: RetryPolicy = {
  attempts: 8,
  baseMs: 500,
  maxMs: 20_000,
  timeoutMs: 15_000,
  streamMs: 10_000,
  silenceMs: 40_000,
};

/** Called with each event, in order. The next one waits for the promise. */
export type Handler<E> = (event: E) => void | Promise<void>;

export interface Client {
  /** Every operation of the API, typed. The token is attached and renewed; failures are as openapi-fetch shows them. */
  readonly api: Api;
  readonly session: Session;
  readonly games: Games;
  readonly queue: Queue;
  /** Resolves when the stored session and queue are read. At once, unless the storage is asynchronous. */
  readonly ready: Promise<void>;
  /** Every event of a game, without gap or repetition, until nothing can follow. */
  follow(gameId: string, options?: FollowGameOptions): AsyncGenerator<GameEvent, void, undefined>;
  /** The same by a handler; resolves at the end, or when the signal aborts. */
  follow(gameId: string, handler: Handler<GameEvent>, options?: FollowGameOptions): Promise<void>;
  /** Every event of all games of the player. All tabs share one stream. */
  followAll(options?: FollowAllOptions): AsyncGenerator<PlayerEvent, void, undefined>;
  followAll(handler: Handler<PlayerEvent>, options?: FollowAllOptions): Promise<void>;
  /** Ends what is followed, and the exchange with other tabs. */
  close(): void;
}

export function createClient(options: ClientOptions): Client {
  const { core, session } = connect(options);
  const games = new Games(core);
  const queue = new Queue(core, session, games);
  const hubs = new Hubs(core);
  const followers = { core, session, hubs };

  function follow(id: string, options?: FollowGameOptions): AsyncGenerator<GameEvent, void, undefined>;
  function follow(id: string, handler: Handler<GameEvent>, options?: FollowGameOptions): Promise<void>;
  function follow(id: string, first?: Handler<GameEvent> | FollowGameOptions, second?: FollowGameOptions) {
    if (typeof first === "function") return each(followGame(followers, id, second ?? {}), first, second?.signal);
    return followGame(followers, id, first ?? {});
  }

  function followAll(options?: FollowAllOptions): AsyncGenerator<PlayerEvent, void, undefined>;
  function followAll(handler: Handler<PlayerEvent>, options?: FollowAllOptions): Promise<void>;
  function followAll(first?: Handler<PlayerEvent> | FollowAllOptions, second?: FollowAllOptions) {
    if (typeof first === "function") return each(followPlayer(followers, second ?? {}), first, second?.signal);
    return followPlayer(followers, first ?? {});
  }

  return {
    api: core.api,
    session,
    games,
    queue,
    ready: Promise.all([session.ready, queue.ready]).then(() => {}),
    follow,
    followAll,
    close() {
      hubs.close();
      queue.close();
      session.close();
    },
  };
}

function connect(options: ClientOptions): { core: Core; session: Session } {
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  const shared = options.storage ?? defaultStorage();
  // Looked up at each call, so that a fetch that is replaced later is used.
  const fetch: Fetch = options.fetch ?? ((request) => globalThis.fetch(request));
  const authorized: Fetch = (request) => sendConfirmed(core, session, fetch, request);
  let confirming: Promise<Confirmation | null> | undefined;
  const core: Core = {
    baseUrl,
    scope: `${options.name ?? "mancala"}:${baseUrl}`,
    anonymous: apiOf(baseUrl, fetch),
    api: apiOf(baseUrl, authorized),
    authorized,
    present: () => void session.grant().catch(ignore),
    storage: shared ?? new MemoryStorage(),
    // A storage of this client alone needs no locks and no messages beyond it.
    locks: options.locks ?? (shared ? defaultLocks() : new ProcessLocks()),
    channel: options.channel === null ? undefined : (options.channel ?? (shared ? defaultChannel() : undefined)),
    online: options.online ?? defaultOnline,
    now: options.now ?? Date.now,
    uuid: options.uuid ?? randomUuid,
    retry: { ...RETRY, ...options.retry },
    confirm: () => (confirming ??= Promise.resolve(options.onSignInRequired?.() ?? null).finally(() => (confirming = undefined))),
    isConfirming: () => confirming !== undefined,
  };
  const session = new Session(core);
  return { core, session };
}

// Where the token is not enough, the player is asked, and the request sent once more: the server has not carried it out.
async function sendConfirmed(core: Core, session: Session, fetch: Fetch, request: Request): Promise<Response> {
  const again = request.clone();
  const response = await sendAuthorized(session, fetch, request);
  if (response.status !== 403 || (await codeOf(response)) !== "recent_sign_in_required") return response;
  const player = session.current()?.player.id;
  const confirmation = await core.confirm();
  if (confirmation === null || session.current()?.player.id !== player) return response;
  check(request.signal);
  return sendAuthorized(session, fetch, confirmation === "signed-in" ? again : await withPassword(again, confirmation.password));
}

async function withPassword(request: Request, password: string): Promise<Request> {
  const text = await request.text();
  const body = { ...(text === "" ? {} : (JSON.parse(text) as object)), current_password: password };
  const headers = new Headers(request.headers);
  headers.set("Content-Type", "application/json");
  return new Request(request.url, { method: request.method, headers, body: JSON.stringify(body), signal: request.signal });
}

async function codeOf(response: Response): Promise<unknown> {
  const problem = (await response
    .clone()
    .json()
    .catch(() => null)) as { code?: unknown } | null;
  return problem?.code;
}

// A token that is refused is renewed, and the request sent again: the server has not carried it out.
async function sendAuthorized(session: Session, fetch: Fetch, request: Request): Promise<Response> {
  const grant = await session.grant();
  // The caller may have given up meanwhile.
  check(request.signal);
  if (grant === null) return fetch(request);
  const again = request.clone();
  request.headers.set("Authorization", `Bearer ${grant.accessToken}`);
  const response = await fetch(request);
  if (response.status !== 401) return response;
  if ((await codeOf(response)) !== "invalid_token") return response;
  const renewed = await session.renew(grant);
  // Another player who has signed in meanwhile does not make this player's calls.
  if (renewed?.player.id !== grant.player.id) return response;
  check(request.signal);
  again.headers.set("Authorization", `Bearer ${renewed.accessToken}`);
  return fetch(again);
}

async function each<E>(events: AsyncGenerator<E, void, undefined>, handler: Handler<E>, signal?: AbortSignal): Promise<void> {
  try {
    for await (const event of events) await handler(event);
  } catch (error) {
    // The application has ended it.
    if (!signal?.aborted) throw error;
  }
}
