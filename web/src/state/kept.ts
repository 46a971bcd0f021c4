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
  return kept?.viewer === viewer && isGame(kept?.game) && kept.game.id === id ? kept.game : null;
}

/** Whether what was kept has what views need of a game. */
export function isGame(kept: Game | null | undefined): kept is Game {
  return Array.isArray(kept?.board?.south?.pits) && Array.isArray(kept.legal_moves) && typeof kept.seats === "object";
}

/** The kept games in which a player sits, those that were seen last first. */
export function keptGamesOf(player: string): Game[] {
  const ids = read<string[]>("games");
  if (!Array.isArray(ids)) return [];
  const games = ids.flatMap((id) => keptGame(id, player) ?? []);
  return games.filter(({ seats }) => seats.south?.id === player || seats.north?.id === player);
}

export function keepGame(game: Game, viewer: string | null): void {
  const before = read<string[]>("games");
  const ids = [game.id, ...(Array.isArray(before) ? before : []).filter((id) => id !== game.id)];
  for (const id of ids.splice(GAMES_MAX)) remove(`game.${id}`);
  write("games", ids);
  write(`game.${game.id}`, { viewer, game });
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

/** Forgets everything about the player who leaves. */
export function forgetAll(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  } catch {
    // As above.
  }
}
