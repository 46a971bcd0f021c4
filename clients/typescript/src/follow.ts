// Follows one game, or all games of the player.

import { type Core, reasonOf } from "./core.js";
import { MancalaError } from "./failure.js";
import type { FeedMode, Source } from "./feed.js";
import { type Hubs, subscribe } from "./hub.js";
import type { Session } from "./session.js";
import type { GameEvent, PlayerEvent } from "./types.js";

export interface FollowOptions {
  signal?: AbortSignal | undefined;
  /** `auto`, which is the default, falls back to pages that wait where streams do not get through. */
  mode?: FeedMode | undefined;
}

export interface FollowGameOptions extends FollowOptions {
  /** Begins after this event: the `version` of the game that is shown. Without it, with the first event. */
  after?: number | undefined;
}

export interface FollowAllOptions extends FollowOptions {
  /** Goes on after the `id` of an earlier event. Without it, at the present moment. */
  after?: string | undefined;
  /**
   * The feed has begun. Read the lists now: what happens from now on is in the feed. With `isGap` it could not go on where it
   * was, because the place is too old; read the lists again.
   */
  onOpen?: ((open: { place: string; isGap: boolean }) => void) | undefined;
}

export interface Followers {
  core: Core;
  session: Session;
  hubs: Hubs;
}

// A rematch may be offered for ten minutes after the end.
const REMATCH_MS = 10 * 60_000;

/** Every event of a game after `after`, once, in order, until nothing can follow. */
export async function* followGame({ core, session, hubs }: Followers, id: string, options: FollowGameOptions): AsyncGenerator<GameEvent, void, undefined> {
  await session.ready;
  const source: Source<GameEvent> = {
    path: `/v1/games/${encodeURIComponent(id)}/events`,
    canRestart: false,
    placeOf: ({ seq }) => String(seq),
    gameOf: ({ game_id, seq }) => ({ id: game_id, seq }),
    quietAfterMs: ({ type }) => {
      if (type === "finished") return REMATCH_MS;
      return ["aborted", "declined", "expired", "rematched"].includes(type) ? 0 : undefined;
    },
  };
  // Which player reads does not matter to the events, but to whether they may be read.
  const key = `${session.current()?.player.id ?? "anonymous"}:${id}`;
  const { after = 0, mode = "auto", signal } = options;
  const wanted = { key, source, mode, after: String(after), known: [[id, after] as [string, number]], signal };
  for await (const heard of subscribe(core, hubs, wanted)) {
    if (heard.type === "event") yield heard.event;
  }
}

/** Events of all games of the player, each once, those of one game in order. */
export async function* followPlayer({ core, session, hubs }: Followers, options: FollowAllOptions): AsyncGenerator<PlayerEvent, void, undefined> {
  await session.ready;
  const player = session.current()?.player;
  if (!player) throw signedOut();
  const source: Source<PlayerEvent> = {
    path: "/v1/me/events",
    canRestart: true,
    placeOf: ({ id }) => id,
    gameOf: ({ game_id, seq }) => ({ id: game_id, seq }),
    quietAfterMs: () => undefined,
  };
  // A stream of another player must not go on in this one's place.
  const ended = new AbortController();
  const forget = session.onChange((now) => {
    if (now?.player.id !== player.id) ended.abort(signedOut());
  });
  const abort = () => ended.abort(reasonOf(options.signal));
  options.signal?.addEventListener("abort", abort);
  if (options.signal?.aborted) abort();
  try {
    const { after, mode = "auto" } = options;
    const wanted = { key: `${player.id}:all`, source, mode, after, known: [], signal: ended.signal };
    for await (const heard of subscribe(core, hubs, wanted)) {
      if (heard.type === "event") yield heard.event;
      else options.onOpen?.({ place: heard.place, isGap: heard.isGap });
    }
  } finally {
    forget();
    options.signal?.removeEventListener("abort", abort);
  }
}

function signedOut(): MancalaError {
  return new MancalaError({ code: "unauthenticated", detail: "the player is not signed in" }, 0, undefined);
}
