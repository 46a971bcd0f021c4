// A new game with everything that can be chosen: rules, opponent, side, time, and who may see it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { Choice } from "../parts/ui.tsx";
import { variants } from "../state/create.ts";
import { explain } from "../state/messages.ts";
import { settings } from "../state/settings.ts";
import { language, t } from "../texts/index.ts";
import { readOptionTexts } from "../texts/options/index.ts";
import { type Errors, idOf } from "./new-game/fields.tsx";
import * as css from "./new-game/new-game.module.css";
import { issueInWords, Options } from "./new-game/options.tsx";
import { OpponentFields, TimeFields, VisibilityFields } from "./new-game/people.tsx";
import { Preview } from "./new-game/preview.tsx";
import { fieldsOf, issuesOf } from "./new-game/schema.ts";
import { type Filled, isSeek, type Opponent, optionsOf } from "./new-game/settings.ts";
import { useSubmit } from "./new-game/submit.ts";
import * as study from "./study.module.css";
import { useVariant, type Variant } from "./variant.ts";

const OPPONENTS: readonly Opponent[] = ["computer", "open", "link", "player", "self"];

/** What is filled in at first: what the address says, or what was played last. */
function begun(): Filled {
  const query = new URLSearchParams(location.search);
  const player = query.get("player") ?? "";
  const opponent = OPPONENTS.find((each) => each === query.get("opponent")) ?? (player === "" ? "computer" : "player");
  return {
    variant: query.get("variant") ?? settings.value.variant,
    preset: query.get("preset") ?? "standard",
    options: {},
    opponent,
    level: settings.value.level,
    practice: settings.value.practice,
    secondName: "",
    playerName: player,
    playerId: "",
    isSought: true,
    side: "random",
    clock: "unlimited",
    move: { amount: "1", unit: "days" },
    bank: { amount: "10", unit: "minutes" },
    increment: { amount: "5", unit: "seconds" },
    max: { amount: "", unit: "hours" },
    visibility: "",
  };
}

export function NewGameView() {
  void readOptionTexts(language.value);
  const [filled, setFilled] = useState(begun);
  const known = variants.value;
  const isKnown = known.length === 0 || known.some(({ name }) => name === filled.variant);
  const name = isKnown ? filled.variant : (known[0]?.name ?? filled.variant);
  const { variant, error, again } = useVariant(name);
  return (
    <div class={css.newGame}>
      <Heading title={t("new.title")}>{t("new.title")}</Heading>
      {known.length > 1 && (
        <Choice
          name="new-variant"
          label={t("home.variant")}
          value={name}
          choices={known.map((each) => ({ value: each.name, label: each.title }))}
          onChange={(next) => setFilled({ ...filled, variant: next, preset: "standard", options: {} })}
        />
      )}
      {variant ? (
        <NewGameForm variant={variant} filled={{ ...filled, variant: name }} setFilled={setFilled} />
      ) : error === null ? (
        <p class={ui.quiet}>{t("ui.loading")}</p>
      ) : (
        <p role="alert">
          {explain(error)}{" "}
          <button type="button" onClick={again}>
            {t("study.again")}
          </button>
        </p>
      )}
    </div>
  );
}

interface FormProps {
  variant: Variant;
  filled: Filled;
  setFilled(filled: Filled): void;
}

function NewGameForm({ variant, filled, setFilled }: FormProps) {
  const preset = variant.presets.find(({ name }) => name === filled.preset) ?? variant.presets[0];
  const schema = variant.preset_schemas[preset?.name ?? ""] ?? variant.options_schema;
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const current = { ...filled, preset: preset?.name ?? "standard" };
  const values = useMemo(() => optionsOf(filled.options, fields), [filled.options, fields]);
  const issues = useMemo(() => issuesOf(schema, values), [schema, values]);
  const { refusals, isBusy, submit } = useSubmit(current, values);
  const form = useRef<HTMLFormElement>(null);
  const errors: Map<string, string> = new Map(refusals);
  for (const [option, issue] of issues) errors.set(`/options/${option}`, issueInWords(issue));
  useFocusOnRefusal(form.current, refusals);
  const change = (part: Partial<Filled>) => setFilled({ ...current, ...part });
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (issues.size > 0) focusFirst(form.current);
    else submit();
  };
  return (
    <form ref={form} class={study.two} noValidate onSubmit={onSubmit}>
      <div class={ui.stack}>
        <section class={ui.card} aria-labelledby="people-title">
          <h2 id="people-title">{t("new.people")}</h2>
          <OpponentFields filled={current} errors={errors} onChange={change} />
        </section>
        <section class={ui.card} aria-labelledby="time-title">
          <h2 id="time-title">{t("new.time")}</h2>
          <TimeFields filled={current} errors={errors} onChange={change} />
          <VisibilityFields filled={current} errors={errors} onChange={change} />
        </section>
      </div>
      <section class={ui.card} aria-labelledby="rules-title">
        <h2 id="rules-title">{t("new.rules")}</h2>
        <PresetFields variant={variant} preset={current.preset} onChange={(next) => change({ preset: next, options: {} })} />
        <Preview rules={{ variant: variant.name, preset: current.preset, options: { ...values } }} isValid={issues.size === 0} />
        <details class={css.allOptions} open={Object.keys(values).length > 0 || [...errors.keys()].some((pointer) => pointer.startsWith("/options"))}>
          <summary>{t("new.options", { count: Object.keys(values).length })}</summary>
          <Options
            schema={schema}
            fields={fields}
            filled={current.options}
            values={values}
            errors={errors}
            onChange={(name, value) => change({ options: { ...current.options, [name]: value } })}
          />
          <button type="button" onClick={() => change({ options: {} })}>
            {t("new.reset")}
          </button>
        </details>
      </section>
      <Summary errors={errors} shown={form.current} isRefused={refusals.size > 0} />
      <button type="submit" class={ui.primary} aria-busy={isBusy}>
        {t(isSeek(current) ? "home.seek" : "new.begin")}
      </button>
    </form>
  );
}

function PresetFields({ variant, preset, onChange }: { variant: Variant; preset: string; onChange(preset: string): void }) {
  const chosen = variant.presets.find(({ name }) => name === preset);
  return (
    <>
      <Choice
        name="new-preset"
        label={t("new.preset")}
        value={preset}
        choices={variant.presets.map(({ name, title }) => ({ value: name, label: title }))}
        onChange={onChange}
      />
      {chosen && (
        <p class={ui.quiet}>
          <span lang="en" dir="ltr">
            {chosen.description}
          </span>{" "}
          <a href={`/rules/${variant.name}`}>{t("nav.rules")}</a>
        </p>
      )}
    </>
  );
}

/** What is wrong: a failure that no field shows is told here in full. */
function Summary({ errors, shown, isRefused }: { errors: Errors; shown: HTMLFormElement | null; isRefused: boolean }) {
  if (errors.size === 0) return null;
  const others = [...errors].filter(([pointer]) => !shown?.querySelector(`#${CSS.escape(idOf(pointer))}`));
  return (
    <div class={css.summary} role="alert">
      <p>{t(isRefused ? "form.refused" : "form.look", { count: errors.size })}</p>
      {others.map(([pointer, text]) => (
        <p key={pointer}>{text}</p>
      ))}
    </div>
  );
}

/** Focuses the first field that the server has refused, once for each answer. */
function useFocusOnRefusal(form: HTMLFormElement | null, refusals: Errors): void {
  useEffect(() => {
    if (refusals.size > 0) focusFirst(form);
  }, [refusals]);
}

function focusFirst(form: HTMLFormElement | null): void {
  for (const details of form?.querySelectorAll("details") ?? []) details.open = true;
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}
