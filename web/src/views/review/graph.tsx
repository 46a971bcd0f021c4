// The course of a game as a curve: what each position is worth, or who leads where no engine has judged. A click jumps.

import { useMemo } from "preact/hooks";

import { useMatch } from "../../board/board.tsx";
import { t, word } from "../../texts/index.ts";
import * as css from "./graph.module.css";
import { signed } from "./numbers.ts";
import type { Judged, ReviewStore } from "./store.ts";

const [HEIGHT, MARGIN] = [150, 14];

/** Beside the curve stands what its height means. */
const LEFT = 50;

/** A narrow screen has a graph of its own measures, so that it is no less tall, and its text no smaller. */
const NARROW = "(max-width: 560px)";

/** The least that the graph's height stands for, in seeds, so that a close game looks close. */
const REACH_MIN = 8;

/** Classes that are marked, each with a shape of its own: colours alone tell not everybody apart. */
const MARKED = ["inaccuracy", "mistake", "blunder"];

interface Curve {
  /** What is drawn at each ply, from the point of view of the side at the bottom. */
  values: readonly (number | null)[];
  reach: number;
}

export function Graph({ store }: { store: ReviewStore }) {
  const WIDTH = useMatch(NARROW) ? 320 : 640;
  const [points, judged] = [store.points.value, store.judged.value];
  const [ply, last] = [store.ply.value, store.last.value];
  const own = store.bottom() === "south" ? 1 : -1;
  const isJudged = judged.size > 0;
  const curve = useMemo(() => {
    const leads = points.map(({ board }) => own * (board.south.store - board.north.store));
    return curveOf(isJudged ? points.map((_, n) => valueAt(judged, n, own)) : leads);
  }, [points, judged, own]);
  const x = (at: number) => LEFT + (at * (WIDTH - LEFT - MARGIN)) / Math.max(1, last);
  const y = (value: number) => HEIGHT / 2 - (value / curve.reach) * (HEIGHT / 2 - MARGIN);
  const jump = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = (((event.clientX - left) / width) * WIDTH - LEFT) / (WIDTH - LEFT - MARGIN);
    store.pause();
    store.go(Math.round(at * last));
  };
  const label = t(isJudged ? "review.graph-values" : "review.graph-leads");
  return (
    <figure class={css.graph}>
      {/* Time runs from left to right in every language, as in the move list's numbers. */}
      <svg
        dir="ltr"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={ply}
        aria-valuetext={inWords(store, curve, ply)}
        onPointerDown={jump}
        onPointerMove={(event) => event.buttons === 1 && jump(event)}
      >
        <rect class={css.ground} width={WIDTH} height={HEIGHT} rx="12" />
        <path class={css.zero} d={`M${LEFT} ${HEIGHT / 2}H${WIDTH - MARGIN}`} />
        <path class={css.area} d={areaOf(curve.values, x, y)} />
        <path class={css.curve} d={lineOf(curve.values, x, y)} />
        {[...judged.values()].map((each) => (
          <Mark key={each.ply} judged={each} x={x(each.ply)} y={y(curve.values[each.ply] ?? 0)} />
        ))}
        <path class={css.cursor} d={`M${x(ply)} 4V${HEIGHT - 4}`} />
        <circle class={css.cursor} cx={x(ply)} cy={y(curve.values[ply] ?? 0)} r="5" />
        <text class={css.reach} x={LEFT - 8} y={MARGIN + 6}>
          {signed(curve.reach)}
        </text>
        <text class={css.reach} x={LEFT - 8} y={HEIGHT - 9}>
          {signed(-curve.reach)}
        </text>
      </svg>
      <figcaption>
        {label} {t("review.graph-above", { name: store.nameOf(store.bottom()) })}
        {isJudged && <Legend />}
      </figcaption>
    </figure>
  );
}

function Legend() {
  return (
    <span class={css.legend}>
      {MARKED.map((each) => (
        <span key={each}>
          <svg viewBox="-7 -7 14 14" aria-hidden="true">
            <Shape kind={each} />
          </svg>
          {word("class", each)}
        </span>
      ))}
    </span>
  );
}

function Mark({ judged, x, y }: { judged: Judged; x: number; y: number }) {
  if (!MARKED.includes(judged.class)) return null;
  return (
    <g transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}>
      <Shape kind={judged.class} />
    </g>
  );
}

function Shape({ kind }: { kind: string }) {
  if (kind === "blunder") return <rect class={`${css.mark} ${css.blunder}`} x="-5" y="-5" width="10" height="10" />;
  if (kind === "mistake") return <circle class={`${css.mark} ${css.mistake}`} r="5" />;
  return <path class={`${css.mark} ${css.inaccuracy}`} d="M0-5 5 4H-5z" />;
}

/** The value after a ply; before the first judged one, that of the best move there. */
function valueAt(judged: ReadonlyMap<number, Judged>, ply: number, own: number): number | null {
  const here = judged.get(ply)?.value ?? judged.get(ply + 1)?.best_value;
  return here ? own * here.seeds : null;
}

function curveOf(values: readonly (number | null)[]): Curve {
  const most = values.reduce<number>((sum, value) => Math.max(sum, Math.abs(value ?? 0)), REACH_MIN);
  return { values, reach: Math.ceil(most) };
}

/** The curve, broken where nothing is known. */
function lineOf(values: Curve["values"], x: (at: number) => number, y: (value: number) => number): string {
  let isBroken = true;
  return values
    .map((value, n) => {
      const command = isBroken ? "M" : "L";
      isBroken = value === null;
      return value === null ? "" : `${command}${x(n).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join("");
}

function areaOf(values: Curve["values"], x: (at: number) => number, y: (value: number) => number): string {
  const known = values.flatMap((value, n) => (value === null ? [] : [`L${x(n).toFixed(1)} ${y(value).toFixed(1)}`]));
  const [first, final] = [values.findIndex((value) => value !== null), values.findLastIndex((value) => value !== null)];
  return known.length === 0 ? "" : `M${x(first).toFixed(1)} ${y(0)}${known.join("")}L${x(final).toFixed(1)} ${y(0)}z`;
}

function inWords(store: ReviewStore, { values }: Curve, ply: number): string {
  const value = values[ply] ?? null;
  const judged = store.judged.value.get(ply);
  const words = [t("review.ply-of", { ply, last: store.last.value })];
  if (value !== null) words.push(signed(value));
  if (judged) words.push(word("class", judged.class));
  return words.join(", ");
}
