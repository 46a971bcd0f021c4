// What a player may do in a game beside moves. The server lists it in `me.actions`; what is not known here is not shown.

import type { Game, OfferType } from "@mancala-server/client";

import { client, SOON } from "../client.ts";
import { isAlone, isSeated } from "../state/create.ts";
import type { GameStore } from "../state/game.ts";
import { OFFER, OFFERED, OFFERING, OFFERS } from "../state/offers.ts";
import { t } from "../texts/index.ts";
import { aboutInWords } from "./about.tsx";
import * as css from "./offers.module.css";
import * as ui from "./ui.module.css";
import { Action, Confirm } from "./ui.tsx";

/** Whether the same game begins again without an answer from another person. */
export function canRepeat(game: Game): boolean {
  return (game.status === "finished" || game.status === "aborted") && isSeated(game) && ["computer", "self"].includes(game.opponent.type);
}

/** What is seldom done. On phones the button to resign is among it. */
export function Controls({ store, game, isWide, hasCard }: { store: GameStore; game: Game; isWide: boolean; hasCard: boolean }) {
  const actions = game.me?.actions ?? [];
  const { games } = client;
  const isOver = game.status === "finished" || game.status === "aborted";
  const isOffered = (type: OfferType) => !(type === "rematch" && (hasCard || canRepeat(game))) && !(type === "takeback" && game.practice);
  return (
    <div class={ui.row}>
      {!isWide && <p>{aboutInWords(game)}</p>}
      {!isWide && (
        <a class={ui.button} href={`/rules/${game.variant}`}>
          {t("about.title")}
        </a>
      )}
      {OFFERS.filter((type) => actions.includes(`offer_${type}`) && isOffered(type)).map((type) => (
        <Action key={type} run={() => store.act(() => games.offer(game.id, type, SOON))}>
          {t(OFFER[type])}
        </Action>
      ))}
      {game.ply > 0 && !hasCard && (isOver || isAlone(game)) && (
        <a class={ui.button} href={`/review/${game.id}`}>
          {t("review.title")}
        </a>
      )}
      {actions.includes("abort") && (
        <Confirm question={t("controls.abort-question")} yes={t("controls.abort")} run={() => store.act(() => games.abort(game.id, SOON))}>
          {t("controls.abort")}
        </Confirm>
      )}
      {!isWide && <Resign store={store} game={game} />}
    </div>
  );
}

/** Resigns. With room for it, the button is above the board: what comes and goes with moves would move it under a finger. */
export function Resign({ store, game }: { store: GameStore; game: Game }) {
  if (!game.me?.actions.includes("resign")) return null;
  const label = t("controls.resign");
  return (
    <Confirm kind="danger" question={t("controls.resign-question")} yes={label} run={() => store.act(() => client.games.resign(game.id, SOON))}>
      {label}
    </Confirm>
  );
}

/** Offers that wait for an answer: the other's, and the own ones. */
export function PendingOffers({ store, game }: { store: GameStore; game: Game }) {
  const actions = game.me?.actions ?? [];
  const { games } = client;
  const answers = OFFERS.filter((type) => actions.includes(`accept_${type}`));
  const own = OFFERS.filter((type) => actions.includes(`withdraw_${type}`));
  if (answers.length + own.length === 0) return null;
  // Either player may end a pause, as if it were an offer of their own.
  const isUnderWay = (type: OfferType) => type === "pause" && game.clock.paused_at !== undefined;
  return (
    <ul class={css.offers} aria-live="polite">
      {answers.map((type) => (
        <li key={type}>
          <span>{t(OFFERED[type])}</span>
          <Action kind="primary" run={() => store.act(() => games.accept(game.id, type, { ...SOON, version: game.version }))}>
            {t("offer.accept")}
          </Action>
          <Action run={() => store.act(() => games.declineOffer(game.id, type, { ...SOON, version: game.version }))}>{t("offer.decline")}</Action>
        </li>
      ))}
      {own.map((type) => (
        <li key={type}>
          <span>{t(isUnderWay(type) ? "paused.pause" : OFFERING[type])}</span>
          <Action run={() => store.act(() => games.withdraw(game.id, type, SOON))}>{t(isUnderWay(type) ? "offer.resume" : "offer.withdraw")}</Action>
        </li>
      ))}
    </ul>
  );
}
