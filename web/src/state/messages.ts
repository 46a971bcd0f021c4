// Short messages to the player, and what a failure means in words.

import { type FieldError, MancalaError } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { isKey, type Key, language, t, word } from "../texts/index.ts";

export interface Message {
  id: number;
  text: string;
  kind: "error" | "note";
  /** What the player can do about it. */
  action?: { label: string; run(): void };
}

export const messages = signal<readonly Message[]>([]);

/** Older messages make room. */
const SHOWN_MAX = 3;

/** How long a message that needs no action stays. */
const STAYS_MS = 8000;

let last = 0;

/** Shows a message until it is dismissed or some seconds have passed. */
export function say(text: string, kind: Message["kind"] = "note", action?: Message["action"]): void {
  const id = ++last;
  const others = messages.value.filter((message) => message.text !== text);
  messages.value = [...others, { id, text, kind, ...(action && { action }) }].slice(-SHOWN_MAX);
  if (!action) setTimeout(() => dismiss(id), STAYS_MS);
}

export function dismiss(id: number): void {
  messages.value = messages.value.filter((message) => message.id !== id);
}

/** Shows what went wrong. A call that the page itself ended says nothing. */
export function sayFailure(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") return;
  say(explain(error), "error");
}

/** A failure in words that a player understands. */
export function explain(error: unknown): string {
  if (!(error instanceof MancalaError)) {
    console.error(error);
    return t("failure.page");
  }
  const { failure, requestId } = error;
  if (failure.code === "illegal_move") return t("failure.illegal_move", { reason: word("illegal", failure.reason) });
  if (failure.code === "validation_failed") {
    const fields = failure.errors.map((error) => `${fieldInWords(error.pointer)}: ${refusalInWords(error)}`);
    return t("failure.validation_failed", { fields: fields.join("; ") });
  }
  if (failure.code === "internal") return t("failure.internal", { id: requestId ?? "" });
  const key = `failure.${failure.code}`;
  return isKey(key) ? t(key, { detail: failure.detail }) : t("failure.other", { detail: failure.detail });
}

/** What is wrong with a field. The server says it in English, and by a code that the other catalogues know. */
export function refusalInWords({ pointer, code, detail }: FieldError): string {
  if (language.value === "en") return detail.replaceAll("`", "");
  // The code does not say which rule for passwords is broken, so all of them are told.
  if (pointer === "/password") return t("invalid.password");
  const key = `invalid.${code}`;
  return t(isKey(key) ? key : "invalid.invalid");
}

/** The fields of forms whose refusal is told in a message; others keep their names. */
const FIELDS: Readonly<Record<string, Key>> = { name: "account.name", password: "account.password", recovery_code: "account.code" };

function fieldInWords(pointer: string): string {
  const name = pointer.replace(/^[/?]/, "");
  const key = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  return key === undefined ? name : t(key);
}

/** Whether a call failed in one of these ways. */
export function failedBy(error: unknown, ...codes: string[]): error is MancalaError {
  return error instanceof MancalaError && codes.includes(error.failure.code);
}

/** Does something, and shows the failure if it fails. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    sayFailure(error);
    return undefined;
  }
}
