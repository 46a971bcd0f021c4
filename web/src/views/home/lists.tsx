// What waits for the player, the player's games, and games of others.

import { useEffect } from "preact/hooks";
import * as rows from "../../parts/rows.module.css";
import { GameRow, Opponents, sinceOf, stateOf } from "../../parts/rows.tsx";
import * as ui from "../../parts/ui.module.css";
import { Badge } from "../../parts/ui.tsx";
import { isSeated, titleOf } from "../../state/create.ts";
import { followRunning, mine, running } from "../../state/lists.ts";
import { me } from "../../state/session.ts";
import { t } from "../../texts/index.ts";
import * as css from "./home.module.css";
import { Thumb } from "./thumb.tsx";

/** The turns that stand above everything else. The list of games has all of them. */
const TURNS_MAX = 3;

export function Turns() {
  const games = mine.value?.active.filter((game) => stateOf(game).isUrgent) ?? [];
  if (games.length === 0) return null;
  return (
    <section class={rows.turns} aria-labelledby="turns-title">
      <h2 id="turns-title">{t("home.turns", { count: games.length })}</h2>
      <ul class={rows.rows}>
        {games.slice(0, TURNS_MAX).map((game) => (
          <li key={game.id}>
            <a class={rows.gameRow} href={`/games/${game.id}`}>
              <span class={rows.who}>
                <Opponents game={game} />
              </span>
              <span class={rows.what}>
                {titleOf(game.variant)} · {sinceOf(game)}
                {game.practice && <Badge>{t("practice.badge")}</Badge>}
              </span>
              <span class={rows.state}>
                {t("home.go-on")} <span aria-hidden="true">›</span>
              </span>
            </a>
          </li>
        ))}
        {games.length > TURNS_MAX && (
          <li>
            <a class={rows.gameRow} href="#mine-title" onClick={toMine}>
              <span class={rows.who}>{t("home.mine")}</span>
              <span class={rows.state} aria-hidden="true">
                ↓
              </span>
            </a>
          </li>
        )}
      </ul>
    </section>
  );
}

// A link within the view: the address stays, and what is gone to has the focus.
function toMine(event: Event): void {
  event.preventDefault();
  document.getElementById("mine-title")?.focus();
}

export function Invitations() {
  const games = mine.value?.invitations ?? [];
  if (games.length === 0) return null;
  return (
    <section class={ui.card} aria-labelledby="invitations-title">
      <h2 id="invitations-title">{t("home.invitations")}</h2>
      <ul class={rows.rows}>
        {games.map((game) => (
          <GameRow key={game.id} game={game} />
        ))}
      </ul>
    </section>
  );
}

export function MyGames() {
  const { value: games } = mine;
  if (!me.value) return <p class={ui.quiet}>{t("home.no-player")}</p>;
  if (!games) return <p class={`${ui.card} ${ui.quiet}`}>{t("ui.loading")}</p>;
  const going = [...games.active, ...games.open];
  const { finished } = games;
  const isNone = going.length + finished.length === 0;
  return (
    <section class={ui.card} aria-labelledby="mine-title">
      <h2 id="mine-title" tabIndex={-1}>
        {t("home.mine")}
      </h2>
      {isNone && <p class={ui.quiet}>{t("home.none")}</p>}
      <ul class={rows.rows}>
        {going.map((game) => (
          <GameRow key={game.id} game={game} />
        ))}
      </ul>
      {finished.length > 0 && (
        <>
          <h3>{t("home.finished")}</h3>
          <ul class={rows.rows}>
            {finished.map((game) => (
              <GameRow key={game.id} game={game} />
            ))}
          </ul>
          <p>
            <a href="/games">{t("history.all")}</a>
          </p>
        </>
      )}
    </section>
  );
}

/** Games of others that go on now, or else those that are over. Without any, nothing is said. */
export function Running() {
  useEffect(followRunning, []);
  const others = running.value.filter((game) => !isSeated(game));
  if (others.length === 0) return null;
  const active = others.filter(({ status }) => status === "active");
  const isOn = active.length > 0;
  const games = isOn ? active : others;
  return (
    <section class={css.running} aria-labelledby="running-title">
      <h2 id="running-title">{t(isOn ? "home.running" : "home.played")}</h2>
      <ul class={css.strip}>
        {games.map((game) => (
          <li key={game.id}>
            <a class={css.kind} href={`/games/${game.id}`}>
              <Thumb variant={game.variant} board={game.board} />
              <strong>
                <Opponents game={game} />
              </strong>
              <small>
                <span>{titleOf(game.variant)}</span>
                <span>{game.status === "active" ? t("moves.title", { count: game.ply }) : stateOf(game).text}</span>
              </small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
