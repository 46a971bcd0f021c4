// A game in windows of seven sizes: the board, the turn, both seats, both clocks and the score are in view, without scrolling.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { call, closeBrowser, guest, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

const VARIANTS = ["kalah", "oware", "congkak", "bao", "omweso", "toguz_kumalak", "bestemshe"];

const SIZES = [
  [320, 568],
  [360, 640],
  [390, 664],
  [390, 844],
  [844, 390],
  [1280, 800],
  [1920, 1080],
] as const;

/** The layout follows a resized window within this time. */
const SETTLES_MS = 3000;

interface Created {
  id: string;
  join_code: string;
}

/** A game of Ana, whose turn it is, against Bo, with clocks. */
async function openGame(ana: Person, variant: string): Promise<void> {
  const bo = await guest("Bo");
  const clock = { type: "bank", bank_s: 600, increment_s: 5 };
  const { id, join_code } = await call<Created>("POST", "/v1/games", await ana.token(), { variant, side: "south", opponent: { type: "link" }, clock });
  await call("POST", `/v1/games/${id}/join`, bo.token, { join_code });
  await ana.open(`/games/${id}`);
  await ana.legal().first().waitFor();
}

const SELECTORS = {
  seat: css("main {game.seat}"),
  name: css("main {game.seat} {ui.name}"),
  score: css("main {board.count}{board.store}"),
  bar: css("main {game.actions}"),
};

/** What is not in view, is covered or is too small. */
function faults({ seat, name, score, bar }: typeof SELECTORS): string[] {
  const found: string[] = [];
  const inView = (name: string, selector: string, count: number) => {
    const all = [...document.querySelectorAll(selector)];
    if (all.length !== count) found.push(`${name}: ${all.length} of ${count}`);
    for (const each of all) {
      const { left, top, right, bottom, width, height } = each.getBoundingClientRect();
      if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) found.push(`${name}: from ${left},${top} to ${right},${bottom}`);
      if (width === 0 || height === 0) found.push(`${name}: has no size`);
      const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      // The drawing lies below the buttons of the board.
      if (!there || !(each.contains(there) || there.contains(each) || (each.closest("[data-ply]") && there.closest("[data-ply]"))))
        found.push(`${name}: is covered`);
    }
  };
  if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  if (scrollY > 0) found.push("the page is scrolled");
  inView("the board", "main [data-ply]", 1);
  inView("the turn", "main [data-status] > span:first-child", 1);
  if (!/Your turn/.test(document.querySelector("main [data-status]")?.textContent ?? "")) found.push("the turn is not told");
  inView("a seat", seat, 2);
  inView("a name", name, 2);
  inView("a clock", "main [role=timer]", 2);
  inView("a score", score, 2);
  const edge = document.querySelector(bar)?.getBoundingClientRect();
  for (const button of document.querySelectorAll("main aside button")) {
    const { left, top, right, bottom } = button.getBoundingClientRect();
    const isCut = edge && top < edge.top && bottom > edge.top && left < edge.right && right > edge.left;
    if (isCut) found.push(`“${button.textContent}” is cut by the bar`);
  }
  for (const pit of document.querySelectorAll<HTMLElement>("main [data-pit]")) {
    const { left, top, width, height } = pit.getBoundingClientRect();
    if (width < 24 || height < 24) found.push(`pit ${pit.dataset["pit"]}: ${width} × ${height} px`);
    if (document.elementFromPoint(left + width / 2, top + height / 2) !== pit) found.push(`pit ${pit.dataset["pit"]}: is covered`);
  }
  return found;
}

async function faultsIn(ana: Person): Promise<string[]> {
  const end = Date.now() + SETTLES_MS;
  for (;;) {
    const found = await ana.page.evaluate(faults, SELECTORS);
    if (found.length === 0 || Date.now() >= end) return found;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

for (const variant of VARIANTS) {
  test(`a game of ${variant} is in view in windows of every size`, async () => {
    const ana = await Person.arrive();
    await ana.begin("Two players on this device", "Ana");
    await openGame(ana, variant);
    const found: Record<string, string[]> = {};
    for (const [width, height] of SIZES) {
      await ana.page.setViewportSize({ width, height });
      const all = await faultsIn(ana);
      if (all.length > 0) found[`${width}x${height}`] = all;
      await ana.screenshot(`in-view-${variant}-${width}x${height}`);
    }
    assert.deepEqual(found, {});
    await ana.leave();
  });
}

test("joining a game is in view on a phone", async () => {
  const bo = await guest("Bo");
  const { id, join_code } = await call<Created>("POST", "/v1/games", bo.token, { variant: "toguz_kumalak", side: "north", opponent: { type: "link" } });
  const ana = await Person.arrive({ viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true });
  await ana.open(`/games/${id}#join=${join_code}`);
  const button = ana.button("Join");
  await button.waitFor();
  const box = await button.boundingBox();
  assert.ok(box && box.y >= 0 && box.y + box.height <= 664, `the button is at y=${box?.y}`);
  await ana.isAccessible("an invitation on a phone");
  await ana.screenshot("in-view-join");
  await button.tap();
  await ana.legal().first().waitFor();
  await ana.leave();
});
