// Three ways to begin a game. The settings of a way open below it when it is chosen.

import type { NewGame } from "@mancala-server/client";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { begin, chosenVariant, hotseat, offeredVariants, seek } from "../state/create.ts";
import { me } from "../state/session.ts";
import { set, settings } from "../state/settings.ts";
import { type Key, t } from "../texts/index.ts";
import * as css from "./starts.module.css";
import * as ui from "./ui.module.css";
import { Action, Choice, Field, Pick, Tick } from "./ui.tsx";

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8];

/** The clocks that are offered here; a form for a new game has all of them. */
const CLOCKS = {
  unlimited: { type: "unlimited" },
  quick: { type: "bank", bank_s: 600, increment_s: 5 },
  day: { type: "per_move", move_s: 86_400 },
  three: { type: "per_move", move_s: 259_200 },
} as const satisfies Record<string, NewGame["clock"]>;

type ClockName = keyof typeof CLOCKS;

const CLOCK_NAMES: readonly ClockName[] = ["unlimited", "quick", "day", "three"];

const WAYS = ["computer", "friend", "seek"] as const;

type Way = (typeof WAYS)[number];

const SETTINGS: Record<Way, () => JSX.Element> = { computer: Computer, friend: Friend, seek: Seek };

export function Starts() {
  const [open, setOpen] = useState<Way | null>(null);
  return (
    <section class={css.starts} aria-labelledby="starts-title">
      <h2 id="starts-title" class={ui.unseen}>
        {t("home.play")}
      </h2>
      {WAYS.map((way) => (
        <Start key={way} way={way} isOpen={open === way} onToggle={() => setOpen(open === way ? null : way)} />
      ))}
    </section>
  );
}

function Start({ way, isOpen, onToggle }: { way: Way; isOpen: boolean; onToggle(): void }) {
  const Settings = SETTINGS[way];
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.scrollIntoView({ block: "nearest" }), [isOpen]);
  return (
    <div class={css.start}>
      <button type="button" aria-expanded={isOpen} aria-controls={isOpen ? `start-${way}` : undefined} onClick={onToggle}>
        <strong>{t(`home.${way}`)}</strong>
        <small>{t(`home.${way}-text`)}</small>
      </button>
      {isOpen && (
        <div id={`start-${way}`} class={css.settings} ref={panel}>
          <Settings />
        </div>
      )}
    </div>
  );
}

function Computer() {
  const { level, practice } = settings.value;
  const variant = chosenVariant();
  const choices = LEVELS.map((each) => ({ value: String(each), label: t("home.level-of", { level: each, word: t(levelWord(each)) }) }));
  return (
    <Common opponent="computer">
      <Pick id="level" label={t("home.level")} value={String(level)} choices={choices} onChange={(next) => set({ level: Number(next) })} />
      <Tick id="practice" label={t("practice.choose")} isChecked={practice} onChange={(next) => set({ practice: next })} />
      <Action kind="primary" run={() => begin({ variant, side: "south", opponent: { type: "computer", level }, ...(practice && { practice }) })}>
        {t("new.begin")}
      </Action>
    </Common>
  );
}

function levelWord(level: number): Key {
  if (level <= 2) return "level.easy";
  if (level <= 4) return "level.medium";
  return level <= 6 ? "level.hard" : "level.strongest";
}

function Friend() {
  const [clock, setClock] = useState<ClockName>("unlimited");
  const [second, setSecond] = useState("");
  const variant = chosenVariant();
  return (
    <Common opponent="link">
      <Clocks value={clock} onChange={setClock} />
      <Action kind="primary" run={() => begin({ variant, clock: CLOCKS[clock], opponent: { type: "link" } })}>
        {t("home.invite")}
      </Action>
      <hr />
      <Field id="second-name" label={t("home.second-name")} value={second} maxLength={32} onInput={setSecond} />
      <Action run={() => begin({ variant, side: "south", opponent: hotseat(second), visibility: "unlisted" })}>{t("home.hotseat")}</Action>
    </Common>
  );
}

/** Looks for an opponent: joins a game that waits, or opens one. */
export function Seek() {
  const [clock, setClock] = useState<ClockName>("unlimited");
  const variant = chosenVariant();
  return (
    <Common opponent="open">
      <Clocks value={clock} onChange={setClock} />
      <Action kind="primary" run={() => seek({ variant, clock: CLOCKS[clock] })}>
        {t("home.seek-now")}
      </Action>
    </Common>
  );
}

function Clocks({ value, onChange }: { value: ClockName; onChange(next: ClockName): void }) {
  const choices = CLOCK_NAMES.map((each) => ({ value: each, label: t(`clock.${each}`) }));
  return <Choice<ClockName> name="clock" label={t("home.clock")} value={value} choices={choices} onChange={onChange} />;
}

/** What every way asks: which game, and under which name a guest plays. The form has all choices. */
function Common({ opponent, children }: { opponent: string; children: ComponentChildren }) {
  const variant = chosenVariant();
  return (
    <>
      <Pick id="start-variant" label={t("home.variant")} value={variant} choices={offeredVariants()} onChange={(next) => set({ variant: next })} />
      {!me.value && (
        <Field id="guest-name" label={t("home.name")} value={settings.value.name} maxLength={32} autoComplete="nickname" onInput={(name) => set({ name })} />
      )}
      {children}
      <a class={ui.button} href={`/new?variant=${variant}&opponent=${opponent}`}>
        {t("new.all")}
      </a>
    </>
  );
}
