// The buttons that step through a game, and the keys that do the same anywhere on the page.

import { useEffect } from "preact/hooks";

import { t } from "../../texts/index.ts";
import * as css from "./review.module.css";
import type { ReviewStore } from "./store.ts";

export function Steps({ store }: { store: ReviewStore }) {
  const { value: tried } = store.variation;
  const [ply, last, isPlaying] = [store.ply.value, store.last.value, store.isPlaying.value];
  const isFirst = ply === 0 && !tried;
  const isLast = tried ? tried.at >= tried.points.length : ply >= last;
  const step = (go: () => void) => () => {
    store.pause();
    go();
  };
  return (
    <div class={css.steps} role="toolbar" aria-label={t("review.steps")} dir="ltr">
      <Step label={t("review.first")} sign="M6 5v14M18 6l-8 6 8 6z" isOff={isFirst} run={step(() => store.go(0))} />
      <Step label={t("review.back")} sign="M16 6l-8 6 8 6z" isOff={isFirst} run={step(() => store.back())} />
      <Step
        label={t(isPlaying ? "review.pause" : "review.play")}
        sign={isPlaying ? "M8 6v12M16 6v12" : "M8 5l11 7-11 7z"}
        isOff={last === 0 && !tried}
        run={() => (isPlaying ? store.pause() : store.play())}
      />
      <Step label={t("review.forward")} sign="M8 6l8 6-8 6z" isOff={isLast} run={step(() => store.forward())} />
      <Step label={t("review.last")} sign="M18 5v14M6 6l8 6-8 6z" isOff={ply >= last && !tried} run={step(() => store.go(last))} />
    </div>
  );
}

interface StepProps {
  label: string;
  sign: string;
  isOff: boolean;
  run(): void;
}

// A button that has nothing to do stays focusable, so that the focus is not lost at the last step.
function Step({ label, sign, isOff, run }: StepProps) {
  return (
    <button type="button" aria-label={label} title={label} aria-disabled={isOff} onClick={() => !isOff && run()}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={sign} />
      </svg>
    </button>
  );
}

/** Keys of what has keys of its own: fields, lists, the board. */
const OWN_KEYS = "input, textarea, select, summary, dialog, [data-ply], [role=listbox]";

/** Arrow keys step, Home and End jump, wherever the focus is; the blank plays and pauses where it presses no button. */
export function useStepKeys(store: ReviewStore): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const target = event.target instanceof Element ? event.target : null;
      if (target?.closest(OWN_KEYS)) return;
      const run = actionOf(store, event.key, target);
      if (!run) return;
      event.preventDefault();
      if (event.key !== " ") store.pause();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [store]);
}

function actionOf(store: ReviewStore, key: string, target: Element | null): (() => void) | null {
  switch (key) {
    case "ArrowLeft":
      return () => store.back();
    case "ArrowRight":
      return () => store.forward();
    case "Home":
      return () => store.go(0);
    case "End":
      return () => store.go(store.last.value);
    case " ":
      return target?.closest("a, button") ? null : () => (store.isPlaying.value ? store.pause() : store.play());
    default:
      return null;
  }
}
