// What a move would do. The page knows no rules, so it asks the server, once for each move, and works without the answer.

import type { Board, Effect, Game, Schemas } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { client } from "../client.ts";

/** A move of a line, with what follows from it. */
export type Line = Schemas["LineMove"];

/** What is needed of a game to try moves in it. */
export type Tried = Pick<Game, "variant" | "preset" | "options"> & { position: string; board: Board };

/** Answers that are kept, for positions of the game at hand. */
const KEPT_MAX = 200;

/** A pointer that only passes over a pit asks for nothing. */
const DELAY_MS = 80;

export class Previews {
  /** The preview that is shown. */
  readonly shown = signal<{ move: string; effects: readonly Effect[] } | null>(null);
  readonly #kept = new Map<string, Line>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts what was pointed at: an answer that comes later than the next wish is not shown. */
  #wishes = 0;

  /** What is known of a move in a position, without asking. */
  known(position: string, move: string): Line | undefined {
    return this.#kept.get(`${position} ${move}`);
  }

  /** Shows where a move leads, as soon as that is known; null hides it. */
  point(game: Tried, move: string | null): void {
    clearTimeout(this.#timer);
    this.#wishes += 1;
    const known = move === null ? undefined : this.known(game.position, move);
    this.shown.value = known ?? null;
    if (move === null || known) return;
    this.#timer = setTimeout(() => void this.#ask(game, move), DELAY_MS);
  }

  /** Why a move cannot be played, in the server's word; null if that is not known. */
  async whyNot({ position, variant, preset, options }: Tried, move: string): Promise<string | null> {
    const { error } = await client.api.POST("/v1/variants/{variant}/play", {
      params: { path: { variant } },
      body: { preset, options, position, moves: [move] },
    });
    return error?.code === "illegal_move" ? (error.reason ?? null) : null;
  }

  async #ask(game: Tried, move: string): Promise<void> {
    const { position, variant, preset } = game;
    const wish = this.#wishes;
    try {
      const { data } = await client.api.POST("/v1/variants/{variant}/play", {
        params: { path: { variant } },
        body: { preset, options: game.options, position, moves: [move] },
      });
      const line = data?.moves[0];
      if (!line) return;
      if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
      this.#kept.set(`${position} ${move}`, line);
      if (wish === this.#wishes) this.shown.value = line;
    } catch {
      // A preview is no reason to disturb.
    }
  }
}
