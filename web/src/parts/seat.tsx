// One side of the table: who sits there, and what time is left.

import type { Clock, Game, Side } from "@mancala-server/client";
import { cx } from "../cx.ts";
import { now } from "../state/network.ts";
import { clockTime } from "../texts/format.ts";
import { t } from "../texts/index.ts";
import * as css from "./game.module.css";
import { PlayerName } from "./ui.tsx";

export function Seat({ game, side, turn }: { game: Game; side: Side; turn: Side | null }) {
  const player = game.seats[side];
  const isOn = turn === side && game.status === "active";
  const { points } = game.board;
  const hasWon = game.result?.winner === side;
  return (
    <div class={cx(css.seat, isOn && css.on)}>
      <span class={css.turn} aria-hidden="true">
        {hasWon ? "★" : isOn ? "▶" : ""}
      </span>
      {player ? <PlayerName player={player} /> : <em>{t("game.free-seat")}</em>}
      <span class={css.side}>{t(`side.${side}`)}</span>
      {points && <span class={css.side}>{t("game.points", { count: points[side] })}</span>}
      {/* A move that the server does not have yet stops no clock. */}
      <Time clock={game.clock} side={side} isOn={game.turn === side} isActive={game.status === "active"} />
    </div>
  );
}

/** Whose time runs is counted down from the deadline; the other's time stands still. */
function Time({ clock, side, isOn, isActive }: { clock: Clock; side: Side; isOn: boolean; isActive: boolean }) {
  if (clock.type === "unlimited" || !isActive) return null;
  const stands = clock.bank_s?.[side] ?? clock.move_s;
  const left = isOn ? (clock.deadline ? (Date.parse(clock.deadline) - now.value) / 1000 : (clock.left_s ?? stands)) : stands;
  if (left === undefined) return null;
  const isShort = isOn && left < 60;
  return (
    <span class={cx(css.time, isShort && css.short)} role="timer" aria-label={t("game.time-left", { time: clockTime(left) })}>
      {clockTime(left)}
      {clock.paused_at ? ` ${t(clock.is_held ? "game.held" : "game.paused")}` : ""}
    </span>
  );
}
