// The server that the tests run against, and clients of it.

import type { Client, ClientOptions, Failure, Game } from "@mancala-server/client";
import { createClient, MancalaError, MemoryStorage, ProcessLocks } from "@mancala-server/client";

/** The server's address, from `.ci/with-server`. */
export const baseUrl = process.env["BASE_URL"] ?? "";

/** Attempts come in quick succession, so that a network that loses much costs little time. */
export const QUICK = { attempts: 12, baseMs: 5, maxMs: 50, timeoutMs: 2000 };

/** A client that shares nothing. */
export function alone(url: string, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: url, retry: QUICK, ...options });
}

export async function guest(url: string, name: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = alone(url, options);
  await client.session.guest(name);
  return client;
}

/** What the tabs of one browser share. */
export class Browser {
  readonly storage = new MemoryStorage();
  readonly locks = new ProcessLocks();
  // Each test has its own channels.
  readonly name = `browser-${Math.random()}`;

  tab(url: string, options: Partial<ClientOptions> = {}): Client {
    return alone(url, { storage: this.storage, locks: this.locks, name: this.name, ...options });
  }
}

/** Two guests in a game that has begun; the first sits South. */
export async function begin(south: Client, north: Client, settings: Parameters<Client["games"]["create"]>[0]): Promise<Game> {
  const { id } = await south.games.create({ side: "south", ...settings });
  return north.games.join(id);
}

/** The client whose turn it is. */
export function mover(game: Game, ...clients: Client[]): Client {
  const id = game.turn && game.seats[game.turn]?.id;
  const client = clients.find((each) => each.session.current()?.player.id === id);
  if (!client) throw new Error("it is the turn of neither");
  return client;
}

/** Plays legal moves, chosen by `choose`, until the game is over. */
export async function playOn(game: Game, clients: Client[], choose: () => number, onGame?: (game: Game) => void): Promise<Game> {
  let now = game;
  while (now.status === "active") {
    const move = now.legal_moves[Math.floor(choose() * now.legal_moves.length)] ?? "";
    now = (await mover(now, ...clients).games.play(now.id, { ply: now.ply + 1, move })).game;
    onGame?.(now);
  }
  return now;
}

/** The failure of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  try {
    await call;
  } catch (error) {
    if (error instanceof MancalaError) return error.failure;
    throw error;
  }
  throw new Error("the call did not fail");
}

/** Polls until something is so, at most a minute: machines are busy. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const begun = Date.now(); !isSo(); ) {
    if (Date.now() - begun > 60_000) throw new Error(`not within 60 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
