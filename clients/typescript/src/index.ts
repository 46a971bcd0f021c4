// @mancala-server/client: see README.md.

export { type Client, type ClientOptions, createClient, type Handler } from "./client.js";
export type { Api, CallOptions, Confirmation, RetryPolicy } from "./core.js";
export { type Failure, isTemporary, MancalaError } from "./failure.js";
export type { FeedMode } from "./feed.js";
export type { FollowAllOptions, FollowGameOptions, FollowOptions } from "./follow.js";
export { type Frame, frames, pitsOf, sameBoard } from "./frames.js";
export type { AtVersion, CreateOptions, Games } from "./games.js";
export { paginate } from "./pages.js";
export { type ChannelLike, type LocksLike, MemoryStorage, type OnlineHook, ProcessLocks, type StorageLike } from "./platform.js";
export type { Queue, QueuedMove, QueueEvent, RefusedMove } from "./queue.js";
export type { Session, SessionInfo, SessionListener } from "./session.js";
export { beginSignIn, completeSignIn, type OpenSignIn, type SignInOptions, signInBy } from "./sign-in.js";
export type * from "./types.js";
