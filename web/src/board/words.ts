// A move in words, for screen readers and the list of moves. What it says comes from the effects alone.

import type { Effect, Schemas, Side } from "@mancala-server/client";

import { t, word } from "../texts/index.ts";
import { NO_MARKS, type Marks } from "./board.tsx";

/** The part of a move that is told. */
export interface Told {
  move: string;
  effects: readonly Effect[];
}

/** What a move did, in a few sentences. */
export function moveInWords({ move, effects }: Told, name: string): string {
  const told = [opening(move, effects, name)];
  const captured = effects.filter(({ type }) => type === "capture").reduce((sum, { seeds = 0 }) => sum + seeds, 0);
  if (captured > 0) told.push(t("move.captures", { name, count: captured }));
  for (const effect of effects) told.push(consequence(effect, name));
  return told.filter(Boolean).join(" ");
}

function opening(move: string, effects: readonly Effect[], name: string): string {
  const lift = effects.find(({ type }) => type === "lift");
  if (!lift) return move.length === 1 ? t("move.plays", { name, pit: move }) : "";
  const last = effects.findLast(({ type }) => type === "sow")?.to;
  const values = { name, pit: move, count: lift.seeds ?? 0 };
  return last?.endsWith("_store") ? t("move.sows-to-store", values) : t("move.sows", { ...values, last: last ?? "" });
}

function consequence(effect: Effect, name: string): string {
  switch (effect.type) {
    case "extra_turn":
      return t("move.extra-turn", { name });
    case "pass":
      return t("move.passes", { name });
    case "swap":
      return t("move.swaps", { name });
    case "takeback":
      return t("move.takeback", { name });
    case "sweep":
      return t("move.sweep", { side: word("side", effect.side ?? ""), count: effect.seeds ?? 0 });
    case "split":
      return t("move.split");
    case "round_over":
      return t("move.round-over", { round: effect.round ?? 0 });
    case "game_over":
      return t("move.game-over", { reason: word("reason", effect.reason ?? "unknown") });
    default:
      return "";
  }
}

/** The places that a move has touched. */
export function marksOf(effects: readonly Effect[]): Marks {
  if (effects.length === 0) return NO_MARKS;
  const sown = new Set<string>();
  const captured = new Set<string>();
  let from: string | null = null;
  let end: string | null = null;
  for (const { type, pit, to, from: taken } of effects) {
    if (type === "lift") from ??= pit ?? null;
    if (type === "sow" && to !== undefined) {
      sown.add(to);
      end = to;
    }
    if (type === "capture") for (const place of taken ?? []) captured.add(place);
  }
  return { from, sown, captured, end };
}

/** Where a move would lead, in a few words. */
export function previewInWords({ move, effects }: Told): string {
  const { end } = marksOf(effects);
  const captured = effects.filter(({ type }) => type === "capture").reduce((sum, { seeds = 0 }) => sum + seeds, 0);
  const told = [];
  if (end !== null) told.push(end.endsWith("_store") ? t("preview.store", { pit: move }) : t("preview.pit", { pit: move, last: end }));
  if (captured > 0) told.push(t("preview.captures", { count: captured }));
  if (effects.some(({ type }) => type === "extra_turn")) told.push(t("preview.again"));
  if (effects.some(({ type }) => type === "game_over")) told.push(t("preview.ends-game"));
  return told.join(" ");
}

/** Which move is best, and how the side to move ends by it. */
export function hintInWords({ move, value, side }: Schemas["HintedMove"] & { side: Side }): string {
  // A value counts for South. Seeds are told to a tenth, and what rounds to nothing is level.
  const margin = Math.round(value.seeds * 10 * (side === "south" ? 1 : -1)) / 10;
  const values = { count: Math.abs(margin) };
  const told = margin > 0 ? t("hint.ahead", values) : margin < 0 ? t("hint.behind", values) : t("hint.level");
  const name = move.length === 1 ? move : word("special", move);
  return t(value.is_exact ? "hint.exact" : "hint.estimate", { move: name, margin: told });
}
