// The guide of the first game: five sentences, one after the other. It stands where offers stand, and moves nothing.

import type { Game } from "@mancala-server/client";
import { useState } from "preact/hooks";

import { set, settings } from "../state/settings.ts";
import { t } from "../texts/index.ts";
import * as css from "./offers.module.css";
import * as ui from "./ui.module.css";

const STEPS = 5;

export function Guide({ game }: { game: Game }) {
  const [step, setStep] = useState(1);
  if (settings.value.isGuided || game.status !== "active" || !game.me?.side || game.offers.length > 0) return null;
  const isLast = step === STEPS;
  const leave = () => set({ isGuided: true });
  const hasReserves = game.board.south.reserve !== undefined;
  const words = [t("guide.play"), t("guide.look"), t(hasReserves ? "guide.reserves" : "guide.stores"), t("guide.turn"), t("guide.more")];
  return (
    <section class={`${css.offers} ${css.guide}`} aria-label={t("guide.label")}>
      <p aria-live="polite">
        <span class={ui.quiet}>{t("guide.step", { step, steps: STEPS })}</span> {words[step - 1]}
      </p>
      <button type="button" class={ui.primary} onClick={isLast ? leave : () => setStep(step + 1)}>
        {t(isLast ? "guide.done" : "guide.next")}
      </button>
      {!isLast && (
        <button type="button" class={ui.plain} aria-label={t("guide.leave")} onClick={leave}>
          ×
        </button>
      )}
    </section>
  );
}
