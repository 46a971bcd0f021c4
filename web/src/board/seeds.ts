// Which seed lies where. Seeds have numbers, so that one that moves is the same element before and after, and glides.

import type { Board } from "@mancala-server/client";

import { pitsOf, type Shape, type Spot, seedsIn, storeOf } from "./shape.ts";

/** The seeds by place. Those in `HAND` are in the air. */
export type Seeds = ReadonlyMap<string, readonly number[]>;

export const HAND = "hand";

/** More seeds than this are not drawn in one place: the number beside it says how many there are. */
const DRAWN_MAX = { pit: 40, store: 90 };

/** All places of a board. */
export function placesOf(board: Board): string[] {
  return (["south", "north"] as const).flatMap((side) => [...pitsOf(board, side), storeOf(board, side)]);
}

/**
 * The seeds of another board, with as few moved as possible: places that have too many give some to the hand, and those that
 * have too few take from it. `total` is how many seeds there are, so what the board lacks stays in the hand.
 */
export function settle(before: Seeds | null, board: Board, total: number): Seeds {
  const after = new Map<string, number[]>();
  const spare = [...(before?.get(HAND) ?? [])];
  const places = placesOf(board);
  for (const place of places) {
    const have = [...(before?.get(place) ?? [])];
    spare.push(...have.splice(seedsIn(board, place)));
    after.set(place, have);
  }
  let next = 1 + Math.max(-1, ...[...(before?.values() ?? [])].flat());
  for (const place of places) {
    const have = after.get(place) ?? [];
    while (have.length < seedsIn(board, place)) have.push(spare.shift() ?? next++);
  }
  const onBoard = places.reduce((sum, place) => sum + seedsIn(board, place), 0);
  const held = spare.slice(0, Math.max(0, total - onBoard));
  while (held.length < (board.pending?.seeds ?? 0)) held.push(next++);
  after.set(HAND, held);
  return after;
}

/** The seeds of a board in all, with those that a choice leaves in the hand. */
export function totalOf(board: Board): number {
  return placesOf(board).reduce((sum, place) => sum + seedsIn(board, place), board.pending?.seeds ?? 0);
}

/** A seed as it is drawn. */
export interface DrawnSeed {
  id: number;
  x: number;
  y: number;
  isHeld: boolean;
}

/** The seeds that are drawn, in an order that does not change while they move. */
export function draw(seeds: Seeds, shape: Shape, handAt: string | null): DrawnSeed[] {
  const drawn: DrawnSeed[] = [];
  for (const [place, ids] of seeds) {
    const spot = place === HAND ? (shape.spots.get(handAt ?? "south_store") ?? shape.spots.get("south_reserve")) : shape.spots.get(place);
    if (!spot) continue;
    const isHeld = place === HAND;
    ids.slice(0, DRAWN_MAX[spot.kind]).forEach((id, n) => {
      const at = isHeld ? heldAt(n, spot) : spot.kind === "pit" ? inPit(n, spot) : inStore(n, spot);
      drawn.push({ id, ...at, isHeld });
    });
  }
  return drawn.sort((a, b) => a.id - b.id);
}

const GOLDEN = 2.399963;

/** Every pit has a pattern of its own. */
function turnOf(place: string): number {
  return place.charCodeAt(0) * 1.7;
}

/** Three seeds lie in the middle and seven around them; the next ten lie upon these. */
function inPit(n: number, spot: Spot): { x: number; y: number } {
  const [at, layer] = [n % 10, Math.floor(n / 10)];
  const isInner = at < 3;
  const reach = (isInner ? 0.4 : 0.95) * (1 - Math.min(layer, 3) * 0.16);
  const angle = (isInner ? at / 3 : (((at - 3) * 3) % 7) / 7) * 2 * Math.PI + turnOf(spot.place) + layer * 0.7 + (at % 2) * 0.12;
  return {
    x: spot.x + Math.cos(angle) * reach * (spot.rx - 13),
    y: spot.y + Math.sin(angle) * reach * (spot.ry - 12) - layer * 2.5,
  };
}

/** A store fills from its middle, in rows along its longer side. */
function inStore(n: number, spot: Spot): { x: number; y: number } {
  const layer = Math.floor(n / 30);
  const at = n % 30;
  const reach = Math.sqrt((at + 0.5) / 30);
  const angle = at * GOLDEN + layer;
  return {
    x: spot.x + Math.cos(angle) * reach * (spot.rx - 16) - layer,
    y: spot.y + Math.sin(angle) * reach * (spot.ry - 18) - layer * 3,
  };
}

function heldAt(n: number, spot: Spot): { x: number; y: number } {
  const angle = n * GOLDEN;
  const reach = 7 * Math.sqrt(n);
  return { x: spot.x + Math.cos(angle) * reach, y: spot.y - spot.ry * 0.55 + Math.sin(angle) * reach * 0.7 };
}
