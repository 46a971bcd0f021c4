// A board that knows no rule: it does what a move's effects say, frame by frame.

import type { components } from "./generated/api.js";

export type Board = components["schemas"]["Board"];
export type Effect = components["schemas"]["Effect"];

// Seeds by place: "A" and on are South's pits, "a" and on North's, and "south_store" and "north_store".
type Places = Map<string, number>;

export function apply(board: Board, effects: Effect[]): Board {
  const places = placesOf(board);
  let hand = 0;
  for (const effect of effects) {
    switch (effect.type) {
      case "lift":
        hand += take(places, effect.pit, effect.seeds);
        break;
      case "sow":
        put(places, effect.to, 1);
        hand -= 1;
        break;
      case "capture": {
        const seeds = effect.from.reduce((sum, pit) => sum + take(places, pit), 0);
        expect(seeds === effect.seeds, `a capture of ${effect.seeds} seeds takes ${seeds}`);
        put(places, effect.to, seeds);
        break;
      }
      case "sweep": {
        const pits = pitsOf(board, effect.side);
        const seeds = pits.reduce((sum, pit) => sum + take(places, pit), 0);
        expect(seeds === effect.seeds, `a sweep of ${effect.seeds} seeds takes ${seeds}`);
        put(places, effect.to, seeds);
        break;
      }
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
  return boardOf(board, places);
}

export function same(one: Board, other: Board): boolean {
  const [ones, others] = [placesOf(one), placesOf(other)];
  return ones.size === others.size && [...ones].every(([place, seeds]) => others.get(place) === seeds);
}

export function expect(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise);
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

function boardOf(like: Board, places: Places): Board {
  const row = (side: "south" | "north") => ({
    pits: pitsOf(like, side).map((pit) => places.get(pit) ?? 0),
    store: places.get(`${side}_store`) ?? 0,
  });
  return { south: row("south"), north: row("north") };
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
