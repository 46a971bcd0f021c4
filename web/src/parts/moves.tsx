// The moves of a game, turn by turn. They are read when the list is opened.

import type { Game, Move } from "@mancala-server/client";
import { useEffect, useState } from "preact/hooks";

import { moveInWords, nameOf } from "../board/words.ts";
import { client, SOON } from "../client.ts";
import type { GameStore } from "../state/game.ts";
import { attempt } from "../state/messages.ts";
import { t } from "../texts/index.ts";
import * as css from "./moves.module.css";
import * as ui from "./ui.module.css";

/** A game may have 2,000 plies; the list shows the last of them. */
const SHOWN_MAX = 300;

export function MoveList({ store, game }: { store: GameStore; game: Game }) {
  const [isOpen, setOpen] = useState(false);
  const [moves, setMoves] = useState<readonly Move[]>([]);
  useEffect(() => {
    if (!isOpen || game.ply === 0) return;
    const ending = new AbortController();
    void attempt(() => readMoves(game, moves, ending.signal).then(setMoves));
    return () => ending.abort();
  }, [isOpen, game.ply]);
  if (game.ply === 0) return null;
  return (
    <details class={`${ui.card} ${css.moves}`} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("moves.title", { count: game.ply })}</summary>
      <ol>
        {turnsOf(moves).map((turn) => (
          <li key={turn[0]?.ply} class={turn[0]?.side === "north" ? css.north : undefined}>
            {turn.map((move) => (
              <span key={move.ply} title={moveInWords(move, store.nameOf(move.side))}>
                {nameOf(move.move)}
              </span>
            ))}
          </li>
        ))}
      </ol>
    </details>
  );
}

async function readMoves(game: Game, known: readonly Move[], signal: AbortSignal): Promise<Move[]> {
  const after = Math.max(known.at(-1)?.ply ?? 0, game.ply - SHOWN_MAX);
  const moves = [...known];
  for await (const move of client.games.moves(game.id, { ...SOON, after, limit: 100, signal })) moves.push(move);
  return moves.slice(-SHOWN_MAX);
}

/** Consecutive moves of one side are one turn. */
function turnsOf(moves: readonly Move[]): Move[][] {
  const turns: Move[][] = [];
  for (const move of moves) {
    const last = turns.at(-1);
    if (last?.[0]?.side === move.side) last.push(move);
    else turns.push([move]);
  }
  return turns;
}
