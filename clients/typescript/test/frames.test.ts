// Frames show what the server's effects say, in every variant.

import assert from "node:assert/strict";
import test from "node:test";
import { type Board, type Effect, frames, type NewGame, sameBoard } from "@mancala-server/client";
import { random } from "./support/network.js";
import { baseUrl, guest } from "./support/server.js";

const PLANS: NewGame[] = [
  { variant: "kalah" },
  { variant: "kalah", options: { pie: true, pits: 4, seeds: 3 } },
  { variant: "kalah", options: { capture: "optional" } },
  { variant: "oware" },
  { variant: "oware", preset: "awari" },
  { variant: "congkak" },
  { variant: "congkak", options: { pits: 4, seeds: 3, rounds: "multi", max_rounds: 3 } },
  { variant: "congkak", options: { opening: "lockstep" } },
  { variant: "congkak", options: { pits: 4, seeds: 3, rounds: "multi", max_rounds: 3, burnt_pits: false, match_victory: "rounds_won" } },
  { variant: "bao" },
  { variant: "bao", options: { start: "full" } },
  { variant: "omweso" },
  { variant: "omweso", options: { setup: "arrange", reverse: "any" } },
  { variant: "toguz_kumalak" },
  { variant: "bestemshe", options: { pits: 3, seeds: 1, repetition: 2, repetition_award: "draw" } },
];

const FOUR_ROWS = new Set(["bao", "omweso"]);

for (const [n, plan] of PLANS.entries()) {
  test(`frames lead to the server's board: ${JSON.stringify(plan)}`, async () => {
    const client = await guest(baseUrl, "Ana");
    const next = random(n + 1);
    let game = await client.games.create({ ...plan, opponent: { type: "self" } });
    const kinds = new Set<string>();
    const isDeep = FOUR_ROWS.has(plan.variant ?? "");
    while (game.status === "active" && game.ply < (isDeep ? 1000 : 150)) {
      const move = game.legal_moves[Math.floor(next() * game.legal_moves.length)] ?? "";
      const played = await client.games.play(game.id, { ply: game.ply + 1, move });
      const shown = frames(played.move.effects, game.board);
      assert.equal(shown.length, played.move.effects.length, "every effect has a frame");
      const last = shown.at(-1);
      assert.ok(last === undefined || sameBoard(last.board, played.game.board), `${game.position} ${move}`);
      assert.equal(last?.hand ?? 0, played.game.board.pending?.seeds ?? 0, "only a choice leaves seeds in the hand");
      assert.deepEqual(frames(played.move.effects, game.board, played.game.board), shown, "the board is as the effects say");
      for (const { effect, board, hand, changed } of shown) {
        kinds.add(effect.type);
        assert.equal(seedsOf(board) + hand, seedsOf(game.board) + (game.board.pending?.seeds ?? 0), "no seed is lost");
        if (effect.type === "lift") assert.deepEqual(changed, [effect.pit]);
      }
      game = played.game;
    }
    assert.ok(kinds.has("lift") && kinds.has("sow"));
    if (isDeep) assert.ok(kinds.has("take") && game.status === "finished", "the game has captures and an end");
  });
}

const EMPTY: Board["south"] = { pits: [0, 0, 0, 0], store: 0, reserve: 0 };

test("both hands of a lockstep opening are told apart", () => {
  const row: Board["south"] = { pits: [1, 0, 2], store: 0 };
  const effects: Effect[] = [
    { type: "hand", side: "south" },
    { type: "lift", pit: "C", seeds: 2 },
    { type: "hand", side: "north" },
    { type: "lift", pit: "a", seeds: 1 },
    { type: "hand", side: "south" },
    { type: "sow", to: "south_store" },
    { type: "hand", side: "north" },
    { type: "sow", to: "b" },
    { type: "hand", side: "south" },
    { type: "sow", to: "a" },
  ];
  const shown = frames(effects, { south: row, north: row, chosen: "C" });
  const hands = shown.filter(({ effect }) => effect.type !== "hand").map(({ hand, hands }) => [hand, hands?.south, hands?.north]);
  assert.deepEqual(hands, [
    [2, 2, 0],
    [3, 2, 1],
    [2, 1, 1],
    [1, 1, 0],
    [0, 0, 0],
  ]);
  const alone = frames([{ type: "lift", pit: "C", seeds: 2 }], { south: row, north: row });
  assert.equal(alone[0]?.hands, undefined, "elsewhere there is one hand");
});

test("a choice inside a turn keeps its seeds in the hand, and is over with the next effect", () => {
  const board: Board = { south: { ...EMPTY, pits: [0, 2, 0, 1] }, north: { ...EMPTY, pits: [3, 0, 0, 4] } };
  const effects: Effect[] = [
    { type: "lift", pit: "B", seeds: 2 },
    { type: "sow", to: "C" },
    { type: "sow", to: "D" },
    { type: "take", from: ["a", "d"], seeds: 7 },
    { type: "extra_turn" },
  ];
  const last = frames(effects, board).at(-1);
  assert.deepEqual(last?.board, { south: { ...EMPTY, pits: [0, 0, 1, 2] }, north: EMPTY, pending: { pit: "B", seeds: 7 } });
  assert.equal(last.hand, 7);
  const [resumed, sown] = frames(
    [
      { type: "resume", pit: "B", seeds: 7 },
      { type: "sow", to: "A" },
    ],
    last.board,
  );
  assert.deepEqual([resumed?.hand, resumed?.board.pending, resumed?.changed], [7, undefined, []]);
  assert.deepEqual([sown?.hand, sown?.board.south.pits, sown?.changed], [6, [1, 0, 1, 2], ["A"]]);
});

test("a tuzdyk, and stores that are made level, follow the effects", () => {
  const board: Board = { south: { pits: [2, 0], store: 5, tuzdyk: null }, north: { pits: [2, 1], store: 2, tuzdyk: null } };
  const effects: Effect[] = [
    { type: "lift", pit: "A", seeds: 2 },
    { type: "sow", to: "B" },
    { type: "sow", to: "a" },
    { type: "capture", from: ["a"], seeds: 3, to: "south_store" },
    { type: "tuzdyk", pit: "a", side: "south" },
  ];
  const last = frames(effects, board).at(-1);
  const won: Board = { south: { pits: [0, 1], store: 8, tuzdyk: "a" }, north: { pits: [0, 1], store: 2, tuzdyk: null } };
  assert.deepEqual([last?.board, last?.changed], [won, []]);
  const even: Board = { south: { pits: [2, 1], store: 3 }, north: { pits: [0, 1], store: 5 } };
  const [level] = frames([{ type: "level", south: 3, north: 1, odd: null }], even);
  assert.deepEqual(level?.board, { south: { pits: [0, 0], store: 6 }, north: { pits: [0, 0], store: 6 } });
  const [odd] = frames([{ type: "level", south: 2, north: 0, odd: "B" }], { ...even, south: { pits: [1, 1], store: 3 } });
  assert.deepEqual(odd?.board.south, { pits: [0, 1], store: 5 });
});

test("reserves, houses and blocked pits follow the effects", () => {
  const row = { ...EMPTY, house: true, blocked: null };
  const board: Board = { south: { ...row, pits: [1, 6, 0, 0], reserve: 5 }, north: { ...row, pits: [4, 0, 0, 0], blocked: "a" } };
  const effects: Effect[] = [
    { type: "place", pit: "A", seeds: 2 },
    { type: "tax", pit: "B", seeds: 2 },
    { type: "take", from: ["a"], seeds: 4 },
    { type: "house_lost", side: "north" },
    { type: "reserve", side: "south", seeds: 6 },
    { type: "unblock", pit: "a" },
    { type: "block", pit: "B" },
    { type: "game_over", reason: "front_empty" },
  ];
  const shown = frames(effects, board);
  assert.deepEqual(
    shown.map(({ board: { south }, hand }) => [south.reserve, hand]),
    [
      [3, 0],
      [3, 2],
      [3, 6],
      [3, 6],
      [9, 0],
      [9, 0],
      [9, 0],
      [9, 0],
    ],
  );
  assert.deepEqual(
    shown.map(({ changed }) => changed),
    [["A", "south_reserve"], ["B"], ["a"], [], ["south_reserve"], [], [], []],
  );
  assert.deepEqual(
    shown.map(({ board: { south, north } }) => south.blocked ?? north.blocked),
    ["a", "a", "a", "a", "a", null, "B", null],
  );
  assert.deepEqual(shown.at(-1)?.board, { south: { ...row, pits: [3, 4, 0, 0], reserve: 9 }, north: { ...row, pits: [0, 0, 0, 0], house: false } });
});

test("an unknown effect is skipped and the server's board taken over", () => {
  const board: Board = { south: { pits: [1, 0], store: 0 }, north: { pits: [1, 1], store: 0 } };
  const final: Board = { south: { pits: [0, 0], store: 3 }, north: { pits: [0, 0], store: 0 } };
  const effects: Effect[] = [
    { type: "lift", pit: "A", seeds: 1 },
    { type: "sow", to: "B" },
    { type: "teleport", seeds: 3 },
  ];
  assert.deepEqual(
    frames(effects, board).map(({ effect }) => effect.type),
    ["lift", "sow"],
  );
  const shown = frames(effects, board, final);
  assert.deepEqual(shown.at(-1)?.board, final);
  assert.deepEqual(
    frames([{ type: "teleport" }], board, final).map((frame) => frame.board),
    [final],
    "where nothing is known there is one frame",
  );
  assert.deepEqual(frames([], board, board), []);
});

test("an effect without its fields is skipped", () => {
  const board: Board = { south: { pits: [1], store: 0 }, north: { pits: [1], store: 0 } };
  const types = ["lift", "sow", "capture", "sweep", "split", "refill", "place", "tax", "resume", "take", "house_lost", "reserve", "block"];
  const effects: Effect[] = types.map((type) => ({ type }));
  assert.deepEqual(frames(effects, board), []);
});

function seedsOf({ south, north }: Board): number {
  return [south, north].flatMap(({ pits, store, reserve = 0 }) => [...pits, store, reserve]).reduce((sum, seeds) => sum + seeds, 0);
}
