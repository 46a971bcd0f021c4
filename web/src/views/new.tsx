// A new game with all its options, from what the server says of its variants.

import type { NewGame } from "@mancala-server/client";
import { useState } from "preact/hooks";

import { Heading } from "../parts/shell.tsx";
import { Choice, Form, Pick } from "../parts/ui.tsx";
import { Words } from "../parts/markdown.tsx";
import { begin, seek, variants } from "../state/create.ts";
import { changed, contradictions, fieldsOf, type OptionField, type OptionValue } from "../state/schema.ts";
import { settings } from "../state/settings.ts";
import { useVariant, type Variant } from "../state/variant.ts";
import { span } from "../texts/format.ts";
import { t } from "../texts/index.ts";

const OPPONENTS = ["computer", "seek", "link", "self"] as const;
type Opponent = (typeof OPPONENTS)[number];

const SIDES = ["random", "south", "north"] as const;

/** Seconds for each turn, and for the whole game. */
const MOVE_S = [300, 3600, 86_400, 259_200, 604_800];
const BANK_S = [180, 300, 600, 1800, 86_400, 604_800];

export function NewView() {
  // A link from the rules names a variant and a preset.
  const [linked, preset] = location.hash.slice(1).split("/");
  const [name, setName] = useState(linked || settings.value.variant);
  const variant = useVariant(name);
  const choices = variants.value.map((each) => ({ value: each.name, label: each.title }));
  return (
    <div class="narrow">
      <Heading title={t("new.title")}>{t("new.title")}</Heading>
      <div class="card">
        <Choice label={t("home.variant")} name="variant" value={name} choices={choices} onChange={setName} />
        {variant === undefined && <p class="quiet">{t("ui.loading")}</p>}
        {variant === null && <p>{t("rules.none")}</p>}
        {variant && <Settings key={name} variant={variant} wanted={name === linked ? preset : undefined} />}
      </div>
    </div>
  );
}

function Settings({ variant, wanted }: { variant: Variant; wanted: string | undefined }) {
  const [presetName, setPreset] = useState(variant.presets.find(({ name }) => name === wanted)?.name ?? variant.presets[0]?.name ?? "standard");
  const [values, setValues] = useState<Record<string, OptionValue>>({});
  const [opponent, setOpponent] = useState<Opponent>("computer");
  const [level, setLevel] = useState(String(settings.value.level));
  const [side, setSide] = useState<(typeof SIDES)[number]>("random");
  const [clock, setClock] = useState("unlimited");
  const [isPrivate, setPrivate] = useState(false);
  const preset = variant.presets.find(({ name }) => name === presetName);
  const schema = (variant.preset_schemas as Record<string, unknown>)[presetName];
  const fields = fieldsOf(schema);
  const options = changed(fields, values);
  const faults = contradictions(schema, options);
  const choose = (next: string) => {
    setPreset(next);
    setValues({});
  };
  const create = async () => {
    const base: NewGame = { variant: variant.name, preset: presetName, options, side, ...(opponent !== "computer" && opponent !== "self" && { clock: clockOf(clock) }) };
    if (opponent === "seek") return seek(base);
    const visibility = isPrivate ? { visibility: "private" as const } : {};
    const rival = opponent === "computer" ? { type: opponent, level: Number(level) } : { type: opponent };
    return begin({ ...base, ...visibility, opponent: rival });
  };
  return (
    <Form submit={t("new.begin")} run={create}>
      <Pick id="preset" label={t("new.preset")} value={presetName} choices={variant.presets.map(({ name, title }) => ({ value: name, label: title }))} onChange={choose} />
      {preset && (
        <p class="quiet" lang="en">
          {preset.description}
        </p>
      )}
      <Choice name="opponent" label={t("new.opponent")} value={opponent} choices={OPPONENTS.map((value) => ({ value, label: t(`opponent.${value}`) }))} onChange={(next) => setOpponent(next)} />
      {opponent === "computer" && (
        <Pick id="level" label={t("home.level")} value={level} choices={Array.from({ length: 8 }, (_, n) => ({ value: String(n + 1), label: String(n + 1) }))} onChange={setLevel} />
      )}
      {opponent !== "self" && (
        <Choice name="side" label={t("new.side")} value={side} choices={SIDES.map((value) => ({ value, label: t(value === "random" ? "new.random" : `side.${value}`) }))} onChange={(next) => setSide(next)} />
      )}
      {(opponent === "seek" || opponent === "link") && <Pick id="clock" label={t("home.clock")} value={clock} choices={clocks()} onChange={setClock} />}
      {opponent !== "seek" && (
        <label class="check">
          <input type="checkbox" checked={isPrivate} onChange={(event) => setPrivate(event.currentTarget.checked)} />
          <span>{t("new.private")}</span>
        </label>
      )}
      <details>
        <summary>{t("new.options", { count: Object.keys(options).length })}</summary>
        {fields.map((field) => (
          <OptionInput key={`${presetName}.${field.name}`} field={field} value={values[field.name] ?? field.initial} onChange={(value) => setValues({ ...values, [field.name]: value })} />
        ))}
      </details>
      <div role="status" lang="en">
        {faults.map((fault) => (
          <p key={fault} class="fault">
            <Words text={fault} />
          </p>
        ))}
      </div>
    </Form>
  );
}

function clocks(): { value: string; label: string }[] {
  return [
    { value: "unlimited", label: t("clock.unlimited") },
    ...MOVE_S.map((seconds) => ({ value: `move-${seconds}`, label: t("clock.per-move", { time: span(seconds) }) })),
    ...BANK_S.map((seconds) => ({ value: `bank-${seconds}`, label: t("clock.bank", { time: span(seconds) }) })),
  ];
}

function clockOf(choice: string): NonNullable<NewGame["clock"]> {
  const [kind, seconds] = choice.split("-");
  if (kind === "move") return { type: "per_move", move_s: Number(seconds) };
  if (kind === "bank") return { type: "bank", bank_s: Number(seconds) };
  return { type: "unlimited" };
}

/** An option, as its type wants it. Its name and its description are the server's. */
function OptionInput({ field, value, onChange }: { field: OptionField; value: OptionValue; onChange(value: OptionValue): void }) {
  const id = `option-${field.name}`;
  const label = field.name.replaceAll("_", " ");
  if (field.kind === "boolean") {
    return (
      <label class="check option" lang="en">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
        <span>
          {label}
          <small>{field.description}</small>
        </span>
      </label>
    );
  }
  return (
    <label class="field option" for={id} lang="en">
      <span>{label}</span>
      {field.kind === "integer" ? (
        <input id={id} type="number" inputMode="numeric" min={field.min} max={field.max} required value={String(value)} onInput={(event) => onChange(event.currentTarget.valueAsNumber)} />
      ) : (
        <select id={id} value={String(value)} onChange={(event) => onChange(event.currentTarget.value)}>
          {field.values.map((each) => (
            <option key={each} value={each} selected={each === value}>
              {each.replaceAll("_", " ")}
            </option>
          ))}
        </select>
      )}
      <small>{field.description}</small>
    </label>
  );
}
