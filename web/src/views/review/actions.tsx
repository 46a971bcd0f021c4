// What can be done with the position that is shown: go on from it, share it, take the game along.

import type { Game, NewGame, Side } from "@mancala-server/client";
import { useRef, useState } from "preact/hooks";
import { client } from "../../client.ts";
import * as ui from "../../parts/ui.module.css";
import { Action, Choice, Copy, Form, Pick } from "../../parts/ui.tsx";
import { ask } from "../../state/ask.ts";
import { begin } from "../../state/create.ts";
import { set, settings } from "../../state/settings.ts";
import { spoken, t } from "../../texts/index.ts";
import type { ReviewStore } from "./store.ts";

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8];

/** The forms of a picture: SVG for pages, PNG for all else. */
const PICTURES = ["svg", "png"] as const;

type Picture = (typeof PICTURES)[number];

type Against = "computer" | "self" | "link";

/** Begins a game of its own with the position that is shown. */
export function GoOn({ store, game }: { store: ReviewStore; game: Game }) {
  const dialog = useRef<HTMLDialogElement>(null);
  if (!store.canGoOn()) return null;
  const open = () => {
    store.pause();
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" class={ui.primary} onClick={open}>
        {t("review.go-on")}
      </button>
      <dialog ref={dialog} aria-labelledby="go-on-title">
        <h2 id="go-on-title">{t("review.go-on")}</h2>
        <GoOnForm store={store} game={game} close={() => dialog.current?.close()} />
      </dialog>
    </>
  );
}

function GoOnForm({ store, game, close }: { store: ReviewStore; game: Game; close(): void }) {
  const [against, setAgainst] = useState<Against>("computer");
  const turn = store.now.value?.turn ?? "south";
  const [side, setSide] = useState<Side | null>(null);
  const { level } = settings.value;
  const run = async () => {
    const opponent = against === "computer" ? { type: against, level } : { type: against };
    await begin({ ...originOf(store, game), side: side ?? turn, opponent, ...(against === "self" && { visibility: "unlisted" as const }) });
  };
  return (
    <Form submit={t("review.go-on-begin")} run={run}>
      <p>{t("review.go-on-text")}</p>
      <Choice<Against>
        name="go-on-against"
        label={t("new.opponent")}
        value={against}
        choices={[
          { value: "computer", label: t("new.computer") },
          { value: "link", label: t("new.link") },
          { value: "self", label: t("new.self") },
        ]}
        onChange={setAgainst}
      />
      {against === "computer" && (
        <Pick
          id="go-on-level"
          label={t("home.level")}
          value={String(level)}
          choices={LEVELS.map((each) => ({ value: String(each), label: String(each) }))}
          onChange={(next) => set({ level: Number(next) })}
        />
      )}
      {against !== "self" && (
        <Choice<Side>
          name="go-on-side"
          label={t("new.side")}
          value={side ?? turn}
          choices={(["south", "north"] as const).map((each) => ({
            value: each,
            label: each === turn ? t("review.side-to-move", { side: t(`side.${each}`) }) : t(`side.${each}`),
          }))}
          onChange={setSide}
        />
      )}
      <button type="button" class={ui.plain} onClick={close}>
        {t("ui.cancel")}
      </button>
    </Form>
  );
}

/** A ply of the game is named; a position that was only tried is given as a text. */
function originOf(store: ReviewStore, game: Game): NewGame {
  const { value: tried } = store.variation;
  if (!tried || tried.at === 0) return { from: { game_id: game.id, ply: store.ply.value } };
  const { variant, preset, options } = game;
  return { variant, preset, options, start: { position: store.now.value?.position ?? "" } };
}

/** Links and pictures of the ply that is shown, and the whole game as a file. */
export function ShareGame({ store, game }: { store: ReviewStore; game: Game }) {
  const { value: ply } = store.ply;
  const own = store.bottom();
  const pictureOf = (form: Picture) => `/v1/games/${game.id}/board.${form}?ply=${ply}&side=${own}&lang=${spoken.value}`;
  const isPrivate = game.visibility === "private";
  return (
    <section class={ui.card} aria-labelledby="share-title">
      <h2 id="share-title">{t("review.share")}</h2>
      {isPrivate ? (
        <p class={ui.quiet}>{t("review.private")}</p>
      ) : (
        <div class={ui.row}>
          <Copy text={`${location.origin}/review/${game.id}#ply=${ply}`}>{t("review.copy-link")}</Copy>
          <Copy text={location.origin + pictureOf("svg")}>{t("review.copy-picture")}</Copy>
          {PICTURES.map((form) => (
            <a key={form} class={ui.button} href={pictureOf(form)} target="_blank" rel="noopener">
              {t(`review.picture-${form}`)}
            </a>
          ))}
        </div>
      )}
      <h3>{t("review.export")}</h3>
      <div class={ui.row}>
        {isPrivate &&
          PICTURES.map((form) => (
            <Action key={form} run={() => savePicture(game, form, ply, own)}>
              {t(`review.picture-${form}`)}
            </Action>
          ))}
        <Action run={() => saveGame(game, "text")}>{t("review.export-text")}</Action>
        <Action run={() => saveGame(game, "json")}>{t("review.export-json")}</Action>
      </div>
    </section>
  );
}

async function saveGame(game: Game, format: "text" | "json"): Promise<void> {
  const query = { format };
  const params = { path: { id: game.id }, query };
  const text = await ask<unknown>(client.api.GET("/v1/games/{id}/export", { params, parseAs: "text" }));
  const [type, ending] = format === "text" ? ["text/plain", "txt"] : ["application/json", "json"];
  save(new Blob([String(text)], { type: `${type};charset=utf-8` }), `${game.variant}-${game.id}.${ending}`);
}

// The picture of a private game needs the token, so it is no plain link.
async function savePicture(game: Game, form: Picture, ply: number, side: Side): Promise<void> {
  const params = { path: { id: game.id }, query: { ply, side, lang: spoken.value } };
  const picture = await ask<unknown>(client.api.GET(`/v1/games/{id}/board.${form}`, { params, parseAs: "blob" }));
  save(picture as Blob, `${game.variant}-${game.id}-${ply}.${form}`);
}

function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
