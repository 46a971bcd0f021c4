// Boards and games for the tests, without a server.

import type { Board, Game, Side } from "@mancala-server/client";

type Row = Partial<Board[Side]> & { pits: number[] };

/** A board; North has what South has, unless it is said. */
export function board(south: Row, north: Row = { pits: south.pits, ...(south.reserve === undefined ? {} : { reserve: south.reserve }) }): Board {
  return { south: { store: 0, ...south }, north: { store: 0, ...north } } as Board;
}

/** A game that is over, as far as words tell of it. */
export function finished(result: Partial<NonNullable<Game["result"]>>, game: Partial<Game> = {}): Game {
  return {
    board: board({ pits: [0, 0, 0], store: 12 }),
    opponent: { type: "link" },
    me: null,
    result: { winner: null, score: { south: 12, north: 12 }, reason: "side_empty", ...result },
    ...game,
  } as Game;
}
