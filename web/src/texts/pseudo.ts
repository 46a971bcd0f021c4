// A language of no country, to test the layout: longer, from right to left, and recognizable.

import type { Text } from "./text.ts";

const LETTERS: Record<string, string> = { a: "ɐ", e: "ə", i: "ı", o: "ø", u: "ʉ", A: "Ɐ", E: "Ǝ", O: "Ø", U: "Ʉ" };

/** A catalogue in which every text is marked, a third longer, and written from right to left. */
export function pseudo<T extends Record<string, Text>>(texts: T): Record<keyof T, Text> {
  const all = Object.entries(texts).map(([key, text]) => [key, of(text)]);
  return Object.fromEntries(all) as Record<keyof T, Text>;
}

function of(text: Text): Text {
  if (typeof text !== "string") {
    return Object.fromEntries(Object.entries(text).map(([form, each]) => [form, strange(each)])) as Text;
  }
  return strange(text);
}

function strange(text: string): string {
  const parts = text.split(/(\{\w+\})/);
  const changed = parts.map((part) => (part.startsWith("{") ? part : part.replace(/[aeiouAEOU]/g, (letter) => LETTERS[letter] ?? letter)));
  return `\u202e[${changed.join("")} ${"·".repeat(Math.ceil(text.length / 3))}]\u202c`;
}
