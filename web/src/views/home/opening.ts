// The openings of the games that the page knows. They are there before the server answers, whose answer takes their place; a test compares both.

import type { Board } from "@mancala-server/client";

const even = (pits: number, seeds: number): Board => both({ pits: Array<number>(pits).fill(seeds), store: 0 });
const both = (side: Board["south"]): Board => ({ south: side, north: side });

/** The board of the first paint. */
export const OPENING = even(6, 4);

export const OPENINGS: Readonly<Record<string, Board>> = {
  kalah: OPENING,
  oware: OPENING,
  congkak: even(7, 7),
  bao: both({ pits: [0, 0, 0, 0, 6, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0], store: 0, reserve: 22, house: true }),
  omweso: both({ pits: [0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4], store: 0, reserve: 0 }),
  toguz_kumalak: even(9, 9),
  bestemshe: even(5, 5),
};
