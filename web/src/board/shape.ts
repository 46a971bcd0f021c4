// Where the pits and stores of a board are drawn. It knows the numbers of pits and rows that a board has, and no rule of a game.

import type { Board, Side } from "@mancala-server/client";

// What boards measure. The server's pictures read it, too: `crates/picture/README.md` says what the numbers mean.
import { lying, picture, picture_deep, upright, upright_deep } from "../../../crates/picture/boards.json";

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
export function shapeOf(board: Board, bottom: Side, isUpright: boolean, layout: Layout = usualLayout(board), given?: typeof lying): Shape {
  const isDeep = layout.rows > 1;
  const form = given ?? (isUpright ? (isDeep ? upright_deep : upright) : lying);
  const columns = columnsOf(board, layout);
  const start = form.margin + 2 * form.store + form.gap + form.along;
  const pitch = 2 * form.along + form.gap;
  const length = 2 * start + (columns - 1) * pitch;
  const breadth = 2 * (form.margin + layout.rows * (form.band + 2 * form.across)) + form.middle;
  // Along the rows and across them: an upright board is a lying one that is turned.
  const at = (along: number, across: number) => (isUpright ? { x: across, y: along } : { x: along, y: across });
  const size = (along: number, across: number) => (isUpright ? { rx: across, ry: along } : { rx: along, ry: across });
  const spots = new Map<string, Spot>();
  for (const side of [opposite(bottom), bottom]) {
    const isNear = side === bottom;
    const away = isNear === isUpright ? -1 : 1;
    const nudge = isUpright ? 3 * away : 4;
    for (const { place, row, column } of cellsOf(board, side, layout)) {
      const along = start + (isNear ? column : columns - 1 - column) * pitch;
      const across = breadth / 2 + away * (form.middle / 2 + form.across + row * (2 * form.across + form.band));
      const beside = across + away * (form.across + form.band / 2) + (isUpright && isDeep ? 0 : nudge);
      const letter = at(along + (isUpright ? (isDeep ? 31 : 24) : 40), beside);
      spots.set(place, { place, side, kind: "pit", ...at(along, across), ...size(form.along, form.across), count: at(along, beside), letter });
    }
    const along = isNear ? length - form.margin - form.store : form.margin + form.store;
    const across = breadth / 2 - form.margin - form.band - form.inset;
    const count = at(along, breadth / 2 + away * (breadth / 2 - form.margin - (form.band + form.inset) / 2) + nudge);
    const place = storeOf(board, side);
    spots.set(place, { place, side, kind: "store", ...at(along, breadth / 2), ...size(form.store, across), count, letter: count });
  }
  const { x: width, y: height } = at(length, breadth);
  return { width, height, isUpright, spots, rows: rowsOf(spots) };
}

/** How much wider than high a phone on its side has room for a board. */
const SIDE_RATIO = 1.9;

/** The board of a phone on its side: its pits are longer across the rows, up to twice as long as wide, so that it fills the window. */
export function sideShapeOf(board: Board, bottom: Side, layout?: Layout): Shape {
  const { width, height } = shapeOf(board, bottom, false, layout);
  const across = lying.across + Math.max(0, width / SIDE_RATIO - height) / 4;
  return shapeOf(board, bottom, false, layout, { ...lying, across: Math.min(across, 2 * lying.along) });
}

/** A small board with the measures of the server's pictures: as large for every variant, whatever the number of pits. */
export function thumbOf(board: Board, layout: Layout = usualLayout(board)): Shape {
  const column = Math.min(98, 596 / (columnsOf(board, layout) + 2.4));
  const gap = column / 7 + 3;
  const along = { along: (column - gap) / 2, gap, store: (1.2 * column - gap) / 2, inset: 0 };
  return shapeOf(board, "south", false, layout, { ...(layout.rows > 1 ? picture_deep : picture), ...along });
}

function columnsOf(board: Board, { rows }: Layout): number {
  return Math.ceil(Math.max(board.south.pits.length, board.north.pits.length) / rows);
}

/** The pits as they are drawn, from the top and from the left. */
function rowsOf(spots: ReadonlyMap<string, Spot>): string[][] {
  const pits = [...spots.values()].filter(({ kind }) => kind === "pit");
  const heights = [...new Set(pits.map(({ y }) => y))].sort((a, b) => a - b);
  return heights.map((height) =>
    pits
      .filter(({ y }) => y === height)
      .sort((a, b) => a.x - b.x)
      .map(({ place }) => place),
  );
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
