// Small pieces that all views are made of.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { attempt } from "../state/messages.ts";
import { isKey, t } from "../texts/index.ts";
import * as ui from "./ui.module.css";

/** How much a button says: what is done here most, what ends something, or hardly anything. */
export type Kind = "primary" | "danger" | "plain" | "";

const KINDS: Readonly<Record<Kind, string | undefined>> = { primary: ui.primary, danger: ui.danger, plain: ui.plain, "": undefined };

export interface ActionProps {
  children: ComponentChildren;
  /** What the button does. Until it is done, the button cannot be pressed again. */
  run(): Promise<unknown>;
  kind?: Kind;
  /** What its place makes of it. */
  place?: string;
  isDisabled?: boolean;
  label?: string;
}

/** A button that does something on the server, and shows the failure if it fails. */
export function Action({ children, run, kind = "", place, isDisabled = false, label }: ActionProps) {
  const [isBusy, setBusy] = useState(false);
  const onClick = async () => {
    if (isBusy) return;
    setBusy(true);
    await attempt(run);
    setBusy(false);
  };
  return (
    <button type="button" class={place ?? KINDS[kind]} disabled={isDisabled} aria-busy={isBusy} aria-label={label} onClick={() => void onClick()}>
      {children}
    </button>
  );
}

export interface ConfirmProps {
  /** The button that asks. */
  children: ComponentChildren;
  question: string;
  /** What the answer "yes" is called. */
  yes: string;
  kind?: Kind;
  run(): Promise<unknown>;
}

/** A button that asks before it does what cannot be undone. */
export function Confirm({ children, question, yes, kind = "", run }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  return (
    <>
      <button type="button" class={KINDS[kind]} onClick={() => dialog.current?.showModal()}>
        {children}
      </button>
      <dialog ref={dialog} aria-label={question}>
        <p>{question}</p>
        <div class={`${ui.row} ${ui.end}`}>
          <button type="button" class={ui.plain} onClick={close}>
            {t("ui.cancel")}
          </button>
          <Action
            kind={kind === "danger" ? "danger" : "primary"}
            run={async () => {
              close();
              await run();
            }}
          >
            {yes}
          </Action>
        </div>
      </dialog>
    </>
  );
}

export interface ChoiceProps<T extends string> {
  label: string;
  name: string;
  value: T;
  choices: readonly { value: T; label: string }[];
  onChange(value: T): void;
}

/** A few choices side by side, of which one holds. */
export function Choice<T extends string>({ label, name, value, choices, onChange }: ChoiceProps<T>) {
  return (
    <fieldset class={ui.choice}>
      <legend>{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input type="radio" name={name} checked={choice.value === value} onChange={() => onChange(choice.value)} />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

export interface PickProps<T extends string> extends Omit<ChoiceProps<T>, "name"> {
  id: string;
}

/** A list of choices that opens. */
export function Pick<T extends string>({ label, id, value, choices, onChange }: PickProps<T>) {
  const choose = (next: string) => {
    const chosen = choices.find((choice) => choice.value === next);
    if (chosen) onChange(chosen.value);
  };
  return (
    <label class={ui.field} for={id}>
      <span>{label}</span>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
}

export interface FieldProps {
  label: string;
  id: string;
  value: string;
  onInput(value: string): void;
  type?: "text" | "password";
  autoComplete?: string;
  maxLength?: number;
  hint?: string;
  isRequired?: boolean;
}

/** A line of text to fill in. */
export function Field({ label, id, value, onInput, type = "text", autoComplete = "off", maxLength = 128, hint, isRequired }: FieldProps) {
  return (
    <label class={ui.field} for={id}>
      <span>{label}</span>
      <input
        id={id}
        dir="auto"
        // The types of Preact know one kind of field at a time.
        type={type as "text"}
        value={value}
        maxLength={maxLength}
        autoComplete={autoComplete}
        required={isRequired ?? false}
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </label>
  );
}

/** A wish that is on or off. */
export function Tick({ label, id, isChecked, onChange }: { label: string; id: string; isChecked: boolean; onChange(isChecked: boolean): void }) {
  return (
    <label class={ui.check} for={id}>
      <input id={id} type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

/** A word about what it stands beside. */
export function Badge({ children }: { children: ComponentChildren }) {
  return (
    <>
      {" "}
      <span class={ui.badge}>{children}</span>
    </>
  );
}

/** A form that sends nothing by itself. */
export function Form({ children, submit, run }: { children: ComponentChildren; submit: string; run(): Promise<unknown> }) {
  const [isBusy, setBusy] = useState(false);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    await attempt(run);
    setBusy(false);
  };
  return (
    <form onSubmit={(event) => void onSubmit(event)}>
      {children}
      <button type="submit" class={ui.primary} aria-busy={isBusy}>
        {submit}
      </button>
    </form>
  );
}

/** Puts a text into the clipboard, and says so. Where the browser refuses that, as it does without https, shows the text selected. */
export function Copy({ text, children }: { text: string; children: ComponentChildren }) {
  const [outcome, setOutcome] = useState<"copied" | "refused" | null>(null);
  useEffect(() => {
    if (outcome !== "copied") return;
    const timer = setTimeout(() => setOutcome(null), 2500);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    // Without https there is no clipboard at all.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    const isCopied = await clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setOutcome(isCopied ? "copied" : "refused");
  };
  return (
    <>
      <Action run={copy}>{outcome === "copied" ? t("ui.copied") : children}</Action>
      {outcome === "refused" && (
        <label>
          {t("ui.copy-by-hand")}
          <input readOnly value={text} ref={(input) => input?.select()} />
        </label>
      )}
    </>
  );
}

/** A name, whatever its script and whatever is in it, with what distinguishes it from others of the same name. */
export function PlayerName({ player }: { player: { name: string; kind: string; display_name?: string } }) {
  const { display_name: other } = player;
  // The second of two at one device is no player, so nothing is said of one.
  const kind = other === undefined && player.kind !== "computer" ? `kind.${player.kind}` : "";
  return (
    <span class={ui.name}>
      <bdi>{other ?? player.name}</bdi>
      {isKey(kind) && <small> {t(kind)}</small>}
    </span>
  );
}
