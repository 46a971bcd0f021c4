// The course of a game as a line: South's lead after each ply, by the engine where it has judged, and else by the stores.

import type { Move, Schemas } from "@mancala-server/client";

import { t } from "../texts/index.ts";

export interface GraphProps {
  moves: readonly Move[];
  judged: readonly Schemas["JudgedPly"][];
  ply: number;
  onGo(ply: number): void;
}

const [WIDTH, HEIGHT] = [640, 150];

/** Classes that are marked in the graph. */
const MARKED = ["inaccuracy", "mistake", "blunder"];

export function Graph({ moves, judged, ply, onGo }: GraphProps) {
  if (moves.length < 2) return null;
  const byPly = new Map(judged.map((each) => [each.ply, each]));
  const isJudged = judged.length > 0;
  const leads = moves.map((move) => byPly.get(move.ply)?.value.seeds ?? (isJudged ? null : (move.board?.south.store ?? 0) - (move.board?.north.store ?? 0)));
  const most = Math.max(4, ...leads.map((lead) => Math.abs(lead ?? 0)));
  const x = (n: number) => (WIDTH * n) / moves.length;
  const y = (lead: number) => HEIGHT / 2 - (lead / most) * (HEIGHT / 2 - 10);
  const points = leads.flatMap((lead, n) => (lead === null ? [] : [`${x(n + 1).toFixed(1)},${y(lead).toFixed(1)}`]));
  const go = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    onGo(Math.round(((event.clientX - box.left) / box.width) * moves.length));
  };
  return (
    <figure class="graph">
      {/* The same is done by the slider below, which the keyboard reaches. */}
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={t(isJudged ? "review.graph-judged" : "review.graph")} onClick={go}>
        <path class="zero" d={`M0 ${HEIGHT / 2}H${WIDTH}`} />
        <polygon class="area" points={`0,${HEIGHT / 2} ${points.join(" ")} ${WIDTH},${HEIGHT / 2}`} />
        <polyline class="line" points={`0,${HEIGHT / 2} ${points.join(" ")}`} />
        {judged
          .filter((each) => MARKED.includes(each.class))
          .map((each) => (
            <circle key={each.ply} class={`dot ${each.class}`} cx={x(each.ply)} cy={y(each.value.seeds)} r="5" />
          ))}
        <path class="here" d={`M${x(ply)} 0V${HEIGHT}`} />
      </svg>
      <figcaption>
        <span>{t("review.graph-up")}</span>
        <span>{t("review.graph-down")}</span>
      </figcaption>
    </figure>
  );
}
