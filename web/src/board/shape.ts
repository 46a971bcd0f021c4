// Where the pits and stores of a board are drawn. It knows the numbers of pits that a board has, and no rule of a game.

import type { Board, Side } from "@mancala-server/client";

/** A pit or a store, in units of the drawing. */
export interface Spot {
  /** `A`, `a`, `south_store` or `north_store`, as effects name it. */
  place: string;
  side: Side;
  kind: "pit" | "store";
  /** The centre, and half the width and the height. */
  x: number;
  y: number;
  rx: number;
  ry: number;
  /** Where the number of seeds stands. */
  count: { x: number; y: number };
  /** Where the letter stands. */
  letter: { x: number; y: number };
}

export interface Shape {
  width: number;
  height: number;
  isUpright: boolean;
  spots: Map<string, Spot>;
  /** The pits as the eye sees them, row by row, for the arrow keys. */
  rows: string[][];
}

const MARGIN = 22;
/** What a count beside a pit needs. */
const BAND = 50;
const GAP = 12;

/** The pits of a side in the order of sowing: `A`, `B` and on for South, small letters for North. */
export function pitsOf(board: Board, side: Side): string[] {
  const first = (side === "south" ? "A" : "a").charCodeAt(0);
  return board[side].pits.map((_, n) => String.fromCharCode(first + n));
}

export function storeOf(side: Side): string {
  return `${side}_store`;
}

export function opposite(side: Side): Side {
  return side === "south" ? "north" : "south";
}

/** The side of a place. */
export function sideOf(place: string): Side {
  if (place.endsWith("_store")) return place === "south_store" ? "south" : "north";
  return place === place.toUpperCase() ? "south" : "north";
}

/** The seeds of a place; 0 for one that the board does not have. */
export function seedsIn(board: Board, place: string): number {
  const side = sideOf(place);
  if (place.endsWith("_store")) return board[side].store;
  return board[side].pits[pitsOf(board, side).indexOf(place)] ?? 0;
}

/** A board with this side at the bottom. Upright, for narrow screens, that side is on the left and its store below. */
export function shapeOf(board: Board, bottom: Side, isUpright: boolean): Shape {
  return isUpright ? upright(board, bottom) : lying(board, bottom);
}

function lying(board: Board, bottom: Side): Shape {
  const [rx, ry, storeRx] = [50, 50, 54];
  const columns = Math.max(board.south.pits.length, board.north.pits.length);
  const inner = columns * 2 * rx + (columns - 1) * GAP;
  const width = 2 * (MARGIN + 2 * storeRx + GAP) + inner;
  const height = 2 * (MARGIN + BAND) + 4 * ry + GAP;
  const left = MARGIN + 2 * storeRx + GAP + rx;
  const spots = new Map<string, Spot>();
  const rows: string[][] = [[], []];
  for (const side of [opposite(bottom), bottom]) {
    const isNear = side === bottom;
    const y = isNear ? height - MARGIN - BAND - ry : MARGIN + BAND + ry;
    const label = isNear ? height - MARGIN - BAND / 2 + 4 : MARGIN + BAND / 2 + 4;
    const pits = pitsOf(board, side);
    pits.forEach((place, n) => {
      const column = isNear ? n : columns - 1 - n;
      const x = left + column * (2 * rx + GAP);
      spots.set(place, { place, side, kind: "pit", x, y, rx, ry, count: { x, y: label }, letter: { x: x + 36, y: label } });
    });
    rows[isNear ? 1 : 0] = isNear ? pits : [...pits].reverse();
    const x = isNear ? width - MARGIN - storeRx : MARGIN + storeRx;
    const place = storeOf(side);
    const count = { x, y: label };
    spots.set(place, { place, side, kind: "store", x, y: height / 2, rx: storeRx, ry: 2 * ry + GAP / 2, count, letter: count });
  }
  return { width, height, isUpright: false, spots, rows };
}

function upright(board: Board, bottom: Side): Shape {
  const [rx, ry, storeRy, gap, between] = [58, 33, 36, 8, 18];
  const rowsMax = Math.max(board.south.pits.length, board.north.pits.length);
  const width = 2 * (MARGIN + BAND) + 4 * rx + between;
  const height = 2 * (MARGIN + 2 * storeRy + GAP) + rowsMax * 2 * ry + (rowsMax - 1) * gap;
  const top = MARGIN + 2 * storeRy + GAP + ry;
  const spots = new Map<string, Spot>();
  for (const side of [opposite(bottom), bottom]) {
    const isNear = side === bottom;
    const x = isNear ? MARGIN + BAND + rx : width - MARGIN - BAND - rx;
    const label = isNear ? MARGIN + BAND / 2 - 3 : width - MARGIN - BAND / 2 + 3;
    pitsOf(board, side).forEach((place, n) => {
      const y = top + (isNear ? n : rowsMax - 1 - n) * (2 * ry + gap);
      const count = { x: label, y };
      spots.set(place, { place, side, kind: "pit", x, y, rx, ry, count, letter: { x: label, y: y + 24 } });
    });
    const y = isNear ? height - MARGIN - storeRy : MARGIN + storeRy;
    const place = storeOf(side);
    const count = { x: label, y };
    spots.set(place, { place, side, kind: "store", x: width / 2, y, rx: 2 * rx + between / 2, ry: storeRy, count, letter: count });
  }
  const [near, far] = [pitsOf(board, bottom), [...pitsOf(board, opposite(bottom))].reverse()];
  const rows = Array.from({ length: rowsMax }, (_, n) => [near[n], far[n]].filter((place) => place !== undefined));
  return { width, height, isUpright: true, spots, rows };
}
