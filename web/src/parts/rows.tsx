// Games in lists: a line each, with who plays and whose turn it is.

import type { Game } from "@mancala-server/client";
import { useEffect } from "preact/hooks";
import { cx } from "../cx.ts";
import { isSeated, join, titleOf } from "../state/create.ts";
import { followLobby, lobby, readLobby } from "../state/lists.ts";
import { nameAt } from "../state/names.ts";
import { now } from "../state/network.ts";
import { me } from "../state/session.ts";
import { clockInWords, clockTime, relative } from "../texts/format.ts";
import { type Key, t } from "../texts/index.ts";
import { presetOf } from "./about.tsx";
import * as css from "./rows.module.css";
import * as ui from "./ui.module.css";
import { Action, Badge, PlayerName } from "./ui.tsx";

/** Who plays against whom, from the player's point of view. */
export function Opponents({ game }: { game: Game }) {
  const { south, north } = game.seats;
  const [mine, other] = south?.id === me.value?.id ? [south, north] : [north, south];
  if (game.opponent.type === "self") {
    const names = [nameAt(game, "south"), nameAt(game, "north")].filter((name) => name !== undefined);
    if (names.length > 0) return <Names names={names} />;
    if (isSeated(game)) return <>{t("row.self")}</>;
    return <Names names={[south?.name ?? ""]} />;
  }
  if (mine?.id !== me.value?.id) {
    const names = [south, north].flatMap((player) => (player ? [player.name] : []));
    return <Names names={names} />;
  }
  if (other) return <PlayerName player={other} />;
  return <>{t(game.opponent.type === "link" ? "row.by-link" : "row.open")}</>;
}

/** Names side by side, each in its own direction. */
function Names({ names }: { names: readonly string[] }) {
  return (
    <>
      {names.map((name, n) => (
        <>
          {n > 0 && " – "}
          <bdi>{name}</bdi>
        </>
      ))}
    </>
  );
}

/** What is to be known of a game in a few words, and whether the player has to do something. */
export function stateOf(game: Game): { text: string; isUrgent: boolean } {
  const mine = game.seats.south?.id === me.value?.id ? "south" : game.seats.north?.id === me.value?.id ? "north" : null;
  if (game.status === "open") return { text: t("row.waiting"), isUrgent: false };
  if (game.status === "aborted") return { text: t("row.aborted"), isUrgent: false };
  if (game.result) {
    const { winner } = game.result;
    const key = winner === null ? "row.drawn" : mine === null || game.opponent.type === "self" ? "row.over" : winner === mine ? "row.won" : "row.lost";
    return { text: t(key), isUrgent: false };
  }
  // At one device every turn is the player's, and no other player waits.
  if (game.opponent.type === "self") return { text: t("home.go-on"), isUrgent: false };
  const isMine = game.turn !== null && game.seats[game.turn]?.id === me.value?.id;
  return { text: t(isMine ? "row.your-turn" : "row.their-turn"), isUrgent: isMine };
}

/** How much time the turn has, or when something happened last. */
export function sinceOf(game: Game): string {
  const { deadline } = game.clock;
  if (game.status === "active" && deadline) {
    return t("row.left", { time: clockTime((Date.parse(deadline) - now.value) / 1000) });
  }
  return relative(game.finished_at ?? game.updated_at, now.value);
}

export function GameRow({ game }: { game: Game }) {
  const { text, isUrgent } = stateOf(game);
  return (
    <li>
      <a class={cx(css.gameRow, isUrgent && css.urgent)} href={`/games/${game.id}`}>
        <span class={css.who}>
          <Opponents game={game} />
        </span>
        <span class={css.what}>
          {titleOf(game.variant)}
          {game.practice && <Badge>{t("practice.badge")}</Badge>}
        </span>
        <span class={css.state}>{text}</span>
        <time class={css.since} dateTime={game.updated_at}>
          {sinceOf(game)}
        </time>
      </a>
    </li>
  );
}

/** Games that wait for an opponent. They come and go while the list is looked at. */
export function Lobby({ title = "lobby.title" }: { title?: Key }) {
  useEffect(followLobby, []);
  const others = lobby.value?.filter((game) => !isSeated(game));
  return (
    <section class={ui.card} aria-labelledby="lobby-title">
      <h2 id="lobby-title">{t(title)}</h2>
      {others?.length === 0 && <p class={ui.quiet}>{t("lobby.none")}</p>}
      {!others && <p class={ui.quiet}>{t("ui.loading")}</p>}
      <ul class={css.rows}>
        {others?.map((game) => (
          <LobbyRow key={game.id} game={game} />
        ))}
      </ul>
    </section>
  );
}

function LobbyRow({ game }: { game: Game }) {
  const creator = game.seats.south ?? game.seats.north;
  const take = async () => {
    try {
      await join(game.id, null);
    } catch (error) {
      // Another player was faster, or the game is gone: so are others, perhaps.
      void readLobby();
      throw error;
    }
  };
  return (
    <li class={`${css.gameRow} ${css.offer}`}>
      <span class={css.who}>{creator && <PlayerName player={creator} />}</span>
      <span class={css.what}>
        {titleOf(game.variant)} · <span lang="en">{presetOf(game)}</span>
      </span>
      <span class={css.what}>{clockInWords(game.clock)}</span>
      <Action run={take} label={t("lobby.join-of", { name: creator?.name ?? "" })}>
        {t("game.join")}
      </Action>
    </li>
  );
}
