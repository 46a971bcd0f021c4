// A board that answers the first touch. The server plays its moves without a player, so a visitor needs no account to try.

import { specialOf } from "../../board/actions.ts";
import { NO_MARKS } from "../../board/board.tsx";
import { PlayBoard } from "../../board/play.tsx";
import { totalOf } from "../../board/seeds.ts";
import { marksOf, previewInWords } from "../../board/words.ts";
import * as ui from "../../parts/ui.module.css";
import { Action } from "../../parts/ui.tsx";
import { begin, layoutOf, titleOf } from "../../state/create.ts";
import { explain } from "../../state/messages.ts";
import type { Shown } from "../../state/playback.ts";
import { settings } from "../../state/settings.ts";
import { t, word } from "../../texts/index.ts";
import { endOf, type Sandbox, useSandbox } from "../rules/sandbox-store.ts";
import * as css from "./home.module.css";
import { OPENING } from "./opening.ts";

/** The variant whose opening is known before the server has answered. */
const FIRST = "kalah";

const AT_FIRST: Shown = { board: OPENING, ply: 0, marks: NO_MARKS, hand: null, frameMs: 0 };

export function TryBoard({ variant }: { variant: string }) {
  const sandbox = useSandbox({ variant, preset: "standard", options: {} }, "north");
  const point = sandbox.now();
  const { value: failure } = sandbox.failure;
  const isBegun = (sandbox.line.value?.points.length ?? 0) > 0;
  return (
    <section class={`${ui.card} ${css.trial}`} aria-labelledby="try-title">
      <h2 id="try-title" class={ui.unseen}>
        {t("home.try", { variant: titleOf(variant) })}
      </h2>
      <TryTable sandbox={sandbox} />
      <p class={css.line} role="status" aria-atomic="true">
        {failure === null ? lineOf(sandbox) : explain(failure)}
      </p>
      <div class={`${ui.row} ${css.below}`}>
        {failure !== null && (
          <button type="button" onClick={() => void sandbox.restart()}>
            {t("study.again")}
          </button>
        )}
        {isBegun && point?.turn === "south" && (
          <Action kind="primary" run={() => goOn(sandbox, point.position)}>
            {t("home.try-go-on")}
          </Action>
        )}
        {isBegun && (
          <button type="button" onClick={() => void sandbox.restart()}>
            {t("sandbox.restart")}
          </button>
        )}
        {!isBegun && <small>{t("home.try-note")}</small>}
        <a href={`/rules/${variant}`} aria-label={t("rules.title-of", { variant: titleOf(variant) })}>
          {t("nav.rules")}
        </a>
      </div>
    </section>
  );
}

/** A game against the computer from the position that was reached. */
function goOn({ rules }: Sandbox, position: string): Promise<void> {
  const { level, practice } = settings.value;
  return begin({ variant: rules.variant, side: "south", start: { position }, opponent: { type: "computer", level }, ...(practice && { practice }) });
}

function TryTable({ sandbox }: { sandbox: Sandbox }) {
  const { variant } = sandbox.rules;
  const { board, ply, marks, hand, frameMs } = sandbox.playback.shown.value ?? AT_FIRST;
  const point = sandbox.now();
  if (!point && variant !== FIRST) return <div class={css.table} />;
  const isOpen = point?.turn === "south" && !sandbox.playback.isMoving.value;
  const preview = isOpen ? sandbox.previews.shown.value : null;
  const special = isOpen && !point.board.pending ? specialOf(point.legal) : [];
  return (
    <div class={css.table}>
      <PlayBoard
        isLying
        board={board}
        ply={ply}
        bottom="south"
        layout={layoutOf(variant)}
        marks={marks}
        hand={hand}
        frameMs={frameMs}
        total={totalOf(point?.board ?? board)}
        moves={isOpen ? point.legal : []}
        preview={preview ? marksOf(preview.effects) : null}
        onPlay={(move) => void sandbox.play(move)}
        onPointAt={(move) => point && sandbox.previews.point({ ...sandbox.rules, position: point.position, board: point.board }, isOpen ? move : null)}
      />
      {special.map((move) => (
        <button key={move} type="button" onClick={() => void sandbox.play(move)}>
          {word("special", move)}
        </button>
      ))}
    </div>
  );
}

/** What goes on, and what may be done. */
function lineOf(sandbox: Sandbox): string {
  const point = sandbox.now();
  if (!point || point.move === null) return t("home.try-first");
  if (point.turn === null) return endOf(sandbox);
  const preview = sandbox.previews.shown.value;
  if (preview && point.turn === "south") return previewInWords(preview);
  return `${sandbox.told.value} ${t(point.turn === "south" ? "game.your-turn" : "home.try-answer")}`;
}
