// A game, ply by ply: finished, or as far as it has come.

import type { Game } from "@mancala-server/client";
import { useEffect } from "preact/hooks";

import { specialOf } from "../board/actions.ts";
import { ratioOf, useShape } from "../board/board.tsx";
import { PlayBoard } from "../board/play.tsx";
import { totalOf } from "../board/seeds.ts";
import { opposite } from "../board/shape.ts";
import { endInWords, marksOf, previewInWords } from "../board/words.ts";
import { cx } from "../cx.ts";
import * as table from "../parts/game.module.css";
import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { layoutOf, titleOf } from "../state/create.ts";
import { explain, failedBy } from "../state/messages.ts";
import { useStore } from "../state/store.ts";
import { t, word } from "../texts/index.ts";
import { GoOn, ShareGame } from "./review/actions.tsx";
import { ExplorerPanel } from "./review/explorer.tsx";
import { Graph } from "./review/graph.tsx";
import { Analysis } from "./review/judged.tsx";
import { moveOf, PlyList } from "./review/list.tsx";
import { NotePanel } from "./review/note.tsx";
import * as css from "./review/review.module.css";
import { Steps, useStepKeys } from "./review/steps.tsx";
import { ReviewStore } from "./review/store.ts";
import * as study from "./study.module.css";

/** The ply in an address, after `#ply=`. */
function plyOf(hash: string): number | null {
  const found = /^#ply=(\d{1,5})$/.exec(hash);
  return found ? Number(found[1]) : null;
}

export function ReviewView({ id }: { id: string }) {
  const store = useStore(() => new ReviewStore(id, plyOf(location.hash)), [id]);
  useEffect(() => {
    const follow = () => {
      const ply = plyOf(location.hash);
      if (ply !== null && ply !== store.ply.value) store.go(ply);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [store]);
  const [game, failure] = [store.game.value, store.failure.value];
  if (failure !== null && store.points.value.length === 0) return <Missing store={store} />;
  if (!game || !store.now.value) {
    return (
      <div class={ui.narrow}>
        <Heading title={t("review.title")}>{t("review.title")}</Heading>
        <p class={ui.quiet}>{t("ui.loading")}</p>
      </div>
    );
  }
  return <Desk store={store} game={game} />;
}

/** A game that is none, private or erased; or a server that does not answer. */
function Missing({ store }: { store: ReviewStore }) {
  const { value: error } = store.failure;
  return (
    <div class={ui.narrow}>
      <Heading title={t("game.missing")}>{t("game.missing")}</Heading>
      <p>{explain(error)}</p>
      <p class={ui.row}>
        {!failedBy(error, "not_found") && (
          <button type="button" class={ui.primary} onClick={() => store.retry()}>
            {t("study.again")}
          </button>
        )}
        <a class={ui.button} href="/">
          {t("nav.home")}
        </a>
      </p>
    </div>
  );
}

function Desk({ store, game }: { store: ReviewStore; game: Game }) {
  useStepKeys(store);
  const shape = useShape({ board: game.board, bottom: store.bottom(), layout: layoutOf(game.variant) });
  const [south, north] = [store.nameOf("south", null), store.nameOf("north", null)];
  const title = t("review.title-of", { variant: titleOf(game.variant), south, north });
  return (
    <div class={`${study.study} ${css.review}`}>
      <Heading title={title}>{title}</Heading>
      <div class={css.desk} style={ratioOf(shape)}>
        <Names store={store} isTop />
        <DeskBoard store={store} game={game} />
        <Names store={store} isTop={false} />
        <Steps store={store} />
        <Told store={store} game={game} />
        <Tried store={store} />
        <SpecialTries store={store} />
        <Graph store={store} />
      </div>
      <aside class={ui.stack}>
        <section class={ui.card} aria-labelledby="plies-title">
          <h2 id="plies-title">{t("review.moves")}</h2>
          <PlyList store={store} />
          {!store.isWhole.value && <Incomplete store={store} />}
          <div class={ui.row}>
            <GoOn store={store} game={game} />
            <a class={ui.button} href={`/games/${game.id}`}>
              {t("review.to-game")}
            </a>
          </div>
        </section>
        <Analysis store={store} />
        <ExplorerPanel rules={game} position={store.now.value?.position ?? ""} onMove={(move) => void store.try(move)} />
      </aside>
      <div class={css.under}>
        <NotePanel store={store} />
        <ShareGame store={store} game={game} />
      </div>
    </div>
  );
}

/** Plies that are still on their way, or that could not be read. */
function Incomplete({ store }: { store: ReviewStore }) {
  const { value: error } = store.failure;
  if (error === null) return <p class={ui.quiet}>{t("ui.loading")}</p>;
  return (
    <p role="alert">
      {explain(error)}{" "}
      <button type="button" onClick={() => store.retry()}>
        {t("study.again")}
      </button>
    </p>
  );
}

function Names({ store, isTop }: { store: ReviewStore; isTop: boolean }) {
  const side = isTop ? opposite(store.bottom()) : store.bottom();
  const point = store.now.value;
  return (
    <div class={cx(table.seat, css.names, point?.turn === side && table.on)}>
      <span class={table.turn} aria-hidden="true">
        {point?.turn === side ? "▶" : ""}
      </span>
      <span class={ui.name}>
        <bdi>{store.nameOf(side)}</bdi>
      </span>
      {store.nameOf(side) !== t(`side.${side}`) && <span class={table.side}>{t(`side.${side}`)}</span>}
      {point?.board.points && <span class={table.side}>{t("game.points", { count: point.board.points[side] })}</span>}
    </div>
  );
}

function DeskBoard({ store, game }: { store: ReviewStore; game: Game }) {
  const [shown, point] = [store.playback.shown.value, store.now.value];
  if (!shown || !point) return null;
  const isMoving = store.playback.isMoving.value;
  const preview = store.previews.shown.value;
  return (
    <PlayBoard
      board={shown.board}
      ply={shown.ply}
      bottom={store.bottom()}
      layout={layoutOf(game.variant)}
      marks={shown.marks}
      hand={shown.hand}
      frameMs={shown.frameMs}
      total={totalOf(point.board)}
      moves={isMoving ? [] : point.legal}
      preview={preview && !isMoving ? marksOf(preview.effects) : null}
      names={{ south: store.nameOf("south"), north: store.nameOf("north") }}
      onPlay={(move) => void store.try(move)}
      onPointAt={(move) => store.previews.point({ ...game, position: point.position, board: point.board }, isMoving ? null : move)}
    />
  );
}

/** What the shown move did, or would do; at the end, how the game ended. */
function Told({ store, game }: { store: ReviewStore; game: Game }) {
  const preview = store.previews.shown.value;
  const [ply, last, tried] = [store.ply.value, store.last.value, store.variation.value];
  const isEnd = ply === last && !tried && store.isWhole.value;
  const words = [t("review.ply-of", { ply, last }), store.told.value, isEnd ? endOf(store, game) : ""];
  return (
    <>
      <p class={`${ui.told} ${css.said}`} role="status" aria-live="polite" aria-atomic="true">
        {tried && tried.at > 0 ? store.told.value : words.filter(Boolean).join(" · ")}
      </p>
      <p class={`${ui.told} ${css.would}`}>{preview ? previewInWords(preview) : store.now.value?.legal.length ? t("review.try-hint") : ""}</p>
    </>
  );
}

function endOf(store: ReviewStore, game: Game): string {
  if (game.status === "aborted") return t("game.aborted");
  if (!game.result) return game.status === "active" ? t("review.running-game") : "";
  return endInWords(game, (side) => store.nameOf(side, null));
}

/** The moves of a variation, each to be gone to, and the way back to the game. */
function Tried({ store }: { store: ReviewStore }) {
  const { value: tried } = store.variation;
  if (!tried) return null;
  return (
    <div class={`${ui.card} ${css.variation}`} role="group" aria-labelledby="variation-title">
      <span id="variation-title">{t(tried.isBest ? "review.best-from" : "review.variation-from", { ply: tried.from })}</span>
      <span class={`${ui.row} ${css.line}`} dir="ltr">
        {tried.points.map((point, n) => (
          <button
            key={n}
            type="button"
            aria-current={n + 1 === tried.at ? "step" : undefined}
            aria-label={t("review.best-step", { step: n + 1, move: moveOf(point) })}
            onClick={() => store.step(n + 1)}
          >
            {moveOf(point)}
          </button>
        ))}
      </span>
      <button type="button" onClick={() => store.leave()}>
        {t("review.leave")}
      </button>
    </div>
  );
}

/** Moves that are no pits, to be tried as well. */
function SpecialTries({ store }: { store: ReviewStore }) {
  const point = store.now.value;
  const special = !point || point.board.pending ? [] : specialOf(point.legal);
  if (special.length === 0) return null;
  return (
    <div class={`${ui.row} ${css.special}`}>
      {special.map((move) => (
        <button key={move} type="button" onClick={() => void store.try(move)}>
          {word("special", move)}
        </button>
      ))}
    </div>
  );
}
