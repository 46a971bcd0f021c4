// The options of a game, with their names. Loaded when they are looked at.

import type { Game } from "@mancala-server/client";
import { useEffect } from "preact/hooks";

import { language } from "../texts/index.ts";
import { optionTexts, readOptionTexts } from "../texts/options/index.ts";

export function GameOptions({ game }: { game: Game }) {
  useEffect(() => void readOptionTexts(language.value), [language.value]);
  const { label, value } = optionTexts.value;
  return (
    <dl>
      {Object.entries(game.options).map(([name, chosen]) => (
        <div key={name}>
          <dt>{label(name)}</dt>
          <dd>{value(name, chosen)}</dd>
        </div>
      ))}
    </dl>
  );
}
