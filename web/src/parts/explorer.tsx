// What was played in a position in other games.

import type { Game, Schemas } from "@mancala-server/client";
import { useEffect, useState } from "preact/hooks";

import { client } from "../client.ts";
import { t, word } from "../texts/index.ts";

type Explored = Schemas["ExploredPosition"];

export function Explorer({ game, position, onTry }: { game: Game; position: string; onTry(move: string): void }) {
  const [isOpen, setOpen] = useState(false);
  const [explored, setExplored] = useState<Explored | null>(null);
  useEffect(() => {
    if (!isOpen) return;
    const ending = new AbortController();
    const { variant, preset } = game;
    const options = Object.entries(game.options).map(([name, value]) => `${name}=${String(value)}`).join(";");
    const query = { variant, preset, position, ...(options !== "" && { options }) };
    client.api.GET("/v1/explorer", { params: { query }, signal: ending.signal }).then(({ data }) => setExplored(data ?? null), () => undefined);
    return () => ending.abort();
  }, [isOpen, position, game.id]);
  const moves = explored?.moves.filter(({ games }) => games > 0) ?? [];
  return (
    <details class="card" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("explorer.title")}</summary>
      {explored && moves.length === 0 && <p class="quiet">{t("explorer.none")}</p>}
      {moves.length > 0 && (
        <table class="explorer">
          <thead>
            <tr>
              <th scope="col">{t("explorer.move")}</th>
              <th scope="col">{t("explorer.games")}</th>
              <th scope="col">{t("side.south")}</th>
              <th scope="col">{t("explorer.draws")}</th>
              <th scope="col">{t("side.north")}</th>
            </tr>
          </thead>
          <tbody>
            {moves.map(({ move, games, south, draws, north }) => (
              <tr key={move}>
                <th scope="row">
                  <button type="button" class="plain" onClick={() => onTry(move)}>
                    {move.length === 1 ? move : word("special", move)}
                  </button>
                </th>
                <td>{games}</td>
                <td>{south}</td>
                <td>{draws}</td>
                <td>{north}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
