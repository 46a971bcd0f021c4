// A variant as the server describes it in full: rules in words, presets, and the schema of its options.

import type { Schemas } from "@mancala-server/client";
import { useEffect, useState } from "preact/hooks";

import { client } from "../client.ts";
import { ask } from "../state/ask.ts";
import { keepValue, keptValue } from "../state/kept.ts";

export type Variant = Schemas["Variant"];

/** What is known of a variant: null until the server has answered, and what was read last without a network. */
export interface Found {
  variant: Variant | null;
  error: unknown;
  again(): void;
}

export function useVariant(name: string): Found {
  const [found, setFound] = useState<{ variant: Variant | null; error: unknown; name: string }>(() => seen(name));
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    setFound(seen(name));
    ask(client.api.GET("/v1/variants/{variant}", { params: { path: { variant: name } }, signal: ending.signal })).then(
      (variant) => {
        keepValue(`variant.${name}`, variant);
        setFound({ variant, error: null, name });
      },
      (error: unknown) => ending.signal.aborted || setFound((before) => ({ ...before, error })),
    );
    return () => ending.abort();
  }, [name, tries]);
  const current = found.name === name ? found : seen(name);
  return { ...current, again: () => setTries((times) => times + 1) };
}

function seen(name: string): { variant: Variant | null; error: unknown; name: string } {
  const kept = keptValue<Variant>(`variant.${name}`);
  const isWhole = kept?.name === name && typeof kept.rules === "string" && [kept.presets, kept.options].every(Array.isArray);
  return { variant: isWhole ? kept : null, error: null, name };
}
