// What was played in a position in other games, beside the board.

import type { Schemas } from "@mancala-server/client";
import { useEffect, useState } from "preact/hooks";

import { nameOf } from "../../board/words.ts";
import { client } from "../../client.ts";
import * as ui from "../../parts/ui.module.css";
import { ask } from "../../state/ask.ts";
import { explain } from "../../state/messages.ts";
import { t } from "../../texts/index.ts";
import * as study from "../study.module.css";
import * as css from "./explorer.module.css";
import { optionsText, type Rules } from "./line.ts";
import { signed } from "./numbers.ts";

type Explored = Schemas["ExploredPosition"];
type ExploredMove = Schemas["ExploredMove"];

/** Who only passes by asks for nothing. */
const DELAY_MS = 250;

/** Answers that are kept while the panel is open. */
const KEPT_MAX = 300;

export interface ExplorerProps {
  rules: Rules;
  position: string;
  /** Whether the moves can be played from here. */
  onMove(move: string): void;
}

export function ExplorerPanel(props: ExplorerProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class={ui.card} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("explorer.title")}</summary>
      {isOpen && <Explorer {...props} />}
    </details>
  );
}

export function Explorer({ rules, position, onMove }: ExplorerProps) {
  const [kept] = useState(() => new Map<string, Explored>());
  const [, redraw] = useState(0);
  const [failure, setFailure] = useState<{ position: string; error: unknown } | null>(null);
  useEffect(() => {
    if (kept.has(position)) return;
    const ending = new AbortController();
    const timer = setTimeout(() => {
      read(rules, position, ending.signal).then(
        (found) => {
          if (kept.size >= KEPT_MAX) kept.clear();
          kept.set(position, found);
          redraw((times) => times + 1);
        },
        (error: unknown) => ending.signal.aborted || setFailure({ position, error }),
      );
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [position]);
  const found = kept.get(position);
  if (!found) return <p class={`${ui.quiet} ${css.explored}`}>{failure?.position === position ? explain(failure.error) : t("ui.loading")}</p>;
  if (found.games === 0) return <p class={`${ui.quiet} ${css.explored}`}>{t("explorer.none")}</p>;
  return <Found found={found} onMove={onMove} />;
}

function Found({ found, onMove }: { found: Explored; onMove: ExplorerProps["onMove"] }) {
  return (
    <div class={`${css.explored} ${study.scroll}`} tabIndex={0} role="group" aria-label={t("explorer.title")}>
      <p class={ui.quiet}>{t("explorer.games", { count: found.games })}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("explorer.move")}</th>
            <th scope="col">{t("explorer.played")}</th>
            <th scope="col">{t("explorer.results")}</th>
            <th scope="col">{t("explorer.margin")}</th>
          </tr>
        </thead>
        <tbody>
          {found.moves.map((move) => (
            <tr key={move.move}>
              <th scope="row">
                <button type="button" class={ui.plain} onClick={() => onMove(move.move)} aria-label={t("explorer.try", { move: nameOf(move.move) })}>
                  {nameOf(move.move)}
                </button>
              </th>
              <td>{move.games}</td>
              <td>
                <Results move={move} />
              </td>
              <td>{move.average_margin === null ? "–" : signed(move.average_margin)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** South's wins, draws and North's wins as a bar, and in numbers for a screen reader. */
function Results({ move: { games, south, draws, north } }: { move: ExploredMove }) {
  if (games === 0) return <>–</>;
  const label = t("explorer.results-of", { south, draws, north });
  return (
    <svg class={css.results} dir="ltr" viewBox={`0 0 ${games} 1`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect class={css.south} width={south} height="1" />
      <rect class={css.draws} x={south} width={draws} height="1" />
      <rect class={css.north} x={south + draws} width={north} height="1" />
    </svg>
  );
}

function read(rules: Rules, position: string, signal: AbortSignal): Promise<Explored> {
  const { variant, preset } = rules;
  const query = { variant, preset, options: optionsText(rules.options), position };
  return ask(client.api.GET("/v1/explorer", { params: { query }, signal }));
}
