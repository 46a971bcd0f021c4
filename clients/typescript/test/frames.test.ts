// Frames show what the server's effects say, in every variant.

import assert from "node:assert/strict";
import test from "node:test";
import { frames, sameBoard, type Board, type Effect, type NewGame } from "@mancala-server/client";
import { random } from "./support/network.js";
import { baseUrl, guest } from "./support/server.js";

const PLANS: NewGame[] = [
  { variant: "kalah" },
  { variant: "kalah", options: { pie: true, pits: 4, seeds: 3 } },
  { variant: "oware" },
  { variant: "oware", preset: "awari" },
  { variant: "congkak" },
  { variant: "congkak", options: { pits: 4, seeds: 3, rounds: "multi", max_rounds: 3 } },
];

for (const [n, plan] of PLANS.entries()) {
  test(`frames lead to the server's board: ${JSON.stringify(plan)}`, async () => {
    const client = await guest(baseUrl, "Ana");
    const next = random(n + 1);
    let game = await client.games.create({ ...plan, opponent: { type: "self" } });
    const kinds = new Set<string>();
    while (game.status === "active" && game.ply < 150) {
      const move = game.legal_moves[Math.floor(next() * game.legal_moves.length)] ?? "";
      const played = await client.games.play(game.id, { ply: game.ply + 1, move });
      const shown = frames(played.move.effects, game.board);
      assert.equal(shown.length, played.move.effects.length, "every effect has a frame");
      const last = shown.at(-1);
      assert.ok(last === undefined || sameBoard(last.board, played.game.board), `${game.position} ${move}`);
      assert.equal(last?.hand ?? 0, 0, "no seed is left in the hand");
      assert.deepEqual(frames(played.move.effects, game.board, played.game.board), shown, "the board is as the effects say");
      for (const { effect, board, changed } of shown) {
        kinds.add(effect.type);
        assert.equal(seedsOf(board) + (shown.find((frame) => frame.board === board)?.hand ?? 0), seedsOf(game.board), "no seed is lost");
        if (effect.type === "lift") assert.deepEqual(changed, [effect.pit]);
      }
      game = played.game;
    }
    assert.ok(kinds.has("lift") && kinds.has("sow"));
  });
}

test("an unknown effect is skipped and the server's board taken over", () => {
  const board: Board = { south: { pits: [1, 0], store: 0 }, north: { pits: [1, 1], store: 0 } };
  const final: Board = { south: { pits: [0, 0], store: 3 }, north: { pits: [0, 0], store: 0 } };
  const effects: Effect[] = [{ type: "lift", pit: "A", seeds: 1 }, { type: "sow", to: "B" }, { type: "teleport", seeds: 3 }];
  assert.deepEqual(frames(effects, board).map(({ effect }) => effect.type), ["lift", "sow"]);
  const shown = frames(effects, board, final);
  assert.deepEqual(shown.at(-1)?.board, final);
  assert.deepEqual(frames([{ type: "teleport" }], board, final).map((frame) => frame.board), [final], "where nothing is known there is one frame");
  assert.deepEqual(frames([], board, board), []);
});

test("an effect without its fields is skipped", () => {
  const board: Board = { south: { pits: [1], store: 0 }, north: { pits: [1], store: 0 } };
  const effects: Effect[] = ["lift", "sow", "capture", "sweep", "split", "refill"].map((type) => ({ type }));
  assert.deepEqual(frames(effects, board), []);
});

function seedsOf({ south, north }: Board): number {
  return [...south.pits, south.store, ...north.pits, north.store].reduce((sum, seeds) => sum + seeds, 0);
}
