// Where pits and seeds lie, for every board that a variant has.

import assert from "node:assert/strict";
import { test } from "node:test";

import { draw, HAND, settle, totalOf } from "../../src/board/seeds.ts";
import {
  besideInRing,
  isBlocked,
  isHouse,
  isTuzdyk,
  type Layout,
  pitsOf,
  type Shape,
  seedsIn,
  shapeOf,
  sideOf,
  sideShapeOf,
  storeOf,
} from "../../src/board/shape.ts";
import { board } from "./boards.ts";

const FLAT: Layout = { rows: 1, first: "left" };
const DEEP: Layout = { rows: 2, first: "left" };

/** Every board, on wide screens, on narrow ones and on a phone on its side, from both sides. */
function shapes(): [string, Shape][] {
  return [3, 6, 7, 9, 12, 16].flatMap((pits) => {
    const layout = pits === 16 ? DEEP : FLAT;
    const shown = board({ pits: Array<number>(pits).fill(2), ...(pits === 16 ? { reserve: 22 } : {}) });
    return (["south", "north"] as const).flatMap((side): [string, Shape][] => [
      [`${pits} pits, lying, ${side}`, shapeOf(shown, side, false, layout)],
      [`${pits} pits, upright, ${side}`, shapeOf(shown, side, true, layout)],
      ...(layout === FLAT ? [[`${pits} pits, in a low window, ${side}`, sideShapeOf(shown, side, layout)] satisfies [string, Shape]] : []),
    ]);
  });
}

test("every pit and store lies on the board, and none upon another", () => {
  for (const [name, { width, height, spots }] of shapes()) {
    const all = [...spots.values()];
    for (const [n, one] of all.entries()) {
      assert.ok(one.x - one.rx > 0 && one.x + one.rx < width && one.y - one.ry > 0 && one.y + one.ry < height, `${name}: ${one.place}`);
      for (const { x, y } of [one.count, one.letter]) assert.ok(x > 0 && x < width && y > 0 && y < height, `${name}: the words of ${one.place}`);
      for (const other of all.slice(n + 1)) {
        const isApart = Math.abs(one.x - other.x) >= one.rx + other.rx || Math.abs(one.y - other.y) >= one.ry + other.ry;
        assert.ok(isApart, `${name}: ${one.place} and ${other.place}`);
      }
    }
  }
});

test("a board in a low window is no wider than its window, as far as pits of twice their width reach", () => {
  for (const [pits, ratio] of [
    [5, 1.9],
    [6, 1.9],
    [7, 1.9],
    [9, 2.3],
  ] as const) {
    const { width, height } = sideShapeOf(board({ pits: Array<number>(pits).fill(4) }), "south", FLAT);
    assert.equal((width / height).toFixed(1), ratio.toFixed(1), `${pits} pits`);
  }
});

test("pits that face each other stand face to face, and the near store ends the near row", () => {
  const shown = board({ pits: [4, 4, 4, 4, 4, 4] });
  const lying = shapeOf(shown, "south", false, FLAT);
  assert.deepEqual(lying.rows, [
    ["f", "e", "d", "c", "b", "a"],
    ["A", "B", "C", "D", "E", "F"],
  ]);
  const x = (place: string) => lying.spots.get(place)?.x ?? NaN;
  assert.ok(x("north_store") < x("A") && x("F") < x("south_store"));
  const north = shapeOf(shown, "north", false, FLAT);
  assert.deepEqual(north.rows, [
    ["F", "E", "D", "C", "B", "A"],
    ["a", "b", "c", "d", "e", "f"],
  ]);
  const upright = shapeOf(shown, "south", true, FLAT);
  assert.deepEqual(
    upright.rows.map((row) => row.join("")),
    ["Af", "Be", "Cd", "Dc", "Eb", "Fa"],
  );
  assert.ok(upright.height > upright.width && lying.width > lying.height);
});

test("a ring goes along the front row and back behind it, from the end that the variant names", () => {
  const shown = board({ pits: Array<number>(16).fill(2), reserve: 0 });
  const rows = (first: Layout["first"]) => shapeOf(shown, "south", false, { rows: 2, first }).rows.map((row) => row.join(""));
  assert.deepEqual(rows("left"), ["ijklmnop", "hgfedcba", "ABCDEFGH", "PONMLKJI"]);
  assert.deepEqual(rows("right"), ["ponmlkji", "abcdefgh", "HGFEDCBA", "IJKLMNOP"]);
  assert.equal(besideInRing(shown, "P", true), "A");
  assert.equal(besideInRing(shown, "a", false), "p");
});

test("places have the side, the seeds and the marks that the board says", () => {
  const shown = board({ pits: [1, 2, 3, 4, 5, 6, 7, 8], store: 9, house: true, tuzdyk: "c" }, { pits: [8, 7, 6, 5, 4, 3, 2, 1], reserve: 5, blocked: "b" });
  assert.deepEqual(pitsOf(shown, "north").slice(0, 3), ["a", "b", "c"]);
  assert.deepEqual(
    ["A", "a", "south_store", "north_reserve", "h", "z"].map((place) => seedsIn(shown, place)),
    [1, 8, 9, 5, 1, 0],
  );
  assert.deepEqual([storeOf(shown, "south"), storeOf(shown, "north")], ["south_store", "north_reserve"]);
  assert.deepEqual(["A", "a", "north_store"].map(sideOf), ["south", "north", "north"]);
  assert.deepEqual([isHouse(shown, "E"), isHouse(shown, "e"), isHouse(shown, "D")], [true, false, false]);
  assert.deepEqual([isBlocked(shown, "b"), isBlocked(shown, "B")], [true, false]);
  assert.deepEqual([isTuzdyk(shown, "c"), isTuzdyk(shown, "C")], [true, false]);
});

test("seeds keep their numbers, and as few as possible move", () => {
  const before = board({ pits: [4, 4, 4] });
  const seeds = settle(null, before, totalOf(before));
  assert.equal(new Set([...seeds.values()].flat()).size, 24);
  const after = settle(seeds, board({ pits: [0, 5, 5], store: 1 }, { pits: [5, 4, 4] }), 24);
  assert.deepEqual(
    ["B", "C", "a"].map((place) => after.get(place)?.slice(0, 4)),
    ["B", "C", "a"].map((place) => seeds.get(place)),
  );
  assert.deepEqual(
    [...after.values()].flat().sort((a, b) => a - b),
    [...seeds.values()].flat().sort((a, b) => a - b),
  );
  assert.ok(seeds.get("A")?.includes(after.get("south_store")?.[0] ?? -1), "the seed in the store comes from the pit that was sown");
});

test("what the board lacks is in the hand, and so is what a choice leaves there", () => {
  const before = board({ pits: [4, 4, 4] });
  const seeds = settle(null, before, 24);
  const lifted = settle(seeds, board({ pits: [0, 4, 4] }, { pits: [4, 4, 4] }), 24);
  assert.deepEqual(lifted.get(HAND), seeds.get("A"));
  const pending = { ...board({ pits: [0, 4, 4] }), pending: { pit: "B", seeds: 3 } };
  assert.equal(totalOf(pending), 19);
  assert.equal(settle(null, pending, 19).get(HAND)?.length, 3);
});

test("seeds are drawn inside their hollow, in the order of their numbers, and no more than can be seen", () => {
  const shown = board({ pits: [1, 10, 60] }, { pits: [4, 4, 4], store: 200 });
  const shape = shapeOf(shown, "south", false, FLAT);
  for (const [place, most] of [
    ["A", 1],
    ["B", 10],
    ["C", 40],
    ["north_store", 90],
  ] as const) {
    const spot = shape.spots.get(place);
    assert.ok(spot);
    const drawn = draw(new Map([[place, Array.from({ length: seedsIn(shown, place) }, (_, n) => n)]]), shape, null);
    assert.equal(drawn.length, most);
    assert.deepEqual(
      drawn.map(({ id }) => id),
      drawn.map((_, n) => n),
    );
    for (const { x, y } of drawn) assert.ok(Math.abs(x - spot.x) <= spot.rx && Math.abs(y - spot.y) <= spot.ry, `${place}: ${x}, ${y}`);
  }
  const [held] = draw(new Map([[HAND, [7]]]), shape, "B");
  assert.ok(held?.isHeld && held.id === 7);
});
