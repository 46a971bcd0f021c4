// What the board shows while moves are played back: one frame after the other, in the order of the moves.

import { type Board, type Effect, frames, sameBoard } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { type Marks, NO_MARKS } from "../board/board.tsx";
import { knock } from "../board/sound.ts";
import { marksOf } from "../board/words.ts";
import { stepMs } from "./settings.ts";

/** What is drawn now. */
export interface Shown {
  board: Board;
  /** The ply after which this is the board. */
  ply: number;
  marks: Marks;
  /** Where the hand is while it sows. */
  hand: string | null;
  /** How long seeds glide to their places. */
  frameMs: number;
}

/** A move with the board after it. */
export interface Playable {
  ply: number;
  effects: readonly Effect[];
  board?: Board;
}

/** Even the longest move ends after some seconds. */
const MOVE_MS_MAX = 6000;

/** A device that draws a move this slowly shows its end at once. */
const LATE_MS = 9000;

export class Playback {
  readonly shown = signal<Shown | null>(null);
  readonly isMoving = signal(false);
  #generation = 0;
  #isSkipped = false;

  /** Shows a board at once; what is being played back ends. */
  jump(board: Board, ply: number, marks: Marks = NO_MARKS): void {
    this.#generation += 1;
    this.isMoving.value = false;
    const { value } = this.shown;
    if (value?.ply === ply && value.hand === heldAt(board) && sameBoard(value.board, board)) return;
    this.shown.value = { board, ply, marks, hand: heldAt(board), frameMs: stepMs() };
  }

  /** Shows the end of the move that is played. */
  skip(): void {
    this.#isSkipped = true;
  }

  /** Plays a move from the board that is shown. Ends early if another board is shown meanwhile. */
  async play(move: Playable, before: Board): Promise<void> {
    this.#generation += 1;
    const mine = this.#generation;
    this.#isSkipped = false;
    const marks = marksOf(move.effects);
    const steps = frames(move.effects, before, move.board).filter(({ changed }) => changed.length > 0);
    const final = move.board ?? steps.at(-1)?.board ?? before;
    const ms = Math.min(stepMs(), MOVE_MS_MAX / Math.max(1, steps.length));
    if (ms > 0 && document.visibilityState === "visible") {
      this.isMoving.value = true;
      const begun = performance.now();
      for (const { board, effect, hand } of steps) {
        const at = effect.type === "sow" ? effect.to : (effect.pit ?? effect.from?.[0]);
        const shown = { board, ply: move.ply - 1, marks: { ...NO_MARKS, from: marks.from }, frameMs: ms };
        this.shown.value = { ...shown, hand: hand > 0 ? (at ?? null) : null };
        if (effect.type === "sow") knock("sow");
        else if (["capture", "take"].includes(effect.type)) knock("capture");
        await new Promise((resolve) => setTimeout(resolve, effect.type === "sow" ? ms : ms * 1.6));
        if (mine !== this.#generation) return;
        if (this.#isSkipped || performance.now() - begun > LATE_MS) break;
      }
    }
    this.isMoving.value = false;
    this.shown.value = { board: final, ply: move.ply, marks, hand: heldAt(final), frameMs: ms };
  }
}

/** Where a choice inside a turn leaves seeds in the hand. */
function heldAt({ pending }: Board): string | null {
  return pending && pending.seeds > 0 ? pending.pit : null;
}
