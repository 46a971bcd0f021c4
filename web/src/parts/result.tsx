// How a game ended, over its board, and what comes next.

import type { Game } from "@mancala-server/client";

import { outcomeOf, scoreOf } from "../board/words.ts";
import { client, SOON } from "../client.ts";
import { again, isSeated } from "../state/create.ts";
import type { GameStore } from "../state/game.ts";
import { t, word } from "../texts/index.ts";
import { canRepeat } from "./controls.tsx";
import * as css from "./result.module.css";
import * as ui from "./ui.module.css";
import { Action } from "./ui.tsx";

/** The strongest level of the computer. */
const LEVEL_MAX = 8;

export function ResultCard({ store, game, onClose }: { store: GameStore; game: Game; onClose(): void }) {
  const { result, me } = game;
  if (!result) return null;
  const score = scoreOf(game);
  const { level = LEVEL_MAX } = game.opponent;
  const reason = word("reason", result.reason ?? "unknown");
  return (
    <section class={`${css.result} ${ui.card}`} aria-label={t("result.label")}>
      <button type="button" class={`${ui.plain} ${css.close}`} aria-label={t("result.close")} onClick={onClose}>
        ×
      </button>
      <h2>{outcomeOf(game, (side) => store.nameOf(side))}</h2>
      {score && (
        <p class={css.score} dir="ltr">
          {score.own} – {score.other}
        </p>
      )}
      <p class={ui.quiet}>{reason.charAt(0).toLocaleUpperCase() + reason.slice(1)}</p>
      <div class={ui.row}>
        {game.rematch_game_id && (
          <a class={`${ui.button} ${ui.primary}`} href={`/games/${game.rematch_game_id}`}>
            {t("controls.to-rematch")}
          </a>
        )}
        {canRepeat(game) && (
          <Action kind="primary" run={() => again(game)}>
            {t("controls.again")}
          </Action>
        )}
        {canRepeat(game) && level < LEVEL_MAX && result.winner === me?.side && <Action run={() => again(game, level + 1)}>{t("result.harder")}</Action>}
        {!canRepeat(game) && me?.actions.includes("offer_rematch") && (
          <Action kind="primary" run={() => store.act(() => client.games.offer(game.id, "rematch", SOON))}>
            {t("offer.rematch")}
          </Action>
        )}
        {game.ply > 0 && (
          <a class={ui.button} href={`/review/${game.id}`}>
            {t("review.title")}
          </a>
        )}
        {game.ply > 0 && isSeated(game) && <Action run={() => store.showFirstMistake()}>{t("result.mistake")}</Action>}
      </div>
    </section>
  );
}
