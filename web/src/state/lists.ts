// The lists of the first view: games of the player, invitations, games that wait for an opponent, and games that others play.

import type { Game } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { client } from "../client.ts";
import { isGame, keepValue, keptGamesOf, keptValue } from "./kept.ts";
import { me } from "./session.ts";

/** What the view shows of each list. */
const SHOWN_MAX = 20;
const FINISHED_MAX = 5;
const RUNNING_MAX = 6;

/** Events that come together cause one reading. */
const GATHER_MS = 300;

/** How often the games of others are read again, while they are looked at. */
const LOBBY_MS = 5000;
const RUNNING_MS = 20_000;

export interface Mine {
  active: Game[];
  open: Game[];
  finished: Game[];
  invitations: Game[];
}

const NONE: Mine = { active: [], open: [], finished: [], invitations: [] };

/** The games of the player; null until they are known. */
export const mine = signal<Mine | null>(null);

/** Games that any player may join; null until they are known. */
export const lobby = signal<Game[] | null>(null);

/** Public games that go on, and after them some that are over. */
export const running = signal<readonly Game[]>([]);

async function first<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length >= count) break;
  }
  return found;
}

let reading: Promise<void> | undefined;
let isStale = false;

/** Reads the player's games anew. Of calls in quick succession one reads. */
export function readMine(): Promise<void> {
  isStale = true;
  reading ??= (async () => {
    while (isStale) {
      isStale = false;
      await read();
    }
  })().finally(() => (reading = undefined));
  return reading;
}

async function read(): Promise<void> {
  const player = me.value?.id;
  if (player === undefined) {
    mine.value = NONE;
    return;
  }
  try {
    const { games } = client;
    const [active, open, finished, invitations] = await Promise.all([
      first(games.list({ player: "me", status: ["active"], sort: "turn", limit: SHOWN_MAX }), SHOWN_MAX),
      first(games.list({ player: "me", status: ["open"], limit: SHOWN_MAX }), SHOWN_MAX),
      first(games.list({ player: "me", status: ["finished"], sort: "finished_at", limit: FINISHED_MAX }), FINISHED_MAX),
      first(games.invitations("received"), SHOWN_MAX),
    ]);
    if (me.value?.id !== player) return;
    mine.value = { active, open, finished, invitations };
    keepValue("mine", { player, ...mine.value });
  } catch {
    // The kept state stays; the head of the page says that the server is away.
  }
}

/** Reads the lobby anew. */
export async function readLobby(): Promise<void> {
  try {
    lobby.value = await first(client.games.list({ status: ["open"], opponent_type: "open", limit: SHOWN_MAX }), SHOWN_MAX);
  } catch {
    // As above.
  }
}

async function readRunning(): Promise<void> {
  try {
    const newest = (status: "active" | "finished", limit: number) => (limit > 0 ? first(client.games.list({ status: [status], limit }), limit) : []);
    const active = await newest("active", RUNNING_MAX);
    running.value = [...active, ...(await newest("finished", RUNNING_MAX - active.length))];
  } catch {
    // As above.
  }
}

/** The lists as they were read last, with what was seen since of single games. */
function keptMine(player: string): Mine | null {
  const kept = keptValue<Mine & { player: string }>("mine");
  const lists = kept?.player === player && [kept.active, kept.open, kept.finished, kept.invitations].every(Array.isArray) ? kept : NONE;
  const seen = keptGamesOf(player);
  const isSeen = ({ id }: Game) => seen.some((game) => game.id === id);
  const listed = (status: Game["status"], items: Game[]) => [
    ...seen.filter((game) => game.status === status),
    ...items.filter((game) => isGame(game) && !isSeen(game)),
  ];
  const all = {
    active: listed("active", lists.active),
    open: listed("open", lists.open),
    finished: listed("finished", lists.finished).slice(0, FINISHED_MAX),
    invitations: lists.invitations.filter((game) => isGame(game) && !isSeen(game)),
  };
  return lists === NONE && seen.length === 0 ? null : all;
}

/** Shows the player's games as they were kept, follows them, and reads them; returns what ends that. */
export function followMine(): () => void {
  const player = me.value?.id;
  mine.value = player === undefined ? NONE : keptMine(player);
  if (player === undefined) return () => undefined;
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const gather = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void readMine(), GATHER_MS);
  };
  // First the feed and then the lists, so that nothing between them is missed.
  void client.followAll(gather, { signal: ending.signal, onOpen: () => void readMine() }).catch(() => undefined);
  return () => ending.abort();
}

/** Reads the lobby while a view shows it; returns what ends that. An answer that has not changed is a 304 without a body. */
export const followLobby = () => repeat(readLobby, LOBBY_MS);

/** Reads which games go on while a view shows them; returns what ends that. */
export const followRunning = () => repeat(readRunning, RUNNING_MS);

/** Does something now, and again and again while the page is looked at. */
function repeat(read: () => Promise<void>, ms: number): () => void {
  void read();
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void read();
  }, ms);
  return () => clearInterval(timer);
}
