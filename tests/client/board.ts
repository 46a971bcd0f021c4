// A board that knows no rule: it does what a move's effects say, frame by frame.

import type { components } from "./generated/api.js";

export type Board = components["schemas"]["Board"];
export type Effect = components["schemas"]["Effect"];
type Row = Board["south"];

// Seeds by place: "A" and on are South's pits, "a" and on North's, and "south_store" and "north_store"; with four rows also
// "south_reserve" and "north_reserve".
type Places = Map<string, number>;

export function apply(board: Board, effects: Effect[]): Board {
  const places = placesOf(board);
  const burnt = { south: board.south.burnt, north: board.north.burnt };
  let round = board.round;
  let roundOver = 0;
  let points = board.points;
  // In a lockstep opening: what South has chosen, until both hands are lifted.
  let chosen = board.chosen;
  // With four rows a choice inside a turn leaves seeds in the hand.
  let hand = board.pending?.seeds ?? 0;
  const house = { south: board.south.house, north: board.north.house };
  const tuzdyk = { south: board.south.tuzdyk, north: board.north.tuzdyk };
  let blocked = board.south.blocked ?? board.north.blocked ?? null;
  for (const effect of effects) {
    switch (effect.type) {
      case "lift":
      case "relay":
        hand += take(places, given(effect.pit), given(effect.seeds));
        chosen = undefined;
        break;
      case "sow":
        put(places, given(effect.to), 1);
        hand -= 1;
        break;
      case "capture": {
        const seeds = given(effect.from).reduce((sum, pit) => sum + take(places, pit), 0);
        expect(seeds === effect.seeds, `a capture of ${effect.seeds} seeds takes ${seeds}`);
        put(places, given(effect.to), seeds);
        break;
      }
      case "sweep": {
        const pits = pitsOf(board, given(effect.side));
        const seeds = pits.reduce((sum, pit) => sum + take(places, pit), 0);
        expect(seeds === effect.seeds, `a sweep of ${effect.seeds} seeds takes ${seeds}`);
        put(places, given(effect.to), seeds);
        break;
      }
      case "split": {
        const half = given(effect.seeds);
        const odd = given(effect.odd);
        const pits = [...pitsOf(board, "south"), ...pitsOf(board, "north")];
        const seeds = pits.reduce((sum, pit) => sum + take(places, pit), 0);
        put(places, "south_store", half);
        put(places, "north_store", half);
        if (odd !== null) put(places, odd, 1);
        expect(seeds === 2 * half + (odd === null ? 0 : 1), `${seeds} seeds are split`);
        break;
      }
      case "level": {
        const [south, north, odd] = [given(effect.south), given(effect.north), given(effect.odd)];
        const pits = [...pitsOf(board, "south"), ...pitsOf(board, "north")];
        const seeds = pits.reduce((sum, pit) => sum + take(places, pit), 0);
        put(places, "south_store", south);
        put(places, "north_store", north);
        if (odd !== null) put(places, odd, 1);
        expect(seeds === south + north + (odd === null ? 0 : 1), `${seeds} seeds make both stores level`);
        break;
      }
      case "refill": {
        const [side, pits, seeds] = [given(effect.side), given(effect.pits), given(effect.seeds)];
        for (const pit of pits) {
          put(places, `${side}_store`, -seeds);
          put(places, pit, seeds);
        }
        if (burnt[side] !== undefined) burnt[side] = pitsOf(board, side).filter((pit) => !pits.includes(pit));
        round = roundOver + 1;
        break;
      }
      case "round_over":
        roundOver = given(effect.round);
        points = effect.points ?? points;
        break;
      case "choose":
        chosen = given(effect.pit);
        break;
      case "hand":
        // Both hands are added up: only where seeds fall matters here.
        expect(effect.side !== undefined, "a hand is of a side");
        break;
      case "place":
        put(places, `${sideOf(given(effect.pit))}_reserve`, -given(effect.seeds));
        put(places, given(effect.pit), given(effect.seeds));
        break;
      case "tax":
        put(places, given(effect.pit), -given(effect.seeds));
        hand += given(effect.seeds);
        break;
      case "take": {
        const seeds = given(effect.from).reduce((sum, pit) => sum + take(places, pit), 0);
        expect(seeds === effect.seeds && hand === 0, `${effect.seeds} seeds are taken, and ${seeds} were there`);
        hand = seeds;
        break;
      }
      case "resume":
        expect(hand === effect.seeds, `${hand} seeds are in the hand`);
        break;
      case "reserve":
        put(places, `${given(effect.side)}_reserve`, given(effect.seeds));
        hand -= given(effect.seeds);
        break;
      case "house_lost":
        house[given(effect.side)] = false;
        break;
      case "tuzdyk":
        tuzdyk[given(effect.side)] = given(effect.pit);
        break;
      case "block":
        blocked = given(effect.pit);
        break;
      case "unblock":
        blocked = null;
        break;
      case "game_over":
        blocked = null;
        break;
      case "extra_turn":
      case "pass":
      case "swap":
        break;
      default:
        // A type that came after this client was made: nothing to draw.
        break;
    }
  }
  expect(hand === 0 || effects.at(-1)?.type === "extra_turn", `${hand} seeds are left in the hand`);
  const row = (side: "south" | "north"): Row => ({
    pits: pitsOf(board, side).map((pit) => places.get(pit) ?? 0),
    store: places.get(`${side}_store`) ?? 0,
    ...(burnt[side] && { burnt: burnt[side] }),
    ...(board[side].reserve !== undefined && { reserve: places.get(`${side}_reserve`) ?? 0 }),
    ...(house[side] !== undefined && { house: house[side] }),
    ...(tuzdyk[side] !== undefined && { tuzdyk: tuzdyk[side] }),
    ...(board[side].blocked !== undefined && { blocked: blocked !== null && sideOf(blocked) === side ? blocked : null }),
  });
  const pending = hand > 0 && { pending: { pit: "", seeds: hand } };
  return {
    south: row("south"),
    north: row("north"),
    ...(round !== undefined && { round }),
    ...(points !== undefined && { points }),
    ...(chosen !== undefined && { chosen }),
    ...pending,
  };
}

export function same(one: Board, other: Board): boolean {
  const ofRow = (row: Row) => [row.pits, row.store, row.burnt, row.reserve, row.house, row.blocked, row.tuzdyk];
  const listed = ({ south, north, round, pending, points, chosen }: Board) =>
    JSON.stringify([ofRow(south), ofRow(north), round, pending?.seeds ?? 0, points?.south, points?.north, chosen]);
  return listed(one) === listed(other);
}

export function expect(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise);
}

// A field that the type of an effect has.
function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("an effect lacks a field of its type");
  return value;
}

function sideOf(pit: string): "south" | "north" {
  return pit < "a" ? "south" : "north";
}

function pitsOf(board: Board, side: "south" | "north"): string[] {
  const first = side === "south" ? "A" : "a";
  return board[side].pits.map((_, n) => String.fromCharCode(first.charCodeAt(0) + n));
}

function placesOf(board: Board): Places {
  const places: Places = new Map();
  for (const side of ["south", "north"] as const) {
    pitsOf(board, side).forEach((pit, n) => places.set(pit, board[side].pits[n] ?? 0));
    places.set(`${side}_store`, board[side].store);
    const { reserve } = board[side];
    if (reserve !== undefined) places.set(`${side}_reserve`, reserve);
  }
  return places;
}

function take(places: Places, pit: string, expected?: number): number {
  const seeds = places.get(pit);
  expect(seeds !== undefined, `there is no pit ${pit}`);
  expect(expected === undefined || expected === seeds, `${pit} holds ${seeds} seeds, not ${expected}`);
  places.set(pit, 0);
  return seeds;
}

function put(places: Places, place: string, seeds: number): void {
  const before = places.get(place);
  expect(before !== undefined, `there is no place ${place}`);
  places.set(place, before + seeds);
}
