// What the page keeps in the browser, so that it opens without a network with the state it had last.

import type { Game } from "@mancala-server/client";

/** Raised when the form of what is kept changes: what another release has kept is then dropped. */
const EDITION = 1;

/** The games that were looked at last. */
const GAMES_MAX = 40;

const PREFIX = `mancala.kept.${EDITION}.`;

function read<T>(key: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + key) ?? "null") as T | null;
  } catch {
    return null;
  }
}

function write(key: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Full, or not allowed: then there is nothing without a network.
  }
}

function remove(key: string): void {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // As above.
  }
}

/** Removes what earlier releases have kept. */
export function tidy(): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith("mancala.kept.") && !key.startsWith(PREFIX)) localStorage.removeItem(key);
    }
  } catch {
    // As above.
  }
}

/** A game as it was seen last by this player, or by a spectator. */
export function keptGame(id: string, viewer: string | null): Game | null {
  const kept = read<{ viewer: string | null; game: Game }>(`game.${id}`);
  return kept?.viewer === viewer && isGame(kept.game) && kept.game.id === id ? kept.game : null;
}

/** Whether what was kept has what views need of a game. It may be of any release. */
export function isGame(kept: unknown): kept is Game {
  const game = recordOf(kept);
  const board = recordOf(game["board"]);
  const { seats, result, last_move: move, me, clock } = game;
  return (
    ["id", "variant", "status", "position", "visibility", "updated_at"].every((name) => typeof game[name] === "string") &&
    ["ply", "version"].every((name) => Number.isInteger(game[name])) &&
    [game["legal_moves"], game["offers"]].every(Array.isArray) &&
    ["south", "north"].every((side) => isRow(board[side]) && isSeat(recordOf(seats)[side])) &&
    typeof recordOf(game["opponent"])["type"] === "string" &&
    typeof recordOf(clock)["type"] === "string" &&
    ((result ?? null) === null || ["south", "north"].every((side) => Number.isInteger(recordOf(recordOf(result)["score"])[side]))) &&
    ((move ?? null) === null || Array.isArray(recordOf(move)["effects"])) &&
    ((me ?? null) === null || Array.isArray(recordOf(me)["actions"]))
  );
}

function isRow(kept: unknown): boolean {
  const { pits, store } = recordOf(kept);
  return Array.isArray(pits) && [...pits, store].every(Number.isInteger);
}

function isSeat(kept: unknown): boolean {
  const { id, name, kind, display_name: other } = recordOf(kept);
  return (kept ?? null) === null || ([id, name, kind].every((field) => typeof field === "string") && ["string", "undefined"].includes(typeof other));
}

/** The fields of an object; none of anything else. */
export function recordOf(kept: unknown): Record<string, unknown> {
  return typeof kept === "object" && kept !== null ? (kept as Record<string, unknown>) : {};
}

/** The kept games in which a player sits, those that were seen last first. */
export function keptGamesOf(player: string): Game[] {
  const games = keptIds().flatMap((id) => keptGame(id, player) ?? []);
  return games.filter(({ seats }) => seats.south?.id === player || seats.north?.id === player);
}

export function keepGame(game: Game, viewer: string | null): void {
  const ids = [game.id, ...keptIds().filter((id) => id !== game.id)];
  for (const id of ids.splice(GAMES_MAX)) remove(`game.${id}`);
  write("games", ids);
  write(`game.${game.id}`, { viewer, game });
}

function keptIds(): string[] {
  const ids = read<unknown>("games");
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

export function forgetGame(id: string): void {
  remove(`game.${id}`);
}

/** Any other list or answer that a view shows again before the server has answered. */
export function keptValue<T>(name: string): T | null {
  return read<T>(`value.${name}`);
}

export function keepValue(name: string, value: unknown): void {
  write(`value.${name}`, value);
}

/** Forgets everything about the player who leaves, and keeps what is of no player: the games that the server offers, and its time. */
export function forgetPlayer(): void {
  forget((key) => key.startsWith(PREFIX) && !["variant", "ahead"].some((name) => key.startsWith(`${PREFIX}value.${name}`)));
}

/** Forgets everything. Returns whether there was anything. */
export function forgetAll(): boolean {
  return forget((key) => key.startsWith(PREFIX));
}

function forget(isMeant: (key: string) => boolean): boolean {
  try {
    const keys = Object.keys(localStorage).filter(isMeant);
    for (const key of keys) localStorage.removeItem(key);
    return keys.length > 0;
  } catch {
    // As above.
    return false;
  }
}
