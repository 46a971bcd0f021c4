// One variant with all that its rules and a form for a new game need.

import type { Schemas } from "@mancala-server/client";
import { useEffect, useState } from "preact/hooks";

import { client } from "../client.ts";
import { keepValue, keptValue } from "./kept.ts";

export type Variant = Schemas["Variant"];

/** A variant, as the server says it, or as it was kept; `null` if there is none of this name, `undefined` until it is known. */
export function useVariant(name: string): Variant | null | undefined {
  const [variant, setVariant] = useState<Variant | null | undefined>(() => kept(name));
  useEffect(() => {
    let isShown = true;
    setVariant(kept(name));
    const read = async () => {
      const { data, response } = await client.api.GET("/v1/variants/{variant}", { params: { path: { variant: name } } });
      if (data) keepValue(`variant.${name}`, data);
      if (isShown && (data || response.status === 404)) setVariant(data ?? null);
    };
    // Without an answer the kept one stays.
    void read().catch(() => undefined);
    return () => void (isShown = false);
  }, [name]);
  return variant;
}

function kept(name: string): Variant | undefined {
  const value = keptValue<Variant>(`variant.${name}`);
  return value?.name === name && Array.isArray(value.presets) && typeof value.rules === "string" ? value : undefined;
}
