// Options of the games in the reader's language. The server names and describes them in English, and may have new ones: what is
// not known here is shown as the server says it. Loaded only by views that show options.

import { signal } from "@preact/signals";

import { PSEUDO } from "../index.ts";
import { pseudo } from "../pseudo.ts";
import { en } from "./en.ts";

/** `labels` of options, `values` of choices, and what an option is `about` where the server's English does not serve. */
export interface OptionTexts {
  labels: Readonly<Record<string, string>>;
  values: Readonly<Record<string, string>>;
  about: Readonly<Record<string, string>>;
}

const LOADERS: Record<string, () => Promise<OptionTexts>> = {
  de: async () => (await import("./de.ts")).de,
  fr: async () => (await import("./fr.ts")).fr,
  es: async () => (await import("./es.ts")).es,
};

/** A description, and the language that it is in. */
export interface About {
  text: string;
  lang: string | undefined;
}

const has = (texts: Readonly<Record<string, string>>, key: string) => (Object.hasOwn(texts, key) ? texts[key] : undefined);

const words = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

function reader(texts: OptionTexts) {
  return {
    label: (option: string) => has(texts.labels, option) ?? words(option),
    value(option: string, value: unknown): string {
      if (typeof value === "boolean") return texts.values[value ? "yes" : "no"] ?? String(value);
      if (typeof value !== "string") return String(value);
      return has(texts.values, `${option}.${value}`) ?? words(value);
    },
    about(option: string, described: string): About {
      const text = has(texts.about, option);
      return text === undefined ? { text: described.replaceAll("`", ""), lang: texts === en ? undefined : "en" } : { text, lang: undefined };
    },
  };
}

/** The texts in the language that is shown; in English until they are loaded. */
export const optionTexts = signal(reader(en));

let shown = "en";

/** Loads the texts of a language, once. */
export async function readOptionTexts(language: string): Promise<void> {
  if (shown === language) return;
  shown = language;
  try {
    const texts = language === PSEUDO ? { ...en, labels: pseudo(en.labels), values: pseudo(en.values) } : ((await LOADERS[language]?.()) ?? en);
    if (shown === language) optionTexts.value = reader(texts as OptionTexts);
  } catch (error) {
    console.warn("the texts of options cannot be loaded", error);
  }
}
