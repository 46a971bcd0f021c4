// The opening board of the rules that are filled in, as the server plays them.

import { useEffect, useState } from "preact/hooks";

import { Board } from "../../board/board.tsx";
import { cx } from "../../cx.ts";
import * as ui from "../../parts/ui.module.css";
import { layoutOf } from "../../state/create.ts";
import { explain } from "../../state/messages.ts";
import { t } from "../../texts/index.ts";
import { playLine, type Rules, type Tried } from "../review/line.ts";
import * as study from "../study.module.css";
import * as css from "./new-game.module.css";

/** A number that is still being typed asks for nothing. */
const DELAY_MS = 250;

export function Preview({ rules, isValid }: { rules: Rules; isValid: boolean }) {
  const [line, setLine] = useState<Tried | null>(null);
  const [error, setError] = useState<unknown>(null);
  const key = JSON.stringify([rules, isValid]);
  useEffect(() => {
    if (!isValid) return;
    const ending = new AbortController();
    const timer = setTimeout(
      () => {
        playLine(rules, null, [], ending.signal).then(
          (found) => {
            setLine(found);
            setError(null);
          },
          (failure: unknown) => ending.signal.aborted || setError(failure),
        );
      },
      line ? DELAY_MS : 0,
    );
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [key]);
  return (
    <figure class={cx(study.openingBoard, !isValid && css.stale)}>
      {line ? <Board board={line.start.board} bottom="south" layout={layoutOf(rules.variant)} /> : <div class={study.boardPlace} />}
      <figcaption>
        <span role="status" class={error !== null || line?.result ? css.error : ui.quiet}>
          {error !== null ? explain(error) : line?.result ? t("new.over-at-start") : t("new.preview")}
        </span>
      </figcaption>
    </figure>
  );
}
