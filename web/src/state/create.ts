// Beginning games.

import type { Game, NewGame, Schemas } from "@mancala-server/client";
import { signal } from "@preact/signals";

import type { Layout } from "../board/shape.ts";
import { client, SOON } from "../client.ts";
import { navigate } from "../router.ts";
import { spoken } from "../texts/index.ts";
import { keepGame, keepValue, keptValue, recordOf } from "./kept.ts";
import { failedBy } from "./messages.ts";
import { dropGuest, ensurePlayer, me } from "./session.ts";
import { settings } from "./settings.ts";

/** A variant as lists name it. */
export type VariantSummary = Schemas["VariantSummary"];

/** The games that the server offers, as it said last. */
export const variants = signal(keptVariants());

function keptVariants(): readonly VariantSummary[] {
  const kept = keptValue<unknown>("variants");
  return Array.isArray(kept) ? kept.filter(isSummary) : [];
}

function isSummary(kept: unknown): kept is VariantSummary {
  const { name, title, presets } = recordOf(kept);
  const isNamed = [name, title].every((field) => typeof field === "string");
  return isNamed && Array.isArray(presets) && presets.every((preset) => typeof recordOf(preset)["title"] === "string");
}

/** Reads which games the server offers. */
export async function readVariants(): Promise<void> {
  try {
    const { data } = await client.api.GET("/v1/variants");
    if (!data) return;
    variants.value = data.items.filter(isSummary);
    keepValue("variants", variants.value);
  } catch {
    // The kept list stays.
  }
}

/** The title of a variant. */
export function titleOf(variant: string): string {
  return variants.value.find(({ name }) => name === variant)?.title ?? variant.charAt(0).toUpperCase() + variant.slice(1).replaceAll("_", " ");
}

/** The games that are offered, or what every server offers until it has answered. */
export function offeredVariants(): { value: string; label: string }[] {
  const known = variants.value.map(({ name, title }) => ({ value: name, label: title }));
  return known.length > 0 ? known : [{ value: "kalah", label: "Kalah" }];
}

/** The game that was chosen last, if the server offers it. */
export function chosenVariant(): string {
  const choices = offeredVariants();
  return choices.find(({ value }) => value === settings.value.variant)?.value ?? choices[0]?.value ?? "kalah";
}

/** The address of the opening of a variant as the server draws it. */
export function pictureOf(variant: string): string {
  return `/v1/variants/${variant}/board.svg?caption=false&background=none&theme=${settings.value.theme}&lang=${spoken.value}`;
}

/** How the pits of a variant are laid out; null while the server's list does not say. */
export function layoutOf(variant: string): Layout | null {
  const { rows_per_side: rows, first_pit: first } = variants.value.find(({ name }) => name === variant) ?? {};
  // A kept list may be of an older server.
  return rows !== undefined && first !== undefined ? { rows, first: first === "right" ? "right" : "left" } : null;
}

/** Creates a game. Against the computer, one too many takes the place of the oldest in which the player has not moved. */
export async function create(wish: NewGame, options: Parameters<typeof client.games.create>[1] = SOON): Promise<Game> {
  try {
    return await client.games.create(wish, options);
  } catch (error) {
    const isFull = wish.opponent?.type === "computer" && failedBy(error, "too_many_games");
    const unplayed = isFull ? await unplayedGame() : undefined;
    if (!unplayed) throw error;
    await client.games.abort(unplayed.id, SOON);
    return client.games.create(wish, options);
  }
}

/** The player's oldest game against the computer without an own move. The server lets only such a game be aborted. */
async function unplayedGame(): Promise<Game | undefined> {
  let oldest: Game | undefined;
  for await (const game of client.games.list({ player: "me", status: ["active"], opponent_type: "computer" }, SOON)) {
    if (game.me?.actions.includes("abort")) oldest = game;
  }
  return oldest;
}

/** Creates a game as the signed-in player, or as a new guest, and goes to it. */
export async function begin(wish: NewGame): Promise<void> {
  await ensurePlayer();
  show(await create(wish));
}

/** Two players at this device, of whom the second may have a name. */
export function hotseat(name: string): { type: "self"; name?: string } {
  const given = name.trim();
  return { type: "self", ...(given !== "" && { name: given }) };
}

/** Joins a game that waits for an opponent, or opens one. */
export async function seek(wish: NewGame): Promise<void> {
  await ensurePlayer();
  show(await client.games.seek(wish, SOON));
}

/** Another game with the settings of one that is over, or another level: for opponents that answer no offers. */
export async function again(game: Game, level = game.opponent.level): Promise<void> {
  const { variant, preset, options, practice, seats } = game;
  const { name } = game.opponent;
  const rules = { variant, preset, options };
  if (game.opponent.type === "computer") {
    const side = game.me?.side === "south" ? "north" : "south";
    return begin({ ...rules, side, ...(practice && { practice }), opponent: { type: "computer", ...(level !== undefined && { level }) } });
  }
  // People with names change seats.
  const side = seats.north?.display_name === undefined ? "south" : "north";
  await begin({ ...rules, side, opponent: { type: "self", ...(name !== undefined && { name }) } });
}

/** Whether the player has no other person against them: then the engine may be asked during play. */
export function isAlone(game: Game): boolean {
  return (game.opponent.type === "self" || game.practice) && isSeated(game);
}

/** Whether the player plays in a game, or has played: of a game against oneself that is over, the server names no side. */
export function isSeated({ seats }: Game): boolean {
  const player = me.value?.id;
  return player !== undefined && [seats.south?.id, seats.north?.id].includes(player);
}

/** The join code that the server refused last: its link has expired. */
export const expiredCode = signal<string | null>(null);

/** Takes the free seat of a game, and goes to it. The address then has no join code: it has served. */
export async function join(id: string, joinCode: string | null): Promise<Game> {
  const isNew = client.session.current() === null;
  const player = await ensurePlayer();
  try {
    const game = await client.games.join(id, { ...SOON, ...(joinCode !== null && { joinCode }) });
    show(game);
    return game;
  } catch (error) {
    const isRefused = failedBy(error, "forbidden", "not_found", "seat_taken", "game_over");
    // The server checks a seat for players only. A guest made for a seat that is refused goes again.
    if (isNew && isRefused) await dropGuest(player.id).catch(() => undefined);
    if (joinCode === null || !failedBy(error, "forbidden")) throw error;
    expiredCode.value = joinCode;
    return client.games.get(id, SOON);
  }
}

function show(game: Game): void {
  keepGame(game, client.session.current()?.player.id ?? null);
  const path = `/games/${game.id}`;
  navigate(path, { replace: location.pathname === path });
}
