// What the engine says: how exactly each side played, what the shown move was worth, and what would have been better.

import type { AnalysisStatus, Schemas } from "@mancala-server/client";

import { nameOf } from "../../board/words.ts";
import * as ui from "../../parts/ui.module.css";
import { Action } from "../../parts/ui.tsx";
import { isAlone } from "../../state/create.ts";
import { t, word } from "../../texts/index.ts";
import * as study from "../study.module.css";
import { plain, signed } from "./numbers.ts";
import * as css from "./review.module.css";
import type { Judged, ReviewStore } from "./store.ts";

const COLOURS: Readonly<Partial<Record<Judged["class"], string>>> = { best: css.good, good: css.good, mistake: css.bad, blunder: css.bad };

const CLASSES = ["best", "good", "inaccuracy", "mistake", "blunder", "forced"] as const;

export function Analysis({ store }: { store: ReviewStore }) {
  const { value: status } = store.analysis;
  return (
    <section class={ui.card} aria-labelledby="analysis-title">
      <h2 id="analysis-title">{t("review.analysis")}</h2>
      {status?.analysis ? <Findings store={store} analysis={status.analysis} /> : <Request store={store} status={status} />}
      {status?.analysis && isOutdated(store, status.analysis) && <AnalyseButton store={store} />}
    </section>
  );
}

/** A game with oneself may have gone on since it was judged. */
function isOutdated(store: ReviewStore, analysis: Schemas["Analysis"]): boolean {
  return store.analysis.value?.status === "done" && analysis.ply < (store.game.value?.ply ?? 0);
}

function Request({ store, status }: { store: ReviewStore; status: AnalysisStatus | null }) {
  const { value: game } = store.game;
  if (status?.status === "queued") return <p role="status">{t("review.queued", { count: status.ahead })}</p>;
  if (status?.status === "running") {
    return (
      <p role="status">
        {t("review.running", { done: status.plies_done, plies: status.plies })}{" "}
        <progress max={Math.max(1, status.plies)} value={status.plies_done} aria-label={t("review.progress")} />
      </p>
    );
  }
  if (game && ["open", "active"].includes(game.status) && !isAlone(game)) return <p class={ui.quiet}>{t("review.not-yet")}</p>;
  if (game?.ply === 0) return <p class={ui.quiet}>{t("review.no-moves")}</p>;
  return (
    <>
      <p>{t(status?.status === "failed" ? "review.failed" : "review.request")}</p>
      <AnalyseButton store={store} />
    </>
  );
}

function AnalyseButton({ store }: { store: ReviewStore }) {
  return (
    <Action kind="primary" run={() => store.analyse()}>
      {t("review.analyse")}
    </Action>
  );
}

function Findings({ store, analysis }: { store: ReviewStore; analysis: Schemas["Analysis"] }) {
  const sides = ["south", "north"] as const;
  return (
    <>
      <Verdict store={store} />
      <div class={study.scroll} tabIndex={0} role="group" aria-label={t("review.classes")}>
        <table class={css.classes}>
          <caption>{t("review.classes")}</caption>
          <thead>
            <tr>
              <td />
              {sides.map((side) => (
                <th key={side} scope="col">
                  <bdi>{store.nameOf(side, null)}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{t("review.accuracy")}</th>
              {sides.map((side) => (
                <td key={side}>{analysis.sides[side].accuracy === null ? "–" : `${plain(analysis.sides[side].accuracy)} %`}</td>
              ))}
            </tr>
            {CLASSES.map((each) => (
              <tr key={each}>
                <th scope="row">{t(`class.${each}`)}</th>
                {sides.map((side) => (
                  <td key={side}>{analysis.sides[side].classes[each]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The move that is shown, and the engine's line in its place. */
function Verdict({ store }: { store: ReviewStore }) {
  const ply = store.judgedPly.value;
  const judged = store.judged.value.get(ply);
  if (!judged) return <p class={`${css.verdict} ${ui.quiet}`}>{t(ply === 0 ? "review.step-to-see" : "review.not-judged")}</p>;
  const value = valueInWords(store, judged);
  return (
    <div class={css.verdict}>
      <p>
        <strong class={COLOURS[judged.class]}>
          {nameOf(judged.move)}: {word("class", judged.class)}
        </strong>
        {judged.loss > 0 && ` – ${t("review.loses", { loss: plain(judged.loss) })}`}. {value}
      </p>
      {judged.best_line.length > 0 && (
        <p>
          <span id="best-title">{t("review.best-line")}</span>{" "}
          <span class={`${ui.row} ${css.line}`} role="group" aria-labelledby="best-title" dir="ltr">
            {judged.best_line.map((move, n) => (
              <button
                key={n}
                type="button"
                aria-label={t("review.best-step", { step: n + 1, move: nameOf(move) })}
                onClick={() => void store.showBest(judged, n + 1)}
              >
                {nameOf(move)}
              </button>
            ))}
          </span>
        </p>
      )}
    </div>
  );
}

function valueInWords(store: ReviewStore, { value }: Judged): string {
  const own = store.bottom() === "south" ? 1 : -1;
  const seeds = own * value.seeds;
  const values = { value: signed(seeds), name: store.nameOf(store.bottom()) };
  return t(value.is_exact ? "review.value-exact" : "review.value-estimate", values);
}
