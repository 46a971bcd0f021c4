// Shows a move step by step: what its effects do to the board. Knows no rule of any game.

import type { Board, Effect, Side } from "./types.js";

/** The board after one effect of a move. */
export interface Frame {
  effect: Effect;
  board: Board;
  /** The seeds in the player's hand; in a lockstep opening those in both hands. */
  hand: number;
  /** In a lockstep opening, the seeds in the hand of each side; they add up to `hand`. */
  hands?: Record<Side, number>;
  /** Pits, stores and reserves that have other contents than in the frame before: `A`, `b`, `south_store`, `south_reserve`. */
  changed: string[];
}

/** What effects work on: seeds by place, and which pits are out of play, blocked or won. */
interface State {
  seeds: Map<string, number>;
  hand: number;
  /** The seeds of each hand where both sides have one, and the side whose hand the effects are of. */
  hands: Record<Side, number> | undefined;
  side: Side;
  /** The pit that the hand came from, and the one where its last seed fell: a choice inside a turn is at one of them. */
  begun: string | undefined;
  fallen: string | undefined;
  pending: Board["pending"];
  house: Record<Side, boolean | undefined>;
  blocked: string | null;
  tuzdyk: Record<Side, string | null | undefined>;
  burnt: Record<Side, string[] | undefined>;
  points: Board["points"];
  /** The pit of South in a lockstep opening; undefined in no such opening. */
  chosen: string | null | undefined;
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
    const { hand } = state;
    if (!apply(effect, state, board)) continue;
    if (state.hands) state.hands = { ...state.hands, [state.side]: state.hands[state.side] + state.hand - hand };
    const changed = [...state.seeds].filter(([place, seeds]) => before.get(place) !== seeds).map(([place]) => place);
    shown.push({ effect, board: boardOf(state, board), hand: state.hand, ...(state.hands && { hands: state.hands }), changed });
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
  const row = ({ pits, store, reserve, house, blocked, burnt, tuzdyk }: Board["south"]) => [pits, store, reserve, house, blocked, burnt, tuzdyk];
  const listed = ({ south, north, round, pending, points, chosen }: Board) =>
    JSON.stringify([row(south), row(north), round, pending?.pit, pending?.seeds, points?.south, points?.north, chosen]);
  return listed(one) === listed(other);
}

// Whether the effect is known, and has the fields of its type.
function apply(effect: Effect, state: State, board: Board): boolean {
  if (!applySowing(effect, state) && !applyStore(effect, state, board) && !applyMark(effect, state, board)) return false;
  // A choice inside a turn is over with the first effect after it.
  if (effect.type !== "extra_turn") state.pending = undefined;
  return true;
}

// What goes through the hand.
function applySowing({ type, pit, to, from, side, seeds }: Effect, state: State): boolean {
  switch (type) {
    case "lift":
    case "relay":
      if (pit === undefined) return false;
      state.hand += take(state, [pit]);
      state.begun = pit;
      state.chosen = undefined;
      return true;
    case "tax":
      if (pit === undefined || seeds === undefined) return false;
      put(state, pit, -seeds);
      state.hand += seeds;
      state.begun = pit;
      return true;
    case "resume":
      state.begun = pit;
      return pit !== undefined;
    case "take":
      if (from === undefined) return false;
      state.hand += take(state, from);
      return true;
    case "sow":
      if (to === undefined) return false;
      put(state, to, 1);
      state.hand -= 1;
      state.fallen = to;
      return true;
    case "reserve":
      if (side === undefined || seeds === undefined) return false;
      put(state, `${side}_reserve`, seeds);
      state.hand -= seeds;
      return true;
    default:
      return false;
  }
}

// What goes past the hand, to and from stores and reserves.
function applyStore(effect: Effect, state: State, board: Board): boolean {
  const { type, pit, to, from, side, pits, seeds } = effect;
  switch (type) {
    case "place":
      if (pit === undefined || seeds === undefined) return false;
      put(state, `${sideOf(pit)}_reserve`, -seeds);
      put(state, pit, seeds);
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
    case "level":
      if (effect.south === undefined || effect.north === undefined) return false;
      for (const each of SIDES) take(state, pitsOf(board, each));
      put(state, "south_store", effect.south);
      put(state, "north_store", effect.north);
      if (typeof effect.odd === "string") put(state, effect.odd, 1);
      return true;
    case "refill":
      if (side === undefined || pits === undefined || seeds === undefined) return false;
      for (const each of pits) {
        put(state, `${side}_store`, -seeds);
        put(state, each, seeds);
      }
      // A match without `burnt` keeps all its pits in play.
      if (state.burnt[side] !== undefined) state.burnt[side] = pitsOf(board, side).filter((each) => !pits.includes(each));
      state.round = state.roundOver + 1;
      return true;
    default:
      return false;
  }
}

// What moves no seed.
function applyMark({ type, pit, side, round, points }: Effect, state: State, board: Board): boolean {
  switch (type) {
    case "round_over":
      state.roundOver = round ?? state.roundOver;
      state.points = points ?? state.points;
      return true;
    case "house_lost":
      if (side === undefined) return false;
      state.house[side] = false;
      return true;
    case "tuzdyk":
      if (pit === undefined || side === undefined) return false;
      state.tuzdyk[side] = pit;
      return true;
    case "block":
      if (pit === undefined) return false;
      state.blocked = pit;
      return true;
    case "unblock":
    case "game_over":
      state.blocked = null;
      return true;
    case "extra_turn":
      state.pending = choiceOf(state, board);
      return true;
    case "choose":
      state.chosen = pit;
      return pit !== undefined;
    case "hand":
      if (side === undefined) return false;
      state.side = side;
      state.hands ??= { south: 0, north: 0 };
      return true;
    case "pass":
    case "swap":
    case "takeback":
      return true;
    default:
      return false;
  }
}

// With reserves in place of stores, a turn that goes on after a sowing has a choice: in its hand, or in the pit of its last seed.
function choiceOf({ hand, begun, fallen }: State, board: Board): Board["pending"] {
  if (board.south.reserve === undefined) return undefined;
  const pit = hand > 0 ? begun : fallen;
  return pit === undefined ? undefined : { pit, seeds: hand };
}

// The server's board counts: it corrects the last frame, or is a frame of its own where no effect was known.
function takeOver(shown: Frame[], board: Board, final: Board): void {
  const last = shown.at(-1);
  if (sameBoard(last?.board ?? board, final)) return;
  const before = stateOf(shown.at(-2)?.board ?? board).seeds;
  const changed = [...stateOf(final).seeds].filter(([place, seeds]) => before.get(place) !== seeds).map(([place]) => place);
  shown.splice(Math.max(0, shown.length - 1), 1, { effect: last?.effect ?? { type: "unknown" }, board: final, hand: final.pending?.seeds ?? 0, changed });
}

function stateOf(board: Board): State {
  const { south, north, round, pending, points, chosen } = board;
  const seeds = new Map<string, number>();
  for (const side of SIDES) {
    const { pits, store, reserve } = board[side];
    pitsOf(board, side).forEach((pit, n) => seeds.set(pit, pits[n] ?? 0));
    seeds.set(`${side}_store`, store);
    if (reserve !== undefined) seeds.set(`${side}_reserve`, reserve);
  }
  return {
    seeds,
    hand: pending?.seeds ?? 0,
    hands: undefined,
    side: "south",
    begun: pending?.pit,
    fallen: undefined,
    pending,
    house: { south: south.house, north: north.house },
    blocked: south.blocked ?? north.blocked ?? null,
    tuzdyk: { south: south.tuzdyk, north: north.tuzdyk },
    burnt: { south: south.burnt, north: north.burnt },
    points,
    chosen,
    round,
    roundOver: 0,
  };
}

function boardOf(state: State, board: Board): Board {
  const { seeds, burnt, house, blocked, tuzdyk, round, pending, points, chosen } = state;
  const row = (side: Side): Board["south"] => ({
    pits: pitsOf(board, side).map((pit) => seeds.get(pit) ?? 0),
    store: seeds.get(`${side}_store`) ?? 0,
    ...(board[side].reserve !== undefined && { reserve: seeds.get(`${side}_reserve`) ?? 0 }),
    ...(house[side] !== undefined && { house: house[side] }),
    ...(board[side].blocked !== undefined && { blocked: blocked !== null && sideOf(blocked) === side ? blocked : null }),
    ...(tuzdyk[side] !== undefined && { tuzdyk: tuzdyk[side] }),
    ...(burnt[side] && { burnt: burnt[side] }),
  });
  return {
    south: row("south"),
    north: row("north"),
    ...(round !== undefined && { round }),
    ...(points && { points }),
    ...(chosen !== undefined && { chosen }),
    ...(pending && { pending }),
  };
}

function sideOf(pit: string): Side {
  return pit < "a" ? "south" : "north";
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
