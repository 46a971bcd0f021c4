// Positions one after the other: of a game that was played, or of moves that are only tried. The server plays every move.

import type { Board, Effect, Game, Move, Schemas, Side } from "@mancala-server/client";

import { client } from "../../client.ts";
import { ask } from "../../state/ask.ts";

/** By which rules is played. */
export type Rules = Pick<Game, "variant" | "preset" | "options">;

/** A position, and the move that led to it. */
export interface Point {
  /** Null where a line begins. */
  move: string | null;
  /** The side for which the move was played. */
  side: Side | null;
  effects: readonly Effect[];
  board: Board;
  position: string;
  /** Null where the rules end the game. */
  turn: Side | null;
  legal: readonly string[];
  /** The player of the move, in a game that was played. */
  playerId?: string;
}

type Outcome = Schemas["Outcome"];

/** A line that was tried. */
export interface Tried {
  start: Point;
  points: Point[];
  /** The result at the end of the line, if the rules end the game there. */
  result: Outcome | null;
}

/** Plays moves from a position, or from the opening. Nothing is stored. */
export async function playLine(rules: Rules, position: string | null, moves: readonly string[], signal?: AbortSignal): Promise<Tried> {
  const { variant, preset, options } = rules;
  const call = client.api.POST("/v1/variants/{variant}/play", {
    params: { path: { variant } },
    body: { preset, options, moves: [...moves], ...(position !== null && { position }) },
    ...(signal && { signal }),
  });
  const line = await ask(call);
  const start = { move: null, side: null, effects: [], board: line.board, position: line.position, turn: line.turn, legal: line.legal_moves };
  const points = line.moves.map(({ legal_moves: legal, ...each }) => ({ ...each, legal }));
  return { start, points, result: line.moves.at(-1)?.result ?? line.result };
}

/** The point after a ply of a game. A history without boards has none. */
export function pointOf(move: Move): Point | null {
  const { board, turn, legal_moves: legal } = move;
  if (!board || turn === undefined || !legal) return null;
  return { move: move.move, side: move.side, effects: move.effects, board, position: move.position, turn, legal, playerId: move.player_id };
}

/** The point at the beginning of a game. */
export async function openingOf(id: string, signal: AbortSignal): Promise<Point> {
  const { board, position, turn, legal_moves: legal } = await client.games.position(id, 0, { signal });
  return { move: null, side: null, effects: [], board, position, turn, legal };
}

/** Whether the players have exchanged their seats at a position: the flag `w` of its text. */
export function isSwapped(position: string): boolean {
  return position.split(" ")[3]?.includes("w") ?? false;
}

/** The options of a game as records and addresses write them: `pits=6;seeds=4`. */
export function optionsText(options: Rules["options"]): string {
  return Object.entries(options ?? {})
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(";");
}
