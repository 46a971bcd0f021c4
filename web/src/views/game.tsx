// A game: the board, the players and their clocks, and what the player may do.

import type { Game, Side } from "@mancala-server/client";
import { useRef, useState } from "preact/hooks";

import { ratioOf, useMatch, useShape } from "../board/board.tsx";
import { PlayBoard } from "../board/play.tsx";
import { totalOf } from "../board/seeds.ts";
import { type Layout, opposite } from "../board/shape.ts";
import { endInWords, hintInWords, marksOf, previewInWords } from "../board/words.ts";
import { cx } from "../cx.ts";
import { AboutGame } from "../parts/about.tsx";
import { Bar } from "../parts/bar.tsx";
import { Controls, PendingOffers, Resign } from "../parts/controls.tsx";
import * as css from "../parts/game.module.css";
import { Guide } from "../parts/guide.tsx";
import { MoveList } from "../parts/moves.tsx";
import { ResultCard } from "../parts/result.tsx";
import { Seat } from "../parts/seat.tsx";
import { JoinPanel, SharePanel } from "../parts/share.tsx";
import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { Badge } from "../parts/ui.tsx";
import { layoutOf, titleOf } from "../state/create.ts";
import { GameStore } from "../state/game.ts";
import { explain } from "../state/messages.ts";
import { network } from "../state/network.ts";
import { me } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { t } from "../texts/index.ts";

export function GameView({ id, joinCode }: { id: string; joinCode: string | null }) {
  // Another player sees another game: what may be done, and which side is below.
  const viewer = me.value?.id ?? null;
  const store = useStore(() => new GameStore(id, joinCode), [id, joinCode, viewer]);
  if (store.failure.value !== null) return <Missing error={store.failure.value} />;
  const { value: game } = store.game;
  if (!game) {
    return (
      <div class={`${ui.narrow} ${css.loading}`}>
        <Heading title={t("game.title")}>{t("game.title")}</Heading>
        <p class={ui.quiet}>{t("ui.loading")}</p>
      </div>
    );
  }
  return <Table store={store} game={game} joinCode={joinCode} />;
}

/** A game that is none, private or erased. */
function Missing({ error }: { error: unknown }) {
  return (
    <div class={ui.narrow}>
      <Heading title={t("game.missing")}>{t("game.missing")}</Heading>
      <p>{explain(error)}</p>
      <p>
        <a class={ui.button} href="/">
          {t("nav.home")}
        </a>
      </p>
    </div>
  );
}

function Table({ store, game, joinCode }: { store: GameStore; game: Game; joinCode: string | null }) {
  const isWide = useMatch("(min-width: 64rem)");
  const bottom: Side = game.opponent.type === "self" ? "south" : (game.me?.side ?? "south");
  const layout = layoutOf(game.variant);
  const shape = useShape({ board: game.board, bottom, layout });
  const now = store.now.value;
  // Whose turn it is, is not told before the seeds lie still.
  const turn = useSteady(now?.turn ?? null, store.isStill.value);
  const isMine = useSteady(now?.isMine ?? false, store.isStill.value) && game.opponent.type !== "self";
  const name = titleOf(game.variant);
  const [isCardClosed, setCardClosed] = useState(false);
  const hasCard = useSteady(game.result !== null, store.isStill.value) && !isCardClosed;
  const controls = <Controls store={store} game={game} isWide={isWide} hasCard={hasCard} />;
  return (
    <div class={css.game} style={ratioOf(shape)}>
      <div class={css.top}>
        {/* A tab among others shows that it is the player's turn. */}
        <div class={css.nameOf}>
          <Heading
            title={
              isMine ? `● ${t("row.your-turn")} – ${name}` : t("game.title-of", { variant: name, south: store.nameOf("south"), north: store.nameOf("north") })
            }
          >
            {name}
            {game.practice && <Badge>{t("practice.badge")}</Badge>}
          </Heading>
          <AboutGame game={game} />
        </div>
        <Guide game={game} />
        <PendingOffers store={store} game={game} />
        {isWide && <Resign store={store} game={game} />}
      </div>
      <div class={css.table}>
        <div class={css.notices}>
          <JoinPanel store={store} game={game} joinCode={joinCode} />
        </div>
        <Seat game={game} side={opposite(bottom)} turn={turn} />
        <div class={css.stage}>
          <TableBoard store={store} game={game} bottom={bottom} layout={layout} />
          {hasCard && <ResultCard store={store} game={game} onClose={() => setCardClosed(true)} />}
        </div>
        <Seat game={game} side={bottom} turn={turn} />
        <Bar store={store} game={game} hasCard={hasCard} more={isWide ? null : controls}>
          {game.practice && game.me?.side && <HintLine store={store} game={game} />}
          <Status store={store} game={game} />
        </Bar>
        <p class={`${ui.told} ${css.news}`} role="status" aria-live="polite" aria-atomic="true">
          {store.told.value}
        </p>
      </div>
      <aside class={ui.stack}>
        {isWide && (
          <section class={`${ui.card} ${css.controls}`} aria-label={t("controls.label")}>
            {controls}
          </section>
        )}
        <SharePanel game={game} />
        <MoveList store={store} game={game} />
      </aside>
    </div>
  );
}

/** The value when the seeds lay still last. */
function useSteady<T>(value: T, isStill: boolean): T {
  const kept = useRef(value);
  if (isStill) kept.current = value;
  return kept.current;
}

function TableBoard({ store, game, bottom, layout }: { store: GameStore; game: Game; bottom: Side; layout: Layout | null }) {
  const { value: shown } = store.playback.shown;
  if (!shown) return null;
  const isMoving = store.playback.isMoving.value;
  const pending = store.unconfirmed.value.at(-1)?.play;
  const preview = store.previews.shown.value;
  return (
    <PlayBoard
      board={shown.board}
      ply={shown.ply}
      bottom={bottom}
      layout={layout}
      marks={shown.marks}
      hand={shown.hand}
      frameMs={shown.frameMs}
      total={totalOf(game.board)}
      moves={store.legal.value}
      sent={pending && "move" in pending && store.now.value?.legal.length === 0 ? pending.move : null}
      preview={preview && !isMoving ? marksOf(preview.effects) : null}
      hintedMove={isMoving ? null : (store.hint.value?.move ?? null)}
      names={{ south: store.nameOf("south"), north: store.nameOf("north") }}
      onPlay={(move) => void store.play(move)}
      onRefuse={(pit) => void store.refuse(pit)}
      onPointAt={(move) => store.point(isMoving ? null : move)}
    />
  );
}

/** What goes on, in one line. */
function Status({ store, game }: { store: GameStore; game: Game }) {
  const preview = store.previews.shown.value;
  const words = useSteady(statusOf(store, game), store.isStill.value);
  const refusal = store.refusal.value;
  const isRefused = refusal !== null && refusal.ply === store.now.value?.ply;
  return (
    <p class={css.status} data-status={game.status}>
      <span>{preview ? previewInWords(preview) : isRefused ? refusal.words : words}</span>
      <Presence store={store} game={game} />
    </p>
  );
}

/** The hint in words. The line is there before it has something to say, so that a screen reader notices. */
function HintLine({ store, game }: { store: GameStore; game: Game }) {
  const hint = store.hint.value;
  return (
    <p class={`${ui.told} ${css.hint}`} role="status" aria-live="polite" aria-atomic="true">
      {hint ? hintInWords(hint, game.board) : store.hints.isAsking.value ? t("hint.asking") : ""}
    </p>
  );
}

function statusOf(store: GameStore, game: Game): string {
  const { status } = game;
  if (status === "open") return t("game.open");
  if (status === "aborted") return t("game.aborted");
  if (game.result) return endInWords(game, (side) => store.nameOf(side));
  const now = store.now.value;
  if (!now?.turn) return "";
  if (game.opponent.type === "self") return store.turnOf(now.turn);
  if (now.isMine) return t("game.your-turn");
  const name = store.nameOf(now.turn);
  return game.seats[now.turn]?.kind === "computer" ? t("game.thinks", { name }) : t("game.turn-of", { name });
}

const PRESENCE = { live: css.live, sent: undefined, away: css.away, queued: css.queued } as const;

/** Whether the own moves have arrived. An invitation to a private game follows nothing, and a game that is over is not live. */
function Presence({ store, game }: { store: GameStore; game: Game }) {
  if (store.isInvitation.value) return null;
  const waiting = store.unconfirmed.value.length;
  const state = waiting === 0 ? (network.value === "fine" ? "live" : "away") : network.value === "fine" ? "sent" : "queued";
  if (state === "live" && (game.status === "finished" || game.status === "aborted")) return null;
  return (
    <span class={cx(css.presence, PRESENCE[state])} data-presence={state}>
      {t(`presence.${state}`, { count: waiting })}
    </span>
  );
}
