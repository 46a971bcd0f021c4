// How others come to a game: the link for a friend, the seat that is free, the game to watch.

import type { Game } from "@mancala-server/client";

import { client, SOON } from "../client.ts";
import { expiredCode, join } from "../state/create.ts";
import type { GameStore } from "../state/game.ts";
import { me } from "../state/session.ts";
import { set, settings } from "../state/settings.ts";
import { t } from "../texts/index.ts";
import * as css from "./game.module.css";
import * as ui from "./ui.module.css";
import { Action, Copy, Field } from "./ui.tsx";

/** Takes a free seat, or waits for the one who does. */
export function JoinPanel({ store, game, joinCode }: { store: GameStore; game: Game; joinCode: string | null }) {
  if (game.status !== "open") return null;
  if (game.me?.side) return <WaitingPanel store={store} game={game} />;
  const actions = game.me?.actions;
  // Without a token there are no actions: whether the seat can be taken shows when it is tried.
  const canJoin = joinCode !== null || (actions ? actions.includes("join") : game.opponent.type === "open");
  if (joinCode !== null && joinCode === expiredCode.value) {
    return (
      <p class={ui.card} role="alert">
        {t("join.expired")}
      </p>
    );
  }
  if (!canJoin) return <p class={ui.card}>{t("join.not-you")}</p>;
  const creator = game.seats.south ?? game.seats.north;
  return (
    <section class={`${ui.card} ${css.invite}`} aria-label={t("game.join")}>
      <p>{t("join.invites", { name: creator?.name ?? "" })}</p>
      {!me.value && <Field id="guest-name" label={t("home.name")} value={settings.value.name} maxLength={32} onInput={(name) => set({ name })} />}
      <div class={`${ui.row} ${css.join}`}>
        <Action kind="primary" run={() => store.act(() => join(game.id, joinCode))}>
          {t("game.join")}
        </Action>
        {actions?.includes("decline") && <Action run={() => store.act(() => client.games.decline(game.id, SOON))}>{t("join.decline")}</Action>}
      </div>
    </section>
  );
}

function WaitingPanel({ store, game }: { store: GameStore; game: Game }) {
  const code = game.join_code;
  if (code === undefined) return <p class={ui.card}>{t(game.opponent.type === "player" ? "join.waits-player" : "join.waits")}</p>;
  const link = `${location.origin}/games/${game.id}#join=${code}`;
  return (
    <section class={`${ui.card} ${css.invite}`} aria-labelledby="invite-title">
      <h2 id="invite-title">{t("join.link-title")}</h2>
      <p>{t("join.link-text")}</p>
      <input class={css.link} readOnly dir="ltr" value={link} aria-label={t("join.link-title")} onFocus={(event) => event.currentTarget.select()} />
      <div class={ui.row}>
        <Copy text={link}>{t("ui.copy")}</Copy>
        {"share" in navigator && <Action run={() => shareLink(link)}>{t("ui.share")}</Action>}
        {game.me?.actions.includes("renew_join_code") && (
          <Action kind="plain" run={() => store.act(() => client.games.renewJoinCode(game.id, SOON))}>
            {t("join.renew")}
          </Action>
        )}
      </div>
    </section>
  );
}

/** The link to share: a page that chats make a preview of, and that leads to the board. */
export function SharePanel({ game }: { game: Game }) {
  if (game.visibility === "private" || game.status === "open") return null;
  const link = `${location.origin}/g/${game.id}`;
  return (
    <div class={ui.row}>
      <Copy text={link}>{t("share.watch")}</Copy>
      {"share" in navigator && <Action run={() => shareLink(link)}>{t("ui.share")}</Action>}
    </div>
  );
}

async function shareLink(url: string): Promise<void> {
  try {
    await navigator.share({ url, title: "Mancala" });
  } catch (error) {
    // The player has closed the dialog.
    if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
  }
}
