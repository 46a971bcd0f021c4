// Follows one game, or all games of the player.

import type { Core } from "./core.js";
import { feed, type FeedMode, type FeedOptions } from "./feed.js";
import type { GameEvent, PlayerEvent } from "./types.js";

export interface FollowOptions {
  signal?: AbortSignal | undefined;
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

// A rematch may be offered for ten minutes after the end.
const REMATCH_MS = 10 * 60_000;

/** Every event of a game after `after`, once, in order, until nothing can follow. */
export async function* followGame(core: Core, id: string, options: FollowGameOptions): AsyncGenerator<GameEvent, void, undefined> {
  let known = options.after ?? 0;
  const source: FeedOptions<GameEvent> = {
    path: `/v1/games/${encodeURIComponent(id)}/events`,
    from: String(known),
    mode: options.mode ?? "auto",
    signal: options.signal,
    placeOf: (event) => String(event.seq),
    quietAfterMs: ({ type }) => {
      if (type === "finished") return REMATCH_MS;
      return ["aborted", "declined", "expired", "rematched"].includes(type) ? 0 : undefined;
    },
  };
  for await (const item of feed(core, source)) {
    if (item.type !== "event" || item.event.seq <= known) continue;
    known = item.event.seq;
    yield item.event;
  }
}

/** Events of all games of the player, each once, those of one game in order. */
export async function* followPlayer(core: Core, options: FollowAllOptions): AsyncGenerator<PlayerEvent, void, undefined> {
  const known = new Map<string, number>();
  const source: FeedOptions<PlayerEvent> = {
    path: "/v1/me/events",
    from: options.after,
    mode: options.mode ?? "auto",
    signal: options.signal,
    placeOf: (event) => event.id,
    quietAfterMs: () => undefined,
  };
  let isOpen = false;
  for await (const item of feed(core, source)) {
    if (!isOpen) options.onOpen?.({ place: item.place, isGap: false });
    isOpen = true;
    if (item.type !== "event" || item.event.seq <= (known.get(item.event.game_id) ?? 0)) continue;
    known.set(item.event.game_id, item.event.seq);
    yield item.event;
  }
}
