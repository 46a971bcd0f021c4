// Against whom is played, from which side, with how much time, and who may see it.

import type { Schemas } from "@mancala-server/client";
import { useEffect, useState } from "preact/hooks";
import { client } from "../../client.ts";
import * as ui from "../../parts/ui.module.css";
import { Choice, PlayerName } from "../../parts/ui.tsx";
import { ask } from "../../state/ask.ts";
import { failedBy } from "../../state/messages.ts";
import { me } from "../../state/session.ts";
import { set, settings } from "../../state/settings.ts";
import { t } from "../../texts/index.ts";
import { Check, type Errors, Line, Select, Time } from "./fields.tsx";
import { type Filled, idOfPlayer, type Opponent, type Unit } from "./settings.ts";

export interface PartProps {
  filled: Filled;
  errors: Errors;
  onChange(part: Partial<Filled>): void;
}

const OPPONENTS: readonly Opponent[] = ["computer", "open", "link", "player", "self"];
const SIDES = ["random", "south", "north"] as const;
const CLOCKS = ["unlimited", "per_move", "bank"] as const;
const VISIBILITIES = ["", "public", "unlisted", "private"] as const;
const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8];
const LONG: readonly Unit[] = ["minutes", "hours", "days"];

export function OpponentFields({ filled, errors, onChange }: PartProps) {
  const { opponent, level, practice, secondName, isSought, side, visibility } = filled;
  return (
    <>
      {!me.value && (
        <Line pointer="/name" label={t("home.name")} value={settings.value.name} maxLength={32} error={errors.get("/name")} onInput={(name) => set({ name })} />
      )}
      <Choice<Opponent>
        name="new-opponent"
        label={t("new.opponent")}
        value={opponent}
        choices={OPPONENTS.map((value) => ({ value, label: t(`new.${value}`) }))}
        onChange={(next) => onChange({ opponent: next })}
      />
      {opponent === "computer" && (
        <Select
          pointer="/opponent/level"
          label={t("home.level")}
          hint={t("new.level-hint")}
          value={String(level)}
          choices={LEVELS.map((each) => ({ value: String(each), label: String(each) }))}
          error={errors.get("/opponent/level")}
          onChange={(next) => onChange({ level: Number(next) })}
        />
      )}
      {opponent === "computer" && (
        <Check
          pointer="/practice"
          label={t("practice.choose")}
          hint={t("practice.hint")}
          isChecked={practice}
          error={errors.get("/practice")}
          onChange={(next) => onChange({ practice: next })}
        />
      )}
      {opponent === "self" && (
        <Line
          pointer="/opponent/name"
          label={t("home.second-name")}
          value={secondName}
          maxLength={32}
          error={errors.get("/opponent/name")}
          onInput={(next) => onChange({ secondName: next })}
        />
      )}
      {opponent === "open" && (
        <Check
          pointer="/sought"
          label={t("new.sought")}
          hint={t("new.sought-hint")}
          isChecked={isSought}
          onChange={(next) => onChange({ isSought: next, ...(next && visibility !== "public" && { visibility: "" as const }) })}
        />
      )}
      {opponent === "player" && <PlayerField filled={filled} errors={errors} onChange={onChange} />}
      {opponent !== "self" && (
        <Choice
          name="new-side"
          label={t("new.side")}
          value={side}
          choices={SIDES.map((value) => ({ value, label: t(`new.side-${value}`) }))}
          onChange={(next) => onChange({ side: next })}
        />
      )}
      <p class={ui.quiet}>{t(`new.${opponent}-text`)}</p>
    </>
  );
}

/** A player by name. Players of earlier games are proposed, and accounts that want to be found. The name that an id stands for is shown. */
function PlayerField({ filled: { playerName, playerId }, errors, onChange }: PartProps) {
  const id = playerId === "" ? idOfPlayer({ playerId, playerName }) : null;
  const named = useNamed(id);
  const proposed = useProposed(id === null ? playerName.trim() : "");
  const error = errors.get("/opponent/player_id") ?? errors.get("/opponent/name") ?? (named === "none" ? t("new.no-player") : undefined);
  return (
    <>
      <Line
        pointer="/opponent/player_id"
        label={t("new.player-name")}
        hint={named !== null && named !== "none" ? <PlayerName player={named} /> : t("new.player-hint")}
        value={playerName}
        maxLength={64}
        error={error}
        onInput={(next) => onChange({ playerName: next, playerId: "" })}
      />
      {proposed.length > 0 && (
        <Choice
          name="new-player"
          label={t("new.players")}
          value={playerId}
          choices={proposed.map(({ id: each, name }) => ({ value: each, label: name }))}
          onChange={(next) => onChange({ playerId: next, playerName: proposed.find(({ id: each }) => each === next)?.name ?? playerName })}
        />
      )}
    </>
  );
}

type Person = Pick<Schemas["Player"], "id" | "name">;

/** The player that an id stands for: null until that is known, or without an id. */
function useNamed(id: string | null): Schemas["Profile"] | "none" | null {
  const [found, setFound] = useState<{ id: string; player: Schemas["Profile"] | "none" } | null>(null);
  useEffect(() => {
    if (id === null) return;
    const ending = new AbortController();
    ask(client.api.GET("/v1/players/{player_id}", { params: { path: { player_id: id } }, signal: ending.signal })).then(
      (player) => setFound({ id, player }),
      (error: unknown) => failedBy(error, "not_found") && setFound({ id, player: "none" }),
    );
    return () => ending.abort();
  }, [id]);
  return found !== null && found.id === id ? found.player : null;
}

/** A name that is still being written asks for nothing. */
const DELAY_MS = 200;

/** The server looks for names from this length. */
const PREFIX_MIN = 2;

/** As many as are looked over at once. */
const PROPOSED_MAX = 8;

/** Opponents of earlier games whose names begin so, and accounts that want to be found by the beginning of their names. */
function useProposed(beginning: string): Person[] {
  const [recent, setRecent] = useState<readonly Person[]>([]);
  const [found, setFound] = useState<readonly Person[]>([]);
  useEffect(() => {
    if (me.value)
      ask(client.api.GET("/v1/me/opponents")).then(
        ({ items }) => setRecent(items.map(({ player }) => player)),
        () => undefined,
      );
  }, [me.value?.id]);
  useEffect(() => {
    setFound([]);
    if (!me.value || beginning.length < PREFIX_MIN) return;
    const ending = new AbortController();
    const timer = setTimeout(() => {
      const call = client.api.GET("/v1/players", { params: { query: { name_prefix: beginning } }, signal: ending.signal });
      // Without proposals the whole name still works.
      ask(call).then(
        ({ items }) => setFound(items),
        () => undefined,
      );
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [beginning, me.value?.id]);
  const fitting = recent.filter(({ name }) => name.toLowerCase().startsWith(beginning.toLowerCase()));
  return [...new Map([...fitting, ...found].map((person) => [person.id, person])).values()].slice(0, PROPOSED_MAX);
}

export function TimeFields({ filled, errors, onChange }: PartProps) {
  const { clock, move, bank, increment, max } = filled;
  return (
    <>
      <Choice
        name="new-clock"
        label={t("home.clock")}
        value={clock}
        choices={CLOCKS.map((value) => ({ value, label: t(`new.clock-${value}`) }))}
        onChange={(next) => onChange({ clock: next })}
      />
      {clock === "per_move" && (
        <Time
          pointer="/clock/move_s"
          label={t("new.move-time")}
          hint={t("new.time-bounds")}
          span={move}
          units={LONG}
          error={errors.get("/clock/move_s")}
          onChange={(next) => onChange({ move: next })}
        />
      )}
      {clock === "bank" && (
        <>
          <Time
            pointer="/clock/bank_s"
            label={t("new.bank-time")}
            hint={t("new.time-bounds")}
            span={bank}
            units={LONG}
            error={errors.get("/clock/bank_s")}
            onChange={(next) => onChange({ bank: next })}
          />
          <Time
            pointer="/clock/increment_s"
            label={t("new.increment")}
            hint={t("new.increment-hint")}
            span={increment}
            units={["seconds", ...LONG]}
            error={errors.get("/clock/increment_s")}
            onChange={(next) => onChange({ increment: next })}
          />
          <Time
            pointer="/clock/max_s"
            label={t("new.max-time")}
            hint={t("new.max-hint")}
            span={max}
            units={LONG}
            error={errors.get("/clock/max_s")}
            onChange={(next) => onChange({ max: next })}
          />
        </>
      )}
    </>
  );
}

export function VisibilityFields({ filled, errors, onChange }: PartProps) {
  const { opponent, isSought, visibility } = filled;
  const isSeek = opponent === "open" && isSought;
  return (
    <Select
      pointer="/visibility"
      label={t("new.visibility")}
      hint={t(isSeek ? "new.visibility-sought" : "new.visibility-hint")}
      isDisabled={isSeek}
      value={isSeek ? "public" : visibility}
      choices={VISIBILITIES.map((value) => ({ value, label: t(`new.visibility-${value === "" ? "default" : value}`) }))}
      error={errors.get("/visibility")}
      onChange={(next) => onChange({ visibility: VISIBILITIES.find((value) => value === next) ?? "" })}
    />
  );
}
