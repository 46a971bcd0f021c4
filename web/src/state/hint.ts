// A hint: the move that the engine would play, and what it is worth. It is asked for, and goes with the next move.

import { MancalaError, type Schemas } from "@mancala-server/client";
import { computed, signal } from "@preact/signals";

import { client } from "../client.ts";
import { ask } from "./ask.ts";

export type Hint = Schemas["Hint"];

/** A busy server takes longer than usual. After this the player is told, and may ask again. */
const PATIENCE_MS = 15_000;

export class Hints {
  readonly found = signal<Hint | null>(null);
  readonly #asking = signal<AbortController | null>(null);
  readonly isAsking = computed(() => this.#asking.value !== null);

  /** Asks for a hint. While one is under way, nothing is asked; one that is dropped fails with an `AbortError`. */
  async ask(id: string): Promise<void> {
    if (this.isAsking.value) return;
    const asking = new AbortController();
    this.#asking.value = asking;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      asking.abort();
    }, PATIENCE_MS);
    try {
      const hint = await ask(client.api.GET("/v1/games/{id}/hint", { params: { path: { id } }, signal: asking.signal }));
      if (this.#asking.value === asking) this.found.value = hint;
    } catch (cause) {
      if (isLate) throw new MancalaError({ code: "no_answer", detail: "the hint took too long", cause }, 0, undefined);
      throw cause;
    } finally {
      clearTimeout(timer);
      if (this.#asking.value === asking) this.#asking.value = null;
    }
  }

  /** Forgets the hint, and ends the search for one. */
  drop(): void {
    this.found.value = null;
    this.#asking.value?.abort();
    this.#asking.value = null;
  }
}
