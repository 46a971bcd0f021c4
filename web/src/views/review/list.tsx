// The moves of a game as a listbox: one option for each ply, with what the engine thinks of it.

import { useComputed } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { nameOf } from "../../board/words.ts";
import * as ui from "../../parts/ui.module.css";
import { language, t, word } from "../../texts/index.ts";
import type { Point } from "./line.ts";
import { plain } from "./numbers.ts";
import * as css from "./plies.module.css";
import type { Judged, ReviewStore } from "./store.ts";

/** As in books on chess. */
const SIGNS: Record<string, string> = { inaccuracy: "?!", mistake: "?", blunder: "??" };

/** What `PageUp` and `PageDown` jump. */
const PAGE = 10;

export function PlyList({ store }: { store: ReviewStore }) {
  const list = useRef<HTMLOListElement>(null);
  const [points, judged, notes] = [store.points.value, store.judged.value, store.notes.texts.value];
  const { value: ply } = store.ply;
  // A step changes two options of perhaps 2,000; the others are not drawn again.
  const options = useMemo(
    () => points.map((point, n) => <Ply key={n} ply={n} point={point} judged={judged.get(n)} hasNote={notes.has(n)} store={store} />),
    [points, judged, notes, language.value, store],
  );
  useEffect(() => reveal(list.current, ply), [ply, points.length]);
  const onKeyDown = (event: KeyboardEvent) => {
    const to = target(event.key, ply, store.last.value);
    if (to === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    store.pause();
    store.go(to);
  };
  return (
    <ol ref={list} class={css.plies} role="listbox" tabIndex={0} aria-label={t("review.moves")} aria-activedescendant={`ply-${ply}`} onKeyDown={onKeyDown}>
      {options}
    </ol>
  );
}

interface PlyProps {
  ply: number;
  point: Point;
  judged: Judged | undefined;
  hasNote: boolean;
  store: ReviewStore;
}

function Ply({ ply, point, judged, hasNote, store }: PlyProps) {
  const isShown = useComputed(() => (store.ply.value === ply ? "true" : "false"));
  const sign = judged && SIGNS[judged.class];
  return (
    <li
      id={`ply-${ply}`}
      role="option"
      aria-selected={isShown}
      class={point.side === "north" ? css.north : undefined}
      onClick={() => {
        store.pause();
        store.go(ply);
      }}
    >
      <span class={css.number}>{ply}</span>
      {point.side !== null && <span class={ui.unseen}>{store.nameOf(point.side, point)}</span>}
      <span class={css.move}>{moveOf(point)}</span>
      {sign && (
        <span class={css.sign} aria-hidden="true">
          {sign}
        </span>
      )}
      {hasNote && <span aria-hidden="true">✎</span>}
      <span class={ui.unseen}>{besides(judged, hasNote)}</span>
    </li>
  );
}

/** A move as it is written: the letter of its pit, or a word. */
export function moveOf(point: Pick<Point, "move">): string {
  if (point.move === null) return t("review.start");
  return nameOf(point.move);
}

/** What the signs beside a move say, in words. */
function besides(judged: Judged | undefined, hasNote: boolean): string {
  const words = judged ? [word("class", judged.class)] : [];
  if (judged && judged.loss > 0) words.push(t("review.loses", { loss: plain(judged.loss) }));
  if (hasNote) words.push(t("review.has-note"));
  return words.join(", ");
}

function target(key: string, ply: number, last: number): number | null {
  switch (key) {
    case "ArrowUp":
    case "ArrowLeft":
      return ply - 1;
    case "ArrowDown":
    case "ArrowRight":
      return ply + 1;
    case "PageUp":
      return ply - PAGE;
    case "PageDown":
      return ply + PAGE;
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

/** Scrolls the list, and only the list: the page stays where it is. */
function reveal(list: HTMLElement | null, ply: number): void {
  const option = list?.querySelector<HTMLElement>(`#ply-${ply}`);
  if (!list || !option) return;
  const top = option.offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top - 8;
  else if (top + option.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + option.offsetHeight - list.clientHeight + 8;
}
