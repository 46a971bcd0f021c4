// A board that knows no rule: it does what a move's effects say, frame by frame.

import type { components } from "./generated/api.js";

export type Board = components["schemas"]["Board"];
export type Effect = components["schemas"]["Effect"];
type Row = Board["south"];

// Seeds by place: "A" and on are South's pits, "a" and on North's, and "south_store" and "north_store".
type Places = Map<string, number>;

export function apply(board: Board, effects: Effect[]): Board {
  const places = placesOf(board);
  const burnt = { south: board.south.burnt, north: board.north.burnt };
  let round = board.round;
  let roundOver = 0;
  let hand = 0;
  for (const effect of effects) {
    switch (effect.type) {
      case "lift":
      case "relay":
        hand += take(places, given(effect.pit), given(effect.seeds));
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
      case "refill": {
        const [side, pits, seeds] = [given(effect.side), given(effect.pits), given(effect.seeds)];
        for (const pit of pits) {
          put(places, `${side}_store`, -seeds);
          put(places, pit, seeds);
        }
        burnt[side] = pitsOf(board, side).filter((pit) => !pits.includes(pit));
        round = roundOver + 1;
        break;
      }
      case "round_over":
        roundOver = given(effect.round);
        break;
      case "extra_turn":
      case "pass":
      case "swap":
      case "game_over":
        break;
      default:
        // A type that came after this client was made: nothing to draw.
        break;
    }
  }
  expect(hand === 0, `${hand} seeds are left in the hand`);
  const row = (side: "south" | "north"): Row => ({
    pits: pitsOf(board, side).map((pit) => places.get(pit) ?? 0),
    store: places.get(`${side}_store`) ?? 0,
    ...(burnt[side] && { burnt: burnt[side] }),
  });
  return { south: row("south"), north: row("north"), ...(round !== undefined && { round }) };
}

export function same(one: Board, other: Board): boolean {
  const listed = ({ south, north, round }: Board) =>
    JSON.stringify([south.pits, south.store, south.burnt, north.pits, north.store, north.burnt, round]);
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

function pitsOf(board: Board, side: "south" | "north"): string[] {
  const first = side === "south" ? "A" : "a";
  return board[side].pits.map((_, n) => String.fromCharCode(first.charCodeAt(0) + n));
}

function placesOf(board: Board): Places {
  const places: Places = new Map();
  for (const side of ["south", "north"] as const) {
    pitsOf(board, side).forEach((pit, n) => places.set(pit, board[side].pits[n] ?? 0));
    places.set(`${side}_store`, board[side].store);
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
