// A board on which moves are tried.

import { specialOf } from "../../board/actions.ts";
import { PlayBoard } from "../../board/play.tsx";
import { totalOf } from "../../board/seeds.ts";
import { marksOf, previewInWords } from "../../board/words.ts";
import * as ui from "../../parts/ui.module.css";
import { layoutOf } from "../../state/create.ts";
import { explain } from "../../state/messages.ts";
import { t, word } from "../../texts/index.ts";
import type { Point } from "../review/line.ts";
import * as css from "../study.module.css";
import { endOf, type Sandbox } from "./sandbox-store.ts";

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
  if (!shown || !point) return <div class={css.boardPlace} />;
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
      <p class={`${ui.told} ${css.said}`}>
        {preview ? previewInWords(preview) : point.turn ? t("game.turn-of-side", { side: t(`side.${point.turn}`) }) : endOf(sandbox)}
      </p>
      <p class={`${ui.told} ${css.said}`} role="status" aria-live="polite" aria-atomic="true">
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
    <div class={ui.row}>
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
