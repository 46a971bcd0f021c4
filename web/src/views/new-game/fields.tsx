// Fields that know what is wrong with them. Each is named by the pointer of what it fills in, as failures of the server name it.

import type { ComponentChildren } from "preact";
import * as ui from "../../parts/ui.module.css";
import { t } from "../../texts/index.ts";
import * as css from "./new-game.module.css";
import type { Span, Unit } from "./settings.ts";

/** Failures by pointer, such as `/options/seeds`. */
export type Errors = ReadonlyMap<string, string>;

/** The id of the element that fills in what a pointer names. */
export function idOf(pointer: string): string {
  return `new${pointer.replaceAll("/", "-")}`;
}

export interface Described {
  pointer: string;
  label: string;
  /** What it is about. */
  hint?: ComponentChildren;
  hintLang?: string | undefined;
  error?: string | undefined;
  isDisabled?: boolean;
}

/** What an element refers to for its description. */
export function describedBy({ pointer, hint, error }: Described): string | undefined {
  const ids = [hint !== undefined && `${idOf(pointer)}-hint`, error !== undefined && `${idOf(pointer)}-error`].filter(Boolean);
  return ids.length > 0 ? ids.join(" ") : undefined;
}

/** What stands below a field: what it is about, and what is wrong with it. */
export function Notes({ pointer, hint, hintLang, error }: Described) {
  return (
    <>
      {hint !== undefined && (
        <small id={`${idOf(pointer)}-hint`} lang={hintLang}>
          {hint}
        </small>
      )}
      {error !== undefined && (
        <small id={`${idOf(pointer)}-error`} class={css.error}>
          {error}
        </small>
      )}
    </>
  );
}

export interface LineProps extends Described {
  value: string;
  onInput(value: string): void;
  type?: "text" | "number";
  min?: number | undefined;
  max?: number | undefined;
  step?: number | "any";
  maxLength?: number;
  children?: ComponentChildren;
}

/** A line to fill in: a number or a text. */
export function Line(props: LineProps) {
  const { pointer, label, value, onInput, error, isDisabled = false, type = "text", min, max, step, maxLength } = props;
  return (
    <div class={css.field}>
      <label class={css.label} for={idOf(pointer)}>
        {label}
      </label>
      <div class={css.beside}>
        <input
          id={idOf(pointer)}
          dir="auto"
          // The types of Preact know one kind of field at a time.
          type={type as "text"}
          inputMode={type === "number" ? "numeric" : undefined}
          value={value}
          min={min}
          max={max}
          step={step}
          maxLength={maxLength}
          disabled={isDisabled}
          autoComplete="off"
          spellcheck={false}
          aria-invalid={error !== undefined}
          aria-describedby={describedBy(props)}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        {props.children}
      </div>
      <Notes {...props} />
    </div>
  );
}

export interface SelectProps extends Described {
  value: string;
  choices: readonly { value: string; label: string }[];
  onChange(value: string): void;
}

export function Select(props: SelectProps) {
  const { pointer, label, value, choices, onChange, error, isDisabled = false } = props;
  return (
    <div class={css.field}>
      <label class={css.label} for={idOf(pointer)}>
        {label}
      </label>
      <select
        id={idOf(pointer)}
        value={value}
        disabled={isDisabled}
        aria-invalid={error !== undefined}
        aria-describedby={describedBy(props)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Notes {...props} />
    </div>
  );
}

export function Check(props: Described & { isChecked: boolean; onChange(isChecked: boolean): void }) {
  const { pointer, label, isChecked, onChange, error, isDisabled = false } = props;
  return (
    <div class={css.field}>
      <label class={ui.check} for={idOf(pointer)}>
        <input
          id={idOf(pointer)}
          type="checkbox"
          checked={isChecked}
          disabled={isDisabled}
          aria-invalid={error !== undefined}
          aria-describedby={describedBy(props)}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span>{label}</span>
      </label>
      <Notes {...props} />
    </div>
  );
}

export interface TimeProps extends Described {
  span: Span;
  units: readonly Unit[];
  onChange(span: Span): void;
}

/** A time: a number and its unit. */
export function Time(props: TimeProps) {
  const { pointer, span, units, onChange, label } = props;
  return (
    <Line {...props} value={span.amount} maxLength={9} onInput={(amount) => onChange({ ...span, amount })}>
      <select
        aria-label={t("new.unit-of", { label })}
        id={`${idOf(pointer)}-unit`}
        value={span.unit}
        onChange={(event) => onChange({ ...span, unit: units.find((unit) => unit === event.currentTarget.value) ?? span.unit })}
      >
        {units.map((unit) => (
          <option key={unit} value={unit} selected={unit === span.unit}>
            {t(`unit.${unit}`)}
          </option>
        ))}
      </select>
    </Line>
  );
}
