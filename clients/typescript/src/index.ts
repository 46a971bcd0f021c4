// @mancala-server/client: see README.md.

export { createClient, type Client, type ClientOptions, type Handler } from "./client.js";
export type { Api, CallOptions, Confirmation, RetryPolicy } from "./core.js";
export { isTemporary, MancalaError, type Failure } from "./failure.js";
export type { FeedMode } from "./feed.js";
export type { FollowAllOptions, FollowGameOptions, FollowOptions } from "./follow.js";
export { frames, pitsOf, sameBoard, type Frame } from "./frames.js";
export type { AtVersion, CreateOptions, Games } from "./games.js";
export { paginate } from "./pages.js";
export { MemoryStorage, ProcessLocks, type ChannelLike, type LocksLike, type OnlineHook, type StorageLike } from "./platform.js";
export type { Queue, QueuedMove, QueueEvent, RefusedMove } from "./queue.js";
export type { Session, SessionInfo, SessionListener } from "./session.js";
export { beginSignIn, completeSignIn, signInBy, type OpenSignIn, type SignInOptions } from "./sign-in.js";
export type * from "./types.js";
