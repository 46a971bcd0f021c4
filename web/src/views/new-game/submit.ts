// Sends a new game, and keeps what the server refuses at the field that it names.

import { MancalaError } from "@mancala-server/client";
import { useEffect, useRef, useState } from "preact/hooks";

import { client, SOON } from "../../client.ts";
import { navigate } from "../../router.ts";
import { create } from "../../state/create.ts";
import { refusalInWords, sayFailure } from "../../state/messages.ts";
import { ensurePlayer } from "../../state/session.ts";
import { set } from "../../state/settings.ts";
import { t } from "../../texts/index.ts";
import type { Errors } from "./fields.tsx";
import type { OptionValues } from "./schema.ts";
import { type Filled, isSeek, requestOf } from "./settings.ts";

const NONE: Errors = new Map();

export interface Submit {
  /** What the server refused, until something is changed. */
  refusals: Errors;
  isBusy: boolean;
  submit(): void;
}

export function useSubmit(filled: Filled, options: OptionValues): Submit {
  const [refusals, setRefusals] = useState<Errors>(NONE);
  const [isBusy, setBusy] = useState(false);
  const key = useRef<{ text: string; key: string } | null>(null);
  const text = JSON.stringify([filled, options]);
  useEffect(() => setRefusals(NONE), [text]);
  const send = async () => {
    const request = requestOf(filled, options);
    // The same game under the same key: after a lost answer a second try creates no second game.
    if (key.current?.text !== text) key.current = { text, key: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}-${Math.random()}` };
    const calling = { ...SOON, key: key.current.key };
    try {
      await ensurePlayer();
      const game = isSeek(filled) ? await client.games.seek(request, calling) : await create(request, calling);
      set({ variant: filled.variant, level: filled.level, practice: filled.practice });
      navigate(`/games/${game.id}`);
    } catch (error) {
      const refused = refusalsOf(error);
      if (refused) setRefusals(refused);
      else sayFailure(error);
    }
  };
  const submit = () => {
    if (isBusy) return;
    setBusy(true);
    void send().finally(() => setBusy(false));
  };
  return { refusals, isBusy, submit };
}

function refusalsOf(error: unknown): Errors | null {
  const failure = error instanceof MancalaError ? error.failure : undefined;
  if (failure?.code !== "validation_failed" || failure.errors.length === 0) return null;
  return new Map(failure.errors.map((error) => [error.pointer, t("form.server-says", { detail: refusalInWords(error) })]));
}
