// Moves that are tried from the opening: the server plays them, and nothing is stored.

import type { Side } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { endKey, marksOf, moveInWords } from "../../board/words.ts";
import { sayFailure } from "../../state/messages.ts";
import { Playback } from "../../state/playback.ts";
import { Previews } from "../../state/preview.ts";
import { type Store, useStore } from "../../state/store.ts";
import { t, word } from "../../texts/index.ts";
import { type Point, playLine, type Rules, type Tried } from "../review/line.ts";

export class Sandbox implements Store {
  readonly line = signal<Tried | null>(null);
  readonly failure = signal<unknown>(null);
  readonly told = signal("");
  readonly playback = new Playback();
  readonly previews = new Previews();
  readonly #ending = new AbortController();
  #isBusy = false;
  #shown: Promise<void> = Promise.resolve();

  /** `answering`: the side that answers with any of its moves. */
  constructor(
    readonly rules: Rules,
    readonly answering: Side | null = null,
  ) {}

  open(): void {
    void this.restart();
  }

  close(): void {
    this.#ending.abort();
  }

  /** The position that is shown. */
  now(): Point | null {
    const { value: line } = this.line;
    return line ? (line.points.at(-1) ?? line.start) : null;
  }

  /** Shows the opening. */
  async restart(): Promise<void> {
    this.failure.value = null;
    await this.#set([], (error) => (this.failure.value = error));
  }

  async back(): Promise<void> {
    await this.#set(this.#moves().slice(0, -1), sayFailure);
  }

  async play(move: string): Promise<void> {
    if (!this.now()?.legal.includes(move)) return;
    await this.#set([...this.#moves(), move], sayFailure);
    await this.#answer();
  }

  // The answer begins when the move before it has been shown.
  async #answer(): Promise<void> {
    if (this.answering === null) return;
    await this.#shown;
    const { turn, legal } = this.now() ?? {};
    const move = legal?.[Math.floor(Math.random() * legal.length)];
    if (turn === this.answering && move !== undefined && !this.#ending.signal.aborted) await this.play(move);
  }

  #moves(): string[] {
    return this.line.value?.points.flatMap(({ move }) => move ?? []) ?? [];
  }

  // The whole line is played each time: it is short, and a rule may look at what came before.
  async #set(moves: string[], fail: (error: unknown) => void): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const before = this.now();
    try {
      const line = await playLine(this.rules, null, moves, this.#ending.signal);
      const isNext = before !== null && moves.length > this.#moves().length;
      this.line.value = line;
      this.#show(isNext ? before : null);
    } catch (error) {
      if (!this.#ending.signal.aborted) fail(error);
    }
    this.#isBusy = false;
  }

  #show(before: Point | null): void {
    const point = this.now();
    if (!point) return;
    const ply = this.#moves().length;
    this.previews.shown.value = null;
    if (before) this.#shown = this.playback.play({ ply, effects: point.effects, board: point.board }, before.board);
    else this.playback.jump(point.board, ply, marksOf(point.effects));
    this.told.value = point.move !== null && point.side !== null ? moveInWords({ move: point.move, effects: point.effects }, t(`side.${point.side}`)) : "";
  }
}

/** A sandbox that lives as long as the view, and begins anew with other rules. */
export function useSandbox(rules: Rules, answering: Side | null = null): Sandbox {
  return useStore(() => new Sandbox(rules, answering), [JSON.stringify([rules.variant, rules.preset, rules.options])]);
}

/** How the line ended. */
export function endOf(sandbox: Sandbox): string {
  const [result, point] = [sandbox.line.value?.result, sandbox.now()];
  if (!result || !point) return t("illegal.game_over");
  const { south, north } = result.score;
  const reason = word("reason", result.reason ?? "unknown");
  if (result.winner === null) return t(endKey("game.drawn", point.board), { own: south, other: north, reason });
  const [own, other] = result.winner === "south" ? [south, north] : [north, south];
  return t(endKey("sandbox.won", point.board), { side: t(`side.${result.winner}`), own, other, reason });
}
