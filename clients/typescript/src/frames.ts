// Shows a move step by step: what its effects do to the board. Knows no rule of any game.

import type { Board, Effect, Side } from "./types.js";

/** The board after one effect of a move. */
export interface Frame {
  effect: Effect;
  board: Board;
  /** The seeds in the player's hand. */
  hand: number;
  /** Pits and stores that have other contents than in the frame before: `A`, `b`, `south_store`. */
  changed: string[];
}

/** What effects work on: seeds by place, and which pits are out of play. */
interface State {
  seeds: Map<string, number>;
  hand: number;
  burnt: Record<Side, string[] | undefined>;
  round: number | undefined;
  roundOver: number;
}

const SIDES = ["south", "north"] as const;

/**
 * The frames of a move, from the board before it. Effects of an unknown type are skipped.
 *
 * With `final`, the board after the move as the server says it, the last frame has that board in any case. So a client shows the
 * right board even if an effect was newer than this package.
 */
export function frames(effects: readonly Effect[], board: Board, final?: Board): Frame[] {
  const state = stateOf(board);
  const shown: Frame[] = [];
  let before = new Map(state.seeds);
  for (const effect of effects) {
    if (!apply(effect, state, board)) continue;
    const changed = [...state.seeds].filter(([place, seeds]) => before.get(place) !== seeds).map(([place]) => place);
    shown.push({ effect, board: boardOf(state, board), hand: state.hand, changed });
    before = new Map(state.seeds);
  }
  if (final) takeOver(shown, board, final);
  return shown;
}

/** The letters of a side's pits, in the order of sowing. */
export function pitsOf(board: Board, side: Side): string[] {
  const first = side === "south" ? 65 : 97;
  return board[side].pits.map((_, n) => String.fromCharCode(first + n));
}

/** Whether two boards show the same. */
export function sameBoard(one: Board, other: Board): boolean {
  const listed = ({ south, north, round }: Board) =>
    JSON.stringify([south.pits, south.store, south.burnt, north.pits, north.store, north.burnt, round]);
  return listed(one) === listed(other);
}

// Whether the effect is known, and has the fields of its type.
function apply(effect: Effect, state: State, board: Board): boolean {
  const { pit, to, from, side, pits, seeds } = effect;
  switch (effect.type) {
    case "lift":
    case "relay":
      if (pit === undefined) return false;
      state.hand += take(state, [pit]);
      return true;
    case "sow":
      if (to === undefined) return false;
      put(state, to, 1);
      state.hand -= 1;
      return true;
    case "capture":
      if (from === undefined || to === undefined) return false;
      put(state, to, take(state, from));
      return true;
    case "sweep":
      if (side === undefined || to === undefined) return false;
      put(state, to, take(state, pitsOf(board, side)));
      return true;
    case "split":
      if (seeds === undefined) return false;
      for (const each of SIDES) {
        take(state, pitsOf(board, each));
        put(state, `${each}_store`, seeds);
      }
      if (typeof effect.odd === "string") put(state, effect.odd, 1);
      return true;
    case "refill":
      if (side === undefined || pits === undefined || seeds === undefined) return false;
      for (const each of pits) {
        put(state, `${side}_store`, -seeds);
        put(state, each, seeds);
      }
      state.burnt[side] = pitsOf(board, side).filter((each) => !pits.includes(each));
      state.round = state.roundOver + 1;
      return true;
    case "round_over":
      state.roundOver = effect.round ?? state.roundOver;
      return true;
    case "extra_turn":
    case "pass":
    case "swap":
    case "takeback":
    case "game_over":
      return true;
    default:
      return false;
  }
}

// The server's board counts: it corrects the last frame, or is a frame of its own where no effect was known.
function takeOver(shown: Frame[], board: Board, final: Board): void {
  const last = shown.at(-1);
  if (sameBoard(last?.board ?? board, final)) return;
  const before = stateOf(shown.at(-2)?.board ?? board).seeds;
  const changed = [...stateOf(final).seeds].filter(([place, seeds]) => before.get(place) !== seeds).map(([place]) => place);
  shown.splice(Math.max(0, shown.length - 1), 1, { effect: last?.effect ?? { type: "unknown" }, board: final, hand: 0, changed });
}

function stateOf(board: Board): State {
  const seeds = new Map<string, number>();
  for (const side of SIDES) {
    pitsOf(board, side).forEach((pit, n) => seeds.set(pit, board[side].pits[n] ?? 0));
    seeds.set(`${side}_store`, board[side].store);
  }
  return { seeds, hand: 0, burnt: { south: board.south.burnt, north: board.north.burnt }, round: board.round, roundOver: 0 };
}

function boardOf(state: State, board: Board): Board {
  const row = (side: Side): Board["south"] => ({
    pits: pitsOf(board, side).map((pit) => state.seeds.get(pit) ?? 0),
    store: state.seeds.get(`${side}_store`) ?? 0,
    ...(state.burnt[side] && { burnt: state.burnt[side] }),
  });
  return { south: row("south"), north: row("north"), ...(state.round !== undefined && { round: state.round }) };
}

function take(state: State, places: readonly string[]): number {
  let taken = 0;
  for (const place of places) {
    taken += state.seeds.get(place) ?? 0;
    if (state.seeds.has(place)) state.seeds.set(place, 0);
  }
  return taken;
}

function put(state: State, place: string, seeds: number): void {
  const before = state.seeds.get(place);
  if (before !== undefined) state.seeds.set(place, before + seeds);
}
