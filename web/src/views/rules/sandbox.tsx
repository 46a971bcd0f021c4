// A board on which moves are tried: the server plays them, and nothing is stored.

import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { specialOf } from "../../board/actions.ts";
import { PlayBoard } from "../../board/play.tsx";
import { totalOf } from "../../board/seeds.ts";
import { endKey, marksOf, moveInWords, previewInWords } from "../../board/words.ts";
import { layoutOf } from "../../state/create.ts";
import { explain, sayFailure } from "../../state/messages.ts";
import { Playback } from "../../state/playback.ts";
import { Previews } from "../../state/preview.ts";
import { t, word } from "../../texts/index.ts";
import { playLine, type Point, type Rules, type Tried } from "../review/line.ts";

export class Sandbox {
  readonly line = signal<Tried | null>(null);
  readonly failure = signal<unknown>(null);
  readonly told = signal("");
  readonly playback = new Playback();
  readonly previews = new Previews();
  readonly #ending = new AbortController();
  #isBusy = false;

  constructor(readonly rules: Rules) {
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
    if (this.now()?.legal.includes(move)) await this.#set([...this.#moves(), move], sayFailure);
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
    if (before) void this.playback.play({ ply, effects: point.effects, board: point.board }, before.board);
    else this.playback.jump(point.board, ply, marksOf(point.effects));
    this.told.value = point.move !== null && point.side !== null ? moveInWords({ move: point.move, effects: point.effects }, t(`side.${point.side}`)) : "";
  }
}

/** A sandbox that lives as long as the view, and begins anew with other rules. */
export function useSandbox(rules: Rules): Sandbox {
  const key = JSON.stringify([rules.variant, rules.preset, rules.options]);
  const sandbox = useMemo(() => new Sandbox(rules), [key]);
  useEffect(() => () => sandbox.close(), [sandbox]);
  return sandbox;
}

export function SandboxBoard({ sandbox }: { sandbox: Sandbox }) {
  const [shown, failure, point] = [sandbox.playback.shown.value, sandbox.failure.value, sandbox.now()];
  if (failure !== null) {
    return (
      <p role="alert">
        {explain(failure)}{" "}
        <button type="button" onClick={() => void sandbox.restart()}>
          {t("study.again")}
        </button>
      </p>
    );
  }
  // The place of the board is kept until it arrives.
  if (!shown || !point) return <div class="board-place" />;
  const isMoving = sandbox.playback.isMoving.value;
  const preview = sandbox.previews.shown.value;
  const tried = { ...sandbox.rules, position: point.position, board: point.board };
  return (
    <>
      <PlayBoard
        board={shown.board}
        ply={shown.ply}
        bottom="south"
        layout={layoutOf(sandbox.rules.variant)}
        marks={shown.marks}
        hand={shown.hand}
        frameMs={shown.frameMs}
        total={totalOf(point.board)}
        moves={isMoving ? [] : point.legal}
        preview={preview && !isMoving ? marksOf(preview.effects) : null}
        onPlay={(move) => void sandbox.play(move)}
        onPointAt={(move) => sandbox.previews.point(tried, isMoving ? null : move)}
      />
      <p class="told preview">{preview ? previewInWords(preview) : point.turn ? t("game.turn-of-side", { side: t(`side.${point.turn}`) }) : endOf(sandbox)}</p>
      <p class="told" role="status" aria-live="polite" aria-atomic="true">
        {sandbox.told.value}
      </p>
      <SandboxButtons sandbox={sandbox} point={point} />
    </>
  );
}

function SandboxButtons({ sandbox, point }: { sandbox: Sandbox; point: Point }) {
  const special = point.board.pending ? [] : specialOf(point.legal);
  const isFirst = (sandbox.line.value?.points.length ?? 0) === 0;
  return (
    <div class="row">
      {special.map((move) => (
        <button key={move} type="button" onClick={() => void sandbox.play(move)}>
          {word("special", move)}
        </button>
      ))}
      <button type="button" aria-disabled={isFirst} onClick={() => isFirst || void sandbox.back()}>
        {t("sandbox.back")}
      </button>
      <button type="button" aria-disabled={isFirst} onClick={() => isFirst || void sandbox.restart()}>
        {t("sandbox.restart")}
      </button>
    </div>
  );
}

function endOf(sandbox: Sandbox): string {
  const [result, point] = [sandbox.line.value?.result, sandbox.now()];
  if (!result || !point) return t("illegal.game_over");
  const { south, north } = result.score;
  const reason = word("reason", result.reason ?? "unknown");
  if (result.winner === null) return t(endKey("game.drawn", point.board), { own: south, other: north, reason });
  const [own, other] = result.winner === "south" ? [south, north] : [north, south];
  return t(endKey("sandbox.won", point.board), { side: t(`side.${result.winner}`), own, other, reason });
}
