// A game looked through, ply by ply, with what the engine, the player and other games say of it.

import type { Game, Schemas } from "@mancala-server/client";
import { useEffect, useMemo, useState } from "preact/hooks";

import { Board } from "../board/board.tsx";
import { totalOf } from "../board/seeds.ts";
import { Explorer } from "../parts/explorer.tsx";
import { Graph } from "../parts/graph.tsx";
import { Seat } from "../parts/seat.tsx";
import { Heading } from "../parts/shell.tsx";
import { Action, Copy } from "../parts/ui.tsx";
import { client } from "../client.ts";
import { begin, titleOf } from "../state/create.ts";
import { explain } from "../state/messages.ts";
import { ReviewStore } from "../state/review.ts";
import { me } from "../state/session.ts";
import { settings } from "../state/settings.ts";
import { t, word } from "../texts/index.ts";

export function ReviewView({ id }: { id: string }) {
  const store = useMemo(() => new ReviewStore(id), [id, me.value?.id]);
  useEffect(() => () => store.close(), [store]);
  const { value: game } = store.game;
  if (store.failure.value !== null || !game) {
    const failure = store.failure.value;
    return (
      <div class="narrow">
        <Heading title={t("review.title")}>{t(failure === null ? "review.title" : "game.missing")}</Heading>
        <p class="quiet">{failure === null ? t("ui.loading") : explain(failure)}</p>
        {failure !== null && (
          <a class="button" href="/">
            {t("nav.home")}
          </a>
        )}
      </div>
    );
  }
  return <Table store={store} game={game} />;
}

function Table({ store, game }: { store: ReviewStore; game: Game }) {
  const bottom = game.opponent.type === "self" ? "south" : (game.me?.side ?? "south");
  const top = bottom === "south" ? "north" : "south";
  const title = t("review.title-of", { variant: titleOf(game.variant), south: store.nameOf("south"), north: store.nameOf("north") });
  const { value: drawn } = store.playback.shown;
  const turn = store.shown.value?.turn ?? null;
  const isMoving = store.playback.isMoving.value;
  return (
    <div class="game review">
      <Heading title={title}>{t("review.title")}</Heading>
      <div class="table">
        <Seat game={game} side={top} turn={turn} />
        {drawn && (
          <Board
            board={drawn.board}
            bottom={bottom}
            ply={drawn.ply}
            marks={drawn.marks}
            hand={drawn.hand}
            frameMs={drawn.frameMs}
            total={totalOf(game.board)}
            legal={isMoving ? [] : (store.shown.value?.legal ?? [])}
            names={{ south: store.nameOf("south"), north: store.nameOf("north") }}
            onPick={(pit) => void store.tryMoves([pit])}
          />
        )}
        <Seat game={game} side={bottom} turn={turn} />
        <p class="told" role="status" aria-live="polite">
          {store.told.value}
        </p>
        <Steps store={store} />
        <Judgement store={store} />
        <Graph moves={store.moves.value} judged={store.analysis.value?.analysis?.plies ?? []} ply={store.ply.value} onGo={(ply) => store.go(ply)} />
      </div>
      <aside class="stack">
        <Analysis store={store} game={game} />
        <Plies store={store} />
        {store.shown.value && <Explorer game={game} position={store.shown.value.position} onTry={(move) => void store.tryMoves([move])} />}
        {me.value && <NoteEditor key={store.ply.value} store={store} />}
        <Onward store={store} game={game} />
      </aside>
    </div>
  );
}

/** Steps through the game, or through a line that was not played. */
function Steps({ store }: { store: ReviewStore }) {
  const { value: line } = store.variation;
  const [ply, last] = [store.ply.value, store.moves.value.length];
  if (line) {
    return (
      <div class="row steps" role="group" aria-label={t("review.line")}>
        <button type="button" disabled={line.at === 0} aria-label={t("review.back")} onClick={() => void store.stepLine(-1)}>
          ◀
        </button>
        <span class="line-moves">{line.moves.map(({ move }, n) => (n < line.at ? <b key={n}>{move} </b> : <span key={n}>{move} </span>))}</span>
        <button type="button" disabled={line.at === line.moves.length} aria-label={t("review.forward")} onClick={() => void store.stepLine(1)}>
          ▶
        </button>
        <button type="button" class="primary" onClick={() => store.go(line.from)}>
          {t("review.to-game")}
        </button>
      </div>
    );
  }
  return (
    <div class="steps" role="group" aria-label={t("review.steps")}>
      <div class="row">
        <button type="button" disabled={ply === 0} aria-label={t("review.first")} onClick={() => store.go(0)}>
          ⏮
        </button>
        <button type="button" disabled={ply === 0} aria-label={t("review.back")} onClick={() => store.go(ply - 1)}>
          ◀
        </button>
        <button type="button" class="primary" disabled={last === 0} onClick={() => void store.run()}>
          {t(store.isPlaying.value ? "review.pause" : "review.play")}
        </button>
        <button type="button" disabled={ply === last} aria-label={t("review.forward")} onClick={() => store.go(ply + 1)}>
          ▶
        </button>
        <button type="button" disabled={ply === last} aria-label={t("review.last")} onClick={() => store.go(last)}>
          ⏭
        </button>
      </div>
      <input
        type="range"
        min="0"
        max={last}
        value={ply}
        aria-label={t("review.ply-of", { ply, last })}
        onInput={(event) => store.go(event.currentTarget.valueAsNumber)}
      />
    </div>
  );
}

function judgedAt(store: ReviewStore): Schemas["JudgedPly"] | undefined {
  return store.analysis.value?.analysis?.plies.find(({ ply }) => ply === store.ply.value);
}

function lead({ seeds, is_exact: isExact }: Schemas["Value"]): string {
  const sign = seeds > 0 ? "+" : seeds < 0 ? "−" : "±";
  return `${isExact ? "" : "≈ "}${sign}${Math.abs(Math.round(seeds * 10) / 10)}`;
}

/** What the engine says of the ply that is shown. */
function Judgement({ store }: { store: ReviewStore }) {
  const judged = judgedAt(store);
  if (!judged || store.variation.value) return null;
  const showLine = async () => {
    store.go(judged.ply - 1);
    await store.tryMoves(judged.best_line);
  };
  return (
    <div class={`judgement ${judged.class}`}>
      <p>
        <strong>{word("class", judged.class)}</strong> {t("review.value", { move: judged.move, value: lead(judged.value) })}
      </p>
      {judged.loss > 0 && judged.best_line.length > 0 && (
        <p>
          {t("review.best", { line: judged.best_line.join(" "), value: lead(judged.best_value) })} <Action run={showLine}>{t("review.show-line")}</Action>
        </p>
      )}
    </div>
  );
}

function Analysis({ store, game }: { store: ReviewStore; game: Game }) {
  const { value: status } = store.analysis;
  const canAsk = me.value && (game.status !== "active" || game.opponent.type === "self") && game.ply > 0;
  if (status?.status === "queued" || status?.status === "running") {
    return (
      <section class="card" role="status">
        <p>{status.status === "queued" ? t("review.queued", { ahead: status.ahead }) : t("review.running", { done: status.plies_done, all: status.plies })}</p>
        <progress max={Math.max(1, status.plies)} value={status.plies_done} aria-label={t("review.analysis")} />
      </section>
    );
  }
  const found = status?.analysis;
  if (!found) {
    if (!canAsk) return null;
    return (
      <section class="card">
        <p>{t(status?.status === "failed" ? "review.failed" : "review.ask")}</p>
        <Action kind="primary" run={() => store.analyse()}>
          {t("review.analyse")}
        </Action>
      </section>
    );
  }
  return (
    <section class="card" aria-label={t("review.analysis")}>
      <table class="explorer">
        <thead>
          <tr>
            <td />
            <th scope="col">{store.nameOf("south")}</th>
            <th scope="col">{store.nameOf("north")}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{t("review.accuracy")}</th>
            <td>{accuracy(found.sides.south)}</td>
            <td>{accuracy(found.sides.north)}</td>
          </tr>
          {(["best", "good", "inaccuracy", "mistake", "blunder"] as const).map((name) => (
            <tr key={name}>
              <th scope="row">{word("class", name)}</th>
              <td>{found.sides.south.classes[name]}</td>
              <td>{found.sides.north.classes[name]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.ply < game.ply && canAsk && <Action run={() => store.analyse()}>{t("review.analyse")}</Action>}
    </section>
  );
}

function accuracy(side: Schemas["JudgedSide"]): string {
  return side.accuracy === null ? "–" : `${Math.round(side.accuracy)} %`;
}

/** All plies, to jump to one. */
function Plies({ store }: { store: ReviewStore }) {
  const classes = new Map(store.analysis.value?.analysis?.plies.map((each) => [each.ply, each.class]));
  const ply = store.ply.value;
  useEffect(() => document.querySelector(".plies [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [ply]);
  return (
    <nav class="card plies" aria-label={t("moves.title", { count: store.moves.value.length })}>
      {store.moves.value.map((move) => (
        <button
          key={move.ply}
          type="button"
          class={`plain ${move.side} ${classes.get(move.ply) ?? ""}`}
          aria-current={move.ply === ply ? "step" : undefined}
          aria-label={`${move.ply}: ${move.move}${classes.has(move.ply) ? `, ${word("class", classes.get(move.ply) ?? "")}` : ""}${store.notes.value.has(move.ply) ? `, ${t("review.has-note")}` : ""}`}
          onClick={() => store.go(move.ply)}
        >
          {move.move.length === 1 ? move.move : word("special", move.move)}
          {store.notes.value.has(move.ply) && <sup>✎</sup>}
        </button>
      ))}
    </nav>
  );
}

/** The player's private note on the ply that is shown. */
function NoteEditor({ store }: { store: ReviewStore }) {
  const [text, setText] = useState(store.notes.value.get(store.ply.value) ?? "");
  return (
    <section class="card">
      <label class="field" for="note">
        <span>{t("review.note")}</span>
        <textarea id="note" dir="auto" rows={3} maxLength={4000} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Action run={() => store.writeNote(text)}>{t("review.save-note")}</Action>
    </section>
  );
}

/** What can be made of the game: another one from here, files, pictures. */
function Onward({ store, game }: { store: ReviewStore; game: Game }) {
  const { value: line } = store.variation;
  const { value: shown } = store.shown;
  const ply = store.ply.value;
  const canGoOn = shown?.turn && (game.status !== "active" || game.opponent.type === "self");
  const goOn = () => {
    const opponent = { type: "computer" as const, level: settings.value.level };
    const side = shown?.turn ?? "south";
    if (!line) return begin({ from: { game_id: game.id, ply }, opponent, side });
    const { variant, preset, options } = game;
    return begin({ variant, preset, options, start: { position: shown?.position ?? "" }, opponent, side });
  };
  const picture = `${location.origin}/v1/games/${game.id}/board.svg?ply=${ply}`;
  return (
    <section class="card row" aria-label={t("review.onward")}>
      {canGoOn && (
        <Action kind="primary" run={goOn}>
          {t("review.go-on")}
        </Action>
      )}
      {(["text", "json"] as const).map((form) => (
        <Action key={form} run={() => download(game.id, form)}>
          {t(`review.export-${form}`)}
        </Action>
      ))}
      {game.visibility !== "private" && !line && <Copy text={picture}>{t("review.picture")}</Copy>}
      <a class="button" href={`/games/${game.id}`}>
        {t("review.to-the-game")}
      </a>
    </section>
  );
}

/** Saves the game as a file. */
async function download(id: string, format: "text" | "json"): Promise<void> {
  const params = { path: { id }, query: { format } };
  const { data, error } = await client.api.GET("/v1/games/{id}/export", { params, parseAs: "blob" });
  if (!data) throw error;
  const url = URL.createObjectURL(data as Blob);
  Object.assign(document.createElement("a"), { href: url, download: `${id}.${format === "text" ? "txt" : "json"}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
