// Beginning games.

import type { Game, NewGame, Schemas } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { client, SOON } from "../client.ts";
import { navigate } from "../router.ts";
import { keepGame, keepValue, keptValue } from "./kept.ts";
import { ensurePlayer, me } from "./session.ts";

/** A variant as lists name it. */
export type VariantSummary = Schemas["VariantSummary"];

/** The games that the server offers, as it said last. */
export const variants = signal(keptVariants());

function keptVariants(): readonly VariantSummary[] {
  const kept = keptValue<VariantSummary[]>("variants");
  return Array.isArray(kept) ? kept.filter((variant) => typeof variant?.name === "string") : [];
}

/** Reads which games the server offers. */
export async function readVariants(): Promise<void> {
  try {
    const { data } = await client.api.GET("/v1/variants");
    if (!data) return;
    variants.value = data.items;
    keepValue("variants", data.items);
  } catch {
    // The kept list stays.
  }
}

/** The title of a variant. */
export function titleOf(variant: string): string {
  return variants.value.find(({ name }) => name === variant)?.title ?? variant.charAt(0).toUpperCase() + variant.slice(1);
}

/** Creates a game as the signed-in player, or as a new guest, and goes to it. */
export async function begin(settings: NewGame): Promise<void> {
  await ensurePlayer();
  show(await client.games.create(settings, SOON));
}

/** Two players at this device, of whom the second may have a name. */
export function hotseat(name: string): { type: "self"; name?: string } {
  const given = name.trim();
  return { type: "self", ...(given !== "" && { name: given }) };
}

/** Joins a game that waits for an opponent, or opens one. */
export async function seek(settings: NewGame): Promise<void> {
  await ensurePlayer();
  show(await client.games.seek(settings, SOON));
}

/** Another game with the settings of one that is over: for opponents that answer no offers. */
export async function again(game: Game): Promise<void> {
  const { variant, preset, options, practice, seats } = game;
  const { level, name } = game.opponent;
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
export function isAlone({ opponent, practice, seats }: Game): boolean {
  const player = me.value?.id;
  return (opponent.type === "self" || practice) && player !== undefined && [seats.south?.id, seats.north?.id].includes(player);
}

/** Takes the free seat of a game. */
export async function join(id: string, joinCode: string | null): Promise<Game> {
  await ensurePlayer();
  return client.games.join(id, { ...SOON, ...(joinCode !== null && { joinCode }) });
}

function show(game: Game): void {
  keepGame(game, client.session.current()?.player.id ?? null);
  navigate(`/games/${game.id}`);
}
