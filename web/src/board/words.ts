// A move in words, for screen readers and the list of moves. What it says comes from the effects alone.

import type { Board, Effect, Game, Schemas, Side } from "@mancala-server/client";

import { t, word } from "../texts/index.ts";
import { actionOf } from "./actions.ts";
import { type Marks, NO_MARKS } from "./board.tsx";
import { opposite } from "./shape.ts";

/** The part of a move that is told. */
export interface Told {
  move: string;
  effects: readonly Effect[];
}

/** What begins a sowing out of a pit, or with a hand that a choice has left. */
const BEGINS = ["lift", "tax", "relay", "resume"];

/** What a move begins with: the first of these. */
const STARTS = ["place", "choose", ...BEGINS];

/** What fills the hand again: each is another lap. */
const LAPS = ["lift", "tax", "relay", "resume", "take"];

/** What is told with the sowing, or goes without saying. */
const QUIET = [...LAPS, "relay", "place", "choose", "sow", "capture", "hand", "refill", "unblock"];

const SIDES = ["south", "north"] as const;

/** What a move did, in a few sentences. */
export function moveInWords({ move, effects }: Told, name: string): string {
  if (isAtOnce(effects)) return atOnce(effects, name);
  const told = [...placed(move, effects, name), opening(move, effects, name)];
  if (actionOf(move)?.isDeclined) told.push(t("move.declines", { name }));
  const laps = effects.filter(({ type }) => LAPS.includes(type)).length;
  if (laps > 1) told.push(t("move.laps", { count: laps }));
  told.push(capturesOf(effects, name));
  const last = lastOf(effects);
  for (const effect of effects) told.push(consequence(effect, name, last));
  return told.filter(Boolean).join(" ");
}

/** Whether both sides have sown in step. */
const isAtOnce = (effects: readonly Effect[]) => effects.some(({ type }) => type === "hand");

/** Both sides have sown in step. What a seed brings about is of either side, so only captures and the ends are told. */
function atOnce(effects: readonly Effect[], name: string): string {
  const [south = "", north = ""] = effects.flatMap(({ type, pit }) => (type === "lift" ? (pit ?? []) : []));
  const captures = SIDES.map((side) =>
    capturesOf(
      effects.filter(({ to }) => to === `${side}_store`),
      t(`side.${side}`),
    ),
  );
  const told = effects.map((effect) => consequence(effect, name, undefined));
  return [t("move.at-once", { south, north }), ...captures, ...told].filter(Boolean).join(" ");
}

/** The seeds that a move captures, into a store or into the hand. */
function capturedBy(effects: readonly Effect[]): number {
  return effects.filter(({ type }) => type === "capture" || type === "take").reduce((sum, { seeds = 0 }) => sum + seeds, 0);
}

function capturesOf(effects: readonly Effect[], name: string): string {
  const count = capturedBy(effects);
  return count > 0 ? t("move.captures", { name, count }) : "";
}

/** Where the last seed falls. */
function lastOf(effects: readonly Effect[]): string | undefined {
  return effects.findLast(({ type }) => type === "sow")?.to;
}

/** The seeds that are put down, and be it none in a pit that is left out. */
function placed(move: string, effects: readonly Effect[], name: string): string[] {
  const places = effects.filter(({ type }) => type === "place");
  const action = actionOf(move);
  if (places.length === 0 && action?.count === 0) return [t("move.places", { name, pit: action.pit, count: 0 })];
  return places.map(({ pit = "", seeds = 0 }) => t("move.places", { name, pit, count: seeds }));
}

function opening(move: string, effects: readonly Effect[], name: string): string {
  const begin = effects.find(({ type }) => BEGINS.includes(type));
  const last = lastOf(effects);
  if (last === undefined) return move.length === 1 ? t("move.plays", { name, pit: move }) : "";
  // A first seed that captures is put down, and the catch is sown.
  if (effects.some(({ type }) => type === "place")) return t("move.ends", { last });
  const values = { name, pit: begin?.pit ?? move, count: begin?.seeds ?? 0 };
  return last.endsWith("_store") ? t("move.sows-to-store", values) : t("move.sows", { ...values, last });
}

/** A turn goes on in a store, or else with a choice; after seeds that were only put down there is nothing to tell. */
function again(name: string, last: string | undefined): string {
  if (last === undefined) return "";
  return last.endsWith("_store") ? t("move.extra-turn", { name }) : t("move.chooses", { name });
}

function consequence(effect: Effect, name: string, last: string | undefined): string {
  switch (effect.type) {
    case "extra_turn":
      return again(name, last);
    case "house_lost":
      return t("move.house-lost", { side: word("side", effect.side ?? "") });
    case "block":
      return t("move.blocks", { pit: effect.pit ?? "" });
    case "tuzdyk":
      return t("move.tuzdyk", { pit: effect.pit ?? "", side: word("side", effect.side ?? "") });
    case "level":
      return t("move.level");
    case "reserve":
      return t("move.reserves", { side: word("side", effect.side ?? ""), count: effect.seeds ?? 0 });
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
      return QUIET.includes(effect.type) ? "" : inItsWord(effect);
  }
}

/** What a game does that this page does not know, in the server's own word: "Harvest D (8)." */
function inItsWord({ type, pit, seeds }: Effect): string {
  const word = type.charAt(0).toUpperCase() + type.slice(1).replaceAll("_", " ");
  return `${[word, pit, seeds === undefined ? undefined : `(${seeds})`].filter(Boolean).join(" ")}.`;
}

/** Whether seeds in stores decide the game: not with reserves, nor where points decide a match. */
const seedsDecide = (board: Board) => board.south.reserve === undefined && board.points === undefined;

/** The key of how a game ended. Where seeds in stores do not decide, their numbers are not told. */
export function endKey<End extends "game.won" | "game.lost" | "game.drawn" | "game.over" | "sandbox.won">(end: End, board: Board): End | `${End}-by` {
  return seedsDecide(board) ? end : `${end}-by`;
}

/** Whether the seeds in stores explain a result: not when a player gave up or was too late, nor when the players agreed on another one. */
function seedsDecided({ winner, score, reason }: NonNullable<Game["result"]>): boolean {
  const leader = score.south === score.north ? null : score.south > score.north ? "south" : "north";
  return winner === leader && reason !== "resignation" && reason !== "timeout";
}

/** The side of the player who looks on; null for two players at one device and for everyone else. */
const ownSide = ({ opponent, me }: Game): Side | null => (opponent.type === "self" ? null : (me?.side ?? null));

/** The seeds that decided a game: for its player the own first, for everyone else the winner's. Null where they did not decide it. */
export function scoreOf(game: Game): { own: number; other: number } | null {
  const { result, board } = game;
  if (!result || !seedsDecide(board) || !seedsDecided(result)) return null;
  const first = ownSide(game) ?? result.winner ?? "south";
  return { own: result.score[first], other: result.score[opposite(first)] };
}

/** Who has won, in two or three words. */
export function outcomeOf(game: Game, nameOf: (side: Side) => string): string {
  const winner = game.result?.winner ?? null;
  if (winner === null) return t("result.drawn");
  const own = ownSide(game);
  if (own !== null) return t(winner === own ? "result.won" : "result.lost");
  return t("result.over", { name: nameOf(winner) });
}

/** How a finished game ended. */
export function endInWords(game: Game, nameOf: (side: Side) => string): string {
  const { result } = game;
  if (!result) return "";
  const { winner } = result;
  const own = ownSide(game);
  const score = scoreOf(game);
  const values = { ...score, reason: word("reason", result.reason ?? "unknown") };
  const key = (end: "game.won" | "game.lost" | "game.drawn" | "game.over") => (score ? end : (`${end}-by` as const));
  if (winner === null) return t(key("game.drawn"), values);
  if (own !== null) return t(key(winner === own ? "game.won" : "game.lost"), values);
  return t(key("game.over"), { ...values, name: nameOf(winner), side: t(`side.${winner}`) });
}

/** The places that a move has touched. */
export function marksOf(effects: readonly Effect[]): Marks {
  if (effects.length === 0) return NO_MARKS;
  const sown = new Set<string>();
  const captured = new Set<string>();
  // Of a sowing in step the mover is the side that lifts last.
  const begin = isAtOnce(effects) ? effects.findLast(({ type }) => type === "lift") : effects.find(({ type }) => STARTS.includes(type));
  let end: string | null = null;
  for (const { type, to, from } of effects) {
    if (type === "sow" && to !== undefined) {
      sown.add(to);
      end = to;
    }
    if (type === "capture" || type === "take") for (const place of from ?? []) captured.add(place);
  }
  return { from: begin?.pit ?? null, sown, captured, end };
}

/** Where a move would lead, in a few words. */
export function previewInWords({ move, effects }: Told): string {
  const { end } = marksOf(effects);
  const captured = capturedBy(effects);
  const told = [];
  const pit = nameOf(move);
  if (end !== null) told.push(end.endsWith("_store") ? t("preview.store", { pit }) : t("preview.pit", { pit, last: end }));
  if (captured > 0) told.push(t("preview.captures", { count: captured }));
  if (effects.some(({ type }) => type === "extra_turn")) told.push(t(end?.endsWith("_store") ? "preview.again" : "preview.chooses"));
  if (effects.some(({ type }) => type === "game_over")) told.push(t("preview.ends-game"));
  return told.join(" ");
}

/** A move as it is written: the pit with its direction or number, or words. */
export function nameOf(move: string): string {
  const action = actionOf(move);
  if (action?.isDeclined) return t("move.without", { pit: action.pit });
  return action ? move : word("special", move);
}

/** Which move is best, and how the side to move ends by it, where seeds decide that. */
export function hintInWords({ move, value, side }: Schemas["HintedMove"] & { side: Side }, board: Board): string {
  if (!seedsDecide(board)) return t("hint.best", { move: nameOf(move) });
  // A value counts for South. Seeds are told to a tenth, and what rounds to nothing is level.
  const margin = Math.round(value.seeds * 10 * (side === "south" ? 1 : -1)) / 10;
  const values = { count: Math.abs(margin) };
  const told = margin > 0 ? t("hint.ahead", values) : margin < 0 ? t("hint.behind", values) : t("hint.level");
  const name = nameOf(move);
  return t(value.is_exact ? "hint.exact" : "hint.estimate", { move: name, margin: told });
}
