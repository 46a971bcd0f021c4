// Moves and results in words, in English.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Effect, Side } from "@mancala-server/client";

import { endInWords, hintInWords, marksOf, moveInWords, nameOf, outcomeOf, previewInWords, scoreOf } from "../../src/board/words.ts";
import { board, finished } from "./boards.ts";

/** Without the isolates around names. */
const plain = (text: string) => text.replace(/[\u2068\u2069]/g, "");

const effects = (...all: Partial<Effect>[]) => all as Effect[];

const sow = (...places: string[]) => places.map((to) => ({ type: "sow", to }) as const);

const NAMES: Record<Side, string> = { south: "Ana", north: "Bo" };
const name = (side: Side) => NAMES[side];

test("a move is told from its effects: where it ends, what it captures, who moves again", () => {
  const tell = (move: string, ...all: Partial<Effect>[]) => plain(moveInWords({ move, effects: effects(...all) }, "Ana"));
  assert.equal(tell("C", { type: "lift", pit: "C", seeds: 2 }, ...sow("D", "E")), "Ana sows 2 seeds from C, as far as E.");
  const toStore = tell("F", { type: "lift", pit: "F", seeds: 1 }, ...sow("south_store"), { type: "extra_turn" });
  assert.equal(toStore, "Ana sows 1 seed from F into the store. Ana moves again.");
  const captures = tell("A", { type: "lift", pit: "A", seeds: 1 }, ...sow("B"), { type: "capture", from: ["b"], to: "south_store", seeds: 5 });
  assert.equal(captures, "Ana sows 1 seed from A, as far as B. Ana captures 5 seeds.");
  assert.match(
    tell("AU", { type: "lift", pit: "A", seeds: 2 }, ...sow("B"), { type: "relay", pit: "B", seeds: 3 }, ...sow("C", "D")),
    /as far as D\. The sowing has 2 laps\./,
  );
  assert.equal(tell("pass", { type: "pass" }), "Ana passes.");
  assert.equal(tell("swap", { type: "swap" }), "Ana swaps sides.");
  assert.equal(tell("C7", { type: "place", pit: "C", seeds: 7 }), "Ana puts 7 seeds down in C.");
  assert.equal(tell("C0"), "Ana puts 0 seeds down in C.");
  const over = tell("A", { type: "lift", pit: "A", seeds: 1 }, ...sow("B"), { type: "game_over", reason: "side_empty" });
  assert.match(over, /The game is over: a row was empty\.$/);
});

test("what only a game knows that the page does not is told in the server's word", () => {
  const sown = [{ type: "lift", pit: "C", seeds: 2 }, ...sow("D", "E")];
  const tell = (effect: object) => plain(moveInWords({ move: "C", effects: effects(...sown, effect) }, "Ana"));
  assert.equal(tell({ type: "harvest", pit: "E", side: "south", seeds: 4 }), "Ana sows 2 seeds from C, as far as E. Harvest E (4).");
  assert.match(tell({ type: "new_moon" }), / New moon\.$/);
});

test("a sowing in step is told for both sides", () => {
  const both = effects({ type: "hand" }, { type: "lift", pit: "B" }, { type: "lift", pit: "e" }, { type: "capture", from: ["C"], to: "north_store", seeds: 3 });
  assert.equal(plain(moveInWords({ move: "e", effects: both }, "Bo")), "B and e are sown at once. North captures 3 seeds.");
});

test("a move leaves marks where it began, was sown, captured and ended", () => {
  const marks = marksOf(effects({ type: "lift", pit: "A", seeds: 2 }, ...sow("B", "C"), { type: "capture", from: ["c", "C"], to: "south_store", seeds: 3 }));
  assert.deepEqual([marks.from, [...marks.sown], [...marks.captured], marks.end], ["A", ["B", "C"], ["c", "C"], "C"]);
  assert.deepEqual(marksOf([]).from, null);
  const preview = effects({ type: "lift", pit: "A", seeds: 1 }, ...sow("south_store"), { type: "extra_turn" });
  assert.equal(plain(previewInWords({ move: "A", effects: preview })), "A ends in the store. Then you move again.");
});

test("a player's own number comes first, and for everyone else the winner's", () => {
  const north = { winner: "north", score: { south: 20, north: 28 } } as const;
  assert.deepEqual(scoreOf(finished(north)), { own: 28, other: 20 });
  assert.deepEqual(scoreOf(finished(north, { me: { side: "south" } as never })), { own: 20, other: 28 });
  assert.match(plain(endInWords(finished(north), name)), /^Bo .*28.*20/);
  assert.match(plain(endInWords(finished(north, { me: { side: "south" } as never }), name)), /20.*28/);
  assert.equal(plain(outcomeOf(finished(north), name)), "Bo won");
  assert.deepEqual(
    ["north", "south"].map((side) => outcomeOf(finished(north, { me: { side } as never }), name)),
    ["You won", "You lost"],
  );
  assert.equal(outcomeOf(finished({}), name), "Draw");
});

test("no score is told where seeds did not decide", () => {
  const score = { south: 3, north: 9 };
  assert.equal(scoreOf(finished({ winner: "north", score, reason: "resignation" })), null);
  assert.equal(scoreOf(finished({ winner: "north", score, reason: "timeout" })), null);
  assert.equal(scoreOf(finished({ winner: "south", score })), null);
  const reserves = board({ pits: Array<number>(16).fill(0), reserve: 0 });
  assert.equal(scoreOf(finished({ winner: "north", score }, { board: reserves })), null);
  assert.doesNotMatch(endInWords(finished({ winner: "north", score, reason: "resignation" }), name), /\d/);
});

test("moves have names, and a hint says how the mover ends by it", () => {
  assert.deepEqual(
    ["C", "CU", "pass"].map((move) => plain(nameOf(move))),
    ["C", "CU", "Pass"],
  );
  assert.equal(plain(nameOf("C~")), "C without capture");
  const hint = (seeds: number, side: Side, is_exact = true) =>
    plain(hintInWords({ move: "C", value: { seeds, is_exact }, side } as never, board({ pits: [1, 2, 3] })));
  assert.match(hint(-4, "north"), /^C is best: with best play .* 4 seeds ahead\.$/);
  assert.match(hint(-4, "south", false), /expects .* 4 seeds behind\.$/);
  assert.match(hint(0.04, "south"), /level\.$/);
});
