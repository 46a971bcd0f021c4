// The first view: begin a game, go on with one, accept an invitation, join one of the lobby.

import { useEffect, useState } from "preact/hooks";

import { GameRow, Lobby } from "../parts/rows.tsx";
import { Heading } from "../parts/shell.tsx";
import { Action, Choice, Field, Pick, Tick } from "../parts/ui.tsx";
import { begin, hotseat, seek, titleOf, variants } from "../state/create.ts";
import { followMine, mine } from "../state/lists.ts";
import { me } from "../state/session.ts";
import { set, settings } from "../state/settings.ts";
import { spoken, t, type Key } from "../texts/index.ts";

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8];

/** The clocks that are offered here; a form for a new game has all of them. */
const CLOCKS = {
  unlimited: { type: "unlimited" },
  day: { type: "per_move", move_s: 86_400 },
  three: { type: "per_move", move_s: 259_200 },
  quick: { type: "bank", bank_s: 600, increment_s: 5 },
} as const;

type ClockName = keyof typeof CLOCKS;

export function Home() {
  return (
    <div class="home">
      <Heading title="Mancala">{t("home.title")}</Heading>
      <div class="columns">
        <PlayNow />
        <div class="stack">
          <Picture />
          <Games />
          <Lobby />
        </div>
      </div>
    </div>
  );
}

/** The chosen game, as the server draws it. */
function Picture() {
  const { theme } = settings.value;
  const variant = chosen();
  return (
    <img
      class="picture"
      src={`/v1/variants/${variant}/board.svg?theme=${theme}&lang=${spoken.value}`}
      width="640"
      height="425"
      alt={t("home.picture", { variant: titleOf(variant) })}
    />
  );
}

function chosen(): string {
  const choices = offered();
  return choices.find(({ value }) => value === settings.value.variant)?.value ?? choices[0]?.value ?? "kalah";
}

/** What the server offers, or what every server offers until it has answered. */
function offered(): { value: string; label: string }[] {
  const known = variants.value.map(({ name, title }) => ({ value: name, label: title }));
  return known.length > 0 ? known : [{ value: "kalah", label: "Kalah" }];
}

function PlayNow() {
  const [clock, setClock] = useState<ClockName>("unlimited");
  const choices = offered();
  const variant = chosen();
  const [second, setSecond] = useState("");
  const { level, name, practice } = settings.value;
  return (
    <section class="card play" aria-labelledby="play-title">
      <h2 id="play-title">{t("home.play")}</h2>
      <Choice label={t("home.variant")} name="variant" value={variant} choices={choices} onChange={(next) => set({ variant: next })} />
      {!me.value && (
        <Field
          id="guest-name"
          label={t("home.name")}
          value={name}
          maxLength={32}
          autoComplete="nickname"
          onInput={(next) => set({ name: next })}
        />
      )}
      <div class="way">
        <Pick
          id="level"
          label={t("home.level")}
          value={String(level)}
          choices={LEVELS.map((each) => ({ value: String(each), label: t("home.level-of", { level: each, word: t(levelWord(each)) }) }))}
          onChange={(next) => set({ level: Number(next) })}
        />
        <Tick id="practice" label={t("practice.choose")} isChecked={practice} onChange={(next) => set({ practice: next })} />
        <Action
          kind="primary"
          run={() => begin({ variant, side: "south", opponent: { type: "computer", level }, ...(practice && { practice }) })}
        >
          {t("home.computer")}
        </Action>
      </div>
      <div class="way">
        <Pick<ClockName>
          id="clock"
          label={t("home.clock")}
          value={clock}
          choices={(Object.keys(CLOCKS) as ClockName[]).map((each) => ({ value: each, label: t(`clock.${each}`) }))}
          onChange={(next) => setClock(next)}
        />
        <div class="row">
          <Action kind="primary" run={() => seek({ variant, clock: CLOCKS[clock] })}>
            {t("home.seek")}
          </Action>
          <Action run={() => begin({ variant, clock: CLOCKS[clock], opponent: { type: "link" } })}>{t("home.friend")}</Action>
        </div>
      </div>
      <div class="way">
        <Field id="second-name" label={t("home.second-name")} value={second} maxLength={32} onInput={setSecond} />
        <Action run={() => begin({ variant, side: "south", opponent: hotseat(second), visibility: "unlisted" })}>{t("home.hotseat")}</Action>
        <a class="button" href={`/new?variant=${variant}`}>
          {t("new.all")}
        </a>
      </div>
    </section>
  );
}

function levelWord(level: number): Key {
  if (level <= 2) return "level.easy";
  if (level <= 4) return "level.medium";
  return level <= 6 ? "level.hard" : "level.strongest";
}

function Games() {
  const { value: games } = mine;
  useEffect(followMine, [me.value?.id]);
  if (!me.value) return <p class="card quiet">{t("home.no-player")}</p>;
  if (!games) return <p class="card quiet">{t("ui.loading")}</p>;
  const { active, open, finished, invitations } = games;
  const isEmpty = active.length + open.length + finished.length + invitations.length === 0;
  return (
    <>
      {invitations.length > 0 && (
        <section class="card" aria-labelledby="invitations-title">
          <h2 id="invitations-title">{t("home.invitations")}</h2>
          <ul class="rows">{invitations.map((game) => <GameRow key={game.id} game={game} />)}</ul>
        </section>
      )}
      <section class="card" aria-labelledby="mine-title">
        <h2 id="mine-title">{t("home.mine")}</h2>
        {isEmpty && <p class="quiet">{t("home.none")}</p>}
        <ul class="rows">{[...active, ...open].map((game) => <GameRow key={game.id} game={game} />)}</ul>
        {finished.length > 0 && (
          <>
            <h3>{t("home.finished")}</h3>
            <ul class="rows">{finished.map((game) => <GameRow key={game.id} game={game} />)}</ul>
          </>
        )}
      </section>
    </>
  );
}
