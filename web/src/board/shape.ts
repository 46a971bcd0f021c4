// Where the pits and stores of a board are drawn. It knows the numbers of pits and rows that a board has, and no rule of a game.

import type { Board, Side } from "@mancala-server/client";

/** How the pits of a side are laid out, as the variant says. */
export interface Layout {
  /** Rows of a side: its ring goes along the front row, and back behind it. */
  rows: number;
  /** At which end of its own front row a side has its first pit. */
  first: "left" | "right";
}

/** A pit, or a store or reserve, in units of the drawing. */
export interface Spot {
  /** `A`, `a`, `south_store` or `north_reserve`, as effects name it. */
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

/** The pit that is a side's house, on boards that have houses. */
const HOUSE = 4;

/** The pits of a side in the order of sowing: `A`, `B` and on for South, small letters for North. */
export function pitsOf(board: Board, side: Side): string[] {
  const first = (side === "south" ? "A" : "a").charCodeAt(0);
  return board[side].pits.map((_, n) => String.fromCharCode(first + n));
}

/** The place of a side's seeds that are in no pit: its reserve, on a board that has reserves, or else its store. */
export function storeOf(board: Board, side: Side): string {
  return board[side].reserve === undefined ? `${side}_store` : `${side}_reserve`;
}

export function opposite(side: Side): Side {
  return side === "south" ? "north" : "south";
}

/** The side of a place. */
export function sideOf(place: string): Side {
  if (place.length > 1) return place.startsWith("south") ? "south" : "north";
  return place === place.toUpperCase() ? "south" : "north";
}

/** The seeds of a place; 0 for one that the board does not have. */
export function seedsIn(board: Board, place: string): number {
  const side = sideOf(place);
  if (place.endsWith("_store")) return board[side].store;
  if (place.endsWith("_reserve")) return board[side].reserve ?? 0;
  return board[side].pits[pitsOf(board, side).indexOf(place)] ?? 0;
}

/** Whether a pit is the house of a side that still owns it. */
export function isHouse(board: Board, place: string): boolean {
  const side = sideOf(place);
  return board[side].house === true && pitsOf(board, side)[HOUSE] === place;
}

/** Whether a pit is blocked. */
export function isBlocked(board: Board, place: string): boolean {
  return board[sideOf(place)].blocked === place;
}

/** Whether a pit is a tuzdyk: the other side has won it. */
export function isTuzdyk(board: Board, place: string): boolean {
  return board[opposite(sideOf(place))].tuzdyk === place;
}

/** The pit beside another one in the ring of its side: the next in the order of letters, or the one before. */
export function besideInRing(board: Board, pit: string, isUpward: boolean): string {
  const pits = pitsOf(board, sideOf(pit));
  return pits[(pits.indexOf(pit) + (isUpward ? 1 : pits.length - 1)) % pits.length] ?? pit;
}

/** The layout of a board of which the variant is not known. */
function usualLayout(board: Board): Layout {
  return { rows: board.south.reserve === undefined ? 1 : 2, first: "left" };
}

/** A board with this side at the bottom. Upright, for narrow screens, that side is on the left and its store below. */
export function shapeOf(board: Board, bottom: Side, isUpright: boolean, layout: Layout = usualLayout(board)): Shape {
  const spots = new Map<string, Spot>();
  const size = isUpright ? upright(board, bottom, layout, spots) : lying(board, bottom, layout, spots);
  return { ...size, isUpright, spots, rows: rowsOf(spots) };
}

/** The pits as they are drawn, from the top and from the left. */
function rowsOf(spots: ReadonlyMap<string, Spot>): string[][] {
  const pits = [...spots.values()].filter(({ kind }) => kind === "pit");
  const heights = [...new Set(pits.map(({ y }) => y))].sort((a, b) => a - b);
  return heights.map((height) => pits.filter(({ y }) => y === height).sort((a, b) => a.x - b.x).map(({ place }) => place));
}

/** Where a pit lies as its owner sees it: rows from the front, columns from the left. */
interface Cell {
  place: string;
  row: number;
  column: number;
}

/** The front row begins at one end, and each row behind it where the one before has ended. */
function cellsOf(board: Board, side: Side, { rows, first }: Layout): Cell[] {
  const pits = pitsOf(board, side);
  const columns = Math.ceil(pits.length / rows);
  return pits.map((place, n) => {
    const [row, at] = [Math.floor(n / columns), n % columns];
    const isFromFirst = row % 2 === 0;
    const isFromLeft = (first === "left") === isFromFirst;
    return { place, row, column: isFromLeft ? at : columns - 1 - at };
  });
}

function columnsOf(board: Board, { rows }: Layout): number {
  return Math.ceil(Math.max(board.south.pits.length, board.north.pits.length) / rows);
}

type Size = Pick<Shape, "width" | "height">;

function lying(board: Board, bottom: Side, layout: Layout, spots: Map<string, Spot>): Size {
  const [rx, ry, storeRx] = [50, 50, 54];
  const columns = columnsOf(board, layout);
  const inner = columns * 2 * rx + (columns - 1) * GAP;
  const width = 2 * (MARGIN + 2 * storeRx + GAP) + inner;
  const height = 2 * (MARGIN + layout.rows * (2 * ry + BAND)) + GAP;
  const left = MARGIN + 2 * storeRx + GAP + rx;
  for (const side of [opposite(bottom), bottom]) {
    const isNear = side === bottom;
    const away = isNear ? 1 : -1;
    for (const { place, row, column } of cellsOf(board, side, layout)) {
      const y = height / 2 + away * (GAP / 2 + ry + row * (2 * ry + BAND));
      const label = y + away * (ry + BAND / 2) + 4;
      const x = left + (isNear ? column : columns - 1 - column) * (2 * rx + GAP);
      spots.set(place, { place, side, kind: "pit", x, y, rx, ry, count: { x, y: label }, letter: { x: x + 40, y: label } });
    }
    const x = isNear ? width - MARGIN - storeRx : MARGIN + storeRx;
    const count = { x, y: height / 2 + away * (height / 2 - MARGIN - BAND / 2) + 4 };
    const place = storeOf(board, side);
    spots.set(place, { place, side, kind: "store", x, y: height / 2, rx: storeRx, ry: height / 2 - MARGIN - BAND, count, letter: count });
  }
  return { width, height };
}

/** What an upright board measures: with more rows there is less room. Eight pits of 44 pixels fit a window of 568. */
const UPRIGHT_SIZES = {
  few: { margin: 14, band: 46, rx: 58, ry: 33, between: 14, gap: 8, storeRy: 30, inset: 12 },
  many: { margin: 8, band: 42, rx: 52, ry: 46, between: 14, gap: 5, storeRy: 23, inset: 24 },
};

function upright(board: Board, bottom: Side, layout: Layout, spots: Map<string, Spot>): Size {
  const { margin, band, rx, ry, between, gap, storeRy, inset } = UPRIGHT_SIZES[layout.rows > 1 ? "many" : "few"];
  const columns = columnsOf(board, layout);
  const width = 2 * (margin + layout.rows * (band + 2 * rx)) + between;
  const top = margin + 2 * storeRy + gap + ry;
  const height = 2 * (top - ry) + columns * 2 * ry + (columns - 1) * gap;
  for (const side of [opposite(bottom), bottom]) {
    const isNear = side === bottom;
    const away = isNear ? -1 : 1;
    for (const { place, row, column } of cellsOf(board, side, layout)) {
      const x = width / 2 + away * (between / 2 + rx + row * (2 * rx + band));
      const y = top + (isNear ? column : columns - 1 - column) * (2 * ry + gap);
      const label = x + away * (rx + band / 2 + (layout.rows > 1 ? 0 : 3));
      spots.set(place, { place, side, kind: "pit", x, y, rx, ry, count: { x: label, y }, letter: { x: label, y: y + (layout.rows > 1 ? 31 : 24) } });
    }
    const y = isNear ? height - margin - storeRy : margin + storeRy;
    const count = { x: width / 2 + away * (width / 2 - margin - (band + inset) / 2 + 3), y };
    const place = storeOf(board, side);
    spots.set(place, { place, side, kind: "store", x: width / 2, y, rx: width / 2 - margin - band - inset, ry: storeRy, count, letter: count });
  }
  return { width, height };
}
