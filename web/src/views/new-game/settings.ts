// What a player has filled in for a new game, and what is sent of it.

import type { NewGame } from "@mancala-server/client";

import { hotseat } from "../../state/create.ts";
import type { OptionField, OptionValues } from "./schema.ts";

export type Opponent = "computer" | "open" | "link" | "player" | "self";
export type ClockType = "unlimited" | "per_move" | "bank";
export type Unit = "seconds" | "minutes" | "hours" | "days";

/** A time as it is filled in. */
export interface Span {
  amount: string;
  unit: Unit;
}

export interface Filled {
  variant: string;
  preset: string;
  /** Options that differ from the preset, as they are filled in. */
  options: Readonly<Record<string, string | boolean>>;
  opponent: Opponent;
  level: number;
  /** Against the computer: with hints and takebacks. */
  practice: boolean;
  /** Who sits beside the player, at one device. */
  secondName: string;
  /** The name of an opponent as it is written, or an id. */
  playerName: string;
  /** The id of the player who was picked by that name; empty for none. */
  playerId: string;
  /** Join a game that waits, if there is one like it. */
  isSought: boolean;
  side: "random" | "south" | "north";
  clock: ClockType;
  move: Span;
  bank: Span;
  increment: Span;
  /** Without an amount there is no limit but the server's. */
  max: Span;
  visibility: "" | "public" | "unlisted" | "private";
}

const UNITS: Readonly<Record<Unit, number>> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };

/** A time in seconds; null if it is no number. */
export function secondsOf({ amount, unit }: Span): number | null {
  const text = amount.trim().replace(",", ".");
  return /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Math.round(Number(text) * UNITS[unit]) : null;
}

/** The options as they are sent: numbers as numbers, if they are some. Those with their default are left out. */
export function optionsOf(filled: Filled["options"], fields: readonly OptionField[]): OptionValues {
  const values: Record<string, unknown> = {};
  for (const { name, kind, byDefault, choices } of fields) {
    const text = filled[name];
    if (text === undefined) continue;
    const value = valueFrom(text, kind, choices);
    if (value !== byDefault) values[name] = value;
  }
  return values;
}

function valueFrom(text: string | boolean, kind: OptionField["kind"], choices: OptionField["choices"]): unknown {
  if (typeof text === "boolean") return text;
  if (kind === "choice") return choices.find((choice) => String(choice) === text) ?? text;
  const isNumeric = (kind === "integer" || kind === "number") && /^-?\d+(\.\d+)?$/.test(text.trim());
  return isNumeric ? Number(text) : text;
}

/** Whether a game is sought instead of opened. */
export function isSeek({ opponent, isSought }: Filled): boolean {
  return opponent === "open" && isSought;
}

/** The request for a game. Numbers that are none are sent as 0, so that the server names the field. */
export function requestOf(filled: Filled, options: OptionValues): NewGame {
  const { variant, preset, side, visibility } = filled;
  const request: NewGame = { variant, preset, side, clock: clockOf(filled) };
  if (Object.keys(options).length > 0) request.options = { ...options };
  if (isSeek(filled)) return request;
  if (visibility !== "") request.visibility = visibility;
  if (filled.opponent === "computer" && filled.practice) request.practice = true;
  return { ...request, opponent: opponentOf(filled) };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id that a player is named by; null for one who is named by the whole name. */
export function idOfPlayer({ playerId, playerName }: Pick<Filled, "playerId" | "playerName">): string | null {
  if (playerId !== "") return playerId;
  return UUID.test(playerName.trim()) ? playerName.trim() : null;
}

function opponentOf({ opponent, level, playerId, playerName, secondName }: Filled): NonNullable<NewGame["opponent"]> {
  if (opponent === "computer") return { type: opponent, level };
  if (opponent === "player") {
    const id = idOfPlayer({ playerId, playerName });
    return { type: opponent, ...(id === null ? { name: playerName.trim() } : { player_id: id }) };
  }
  return opponent === "self" ? hotseat(secondName) : { type: opponent };
}

function clockOf({ clock, move, bank, increment, max }: Filled): NonNullable<NewGame["clock"]> {
  if (clock === "per_move") return { type: clock, move_s: secondsOf(move) ?? 0 };
  if (clock === "unlimited") return { type: clock };
  const most = max.amount.trim() === "" ? {} : { max_s: secondsOf(max) ?? 0 };
  return { type: clock, bank_s: secondsOf(bank) ?? 0, increment_s: secondsOf(increment) ?? 0, ...most };
}
