// The texts of the page in the reader's language. Views ask for a text by its key; no view holds a text itself.

import { computed, signal } from "@preact/signals";

import { en } from "./en.ts";
import { pseudo } from "./pseudo.ts";
import type { Text } from "./text.ts";

export type Key = keyof typeof en;

/** A catalogue has every key of the English one. */
export type Texts = Record<Key, Text>;

/** What stands for `{name}` in a text. */
export type Values = Record<string, string | number>;

/** The languages that the page has, in their own words. */
export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español" } as const;

export type Language = keyof typeof LANGUAGES;

/** Shows every text from right to left, marked and longer: what is cut off or not in a catalogue is seen at once. */
export const PSEUDO = "ar-XB";

const LOADERS: Record<Language, () => Promise<Texts>> = {
  en: async () => en,
  de: async () => (await import("./de.ts")).de,
  fr: async () => (await import("./fr.ts")).fr,
  es: async () => (await import("./es.ts")).es,
};

/** A catalogue from its texts in the order of the English ones: so the build writes it, see `catalogues` in vite.config.ts. */
export function byKey(texts: readonly Text[]): Texts {
  return Object.fromEntries(Object.keys(en).map((key, index) => [key, texts[index]])) as Texts;
}

const shown = signal<{ language: Language | typeof PSEUDO; texts: Texts }>({ language: "en", texts: en });

/** The language that is shown. */
export const language = computed(() => shown.value.language);

/** The language in which the server is to answer: it knows those of the page, and not the pseudo-locale. */
export const spoken = computed(() => (language.value === PSEUDO ? "en" : language.value));

const isLanguage = (tag: string): tag is Language => Object.hasOwn(LANGUAGES, tag);

/** The language of a wish, or else the first that the browser accepts and the page has. */
export function choose(wish: string | null, accepted: readonly string[]): Language | typeof PSEUDO {
  if (wish === PSEUDO) return PSEUDO;
  for (const tag of [wish ?? "", ...accepted]) {
    const main = tag.toLowerCase().split("-")[0] ?? "";
    if (isLanguage(main)) return main;
  }
  return "en";
}

/** Shows another language. Without its file, as when offline, the present one stays. */
export async function speak(wish: string | null): Promise<void> {
  const next = choose(wish, navigator.languages);
  try {
    const texts = next === PSEUDO ? pseudo(en) : await LOADERS[next]();
    shown.value = { language: next, texts };
  } catch (error) {
    console.warn("the language cannot be loaded", error);
  }
  document.documentElement.lang = shown.value.language;
  document.documentElement.dir = shown.value.language === PSEUDO ? "rtl" : "ltr";
}

const plurals = computed(() => new Intl.PluralRules(language.value));
const numbers = computed(() => new Intl.NumberFormat(language.value));

/** The text of a key. Names in it are isolated, so that their direction changes nothing around them. `count` chooses the plural. */
export function t(key: Key, values: Values = {}): string {
  const text = shown.value.texts[key];
  const count = values["count"];
  return formOf(text, Number(count ?? 0)).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? numbers.value.format(value) : isolate(value);
  });
}

function formOf(text: Text, count: number): string {
  if (typeof text === "string") return text;
  const form = plurals.value.select(count);
  return (form === "zero" ? undefined : text[form]) ?? text.other;
}

/** Whether a text that is made from a word of the server is a key: it may be of a later release. */
export function isKey(text: string): text is Key {
  return Object.hasOwn(en, text);
}

/** The text of a key that is made from a word of the server, or else the word: more words may come. */
export function word(prefix: string, value: string): string {
  const key = `${prefix}.${value}`;
  return isKey(key) ? t(key) : value.replaceAll("_", " ");
}

/** Unicode's isolates, for text of unknown direction. */
function isolate(text: string): string {
  return text === "" ? "" : `\u2068${text}\u2069`;
}
