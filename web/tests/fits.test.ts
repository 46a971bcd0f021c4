// What stands in the way of a game in small windows, or out of sight: offers, the guide, the rules and the clock, the board of a review.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import type { Game } from "@mancala-server/client";

import { becomes, call, closeBrowser, guest, Person } from "./support/browser.ts";

after(closeBrowser);

const PHONES = [
  [320, 568],
  [390, 664],
  [844, 390],
] as const;

/** Games of two rows and of four on each side: four leave less room in small windows. */
const VARIANTS = ["kalah", "bao", "omweso"] as const;

/** A game of Ana against Bo, with clocks. */
async function openGame(ana: Person, variant = "kalah"): Promise<{ id: string; bo: string }> {
  const bo = await guest("Bo");
  const clock = { type: "bank", bank_s: 600, increment_s: 5 };
  const wish = { variant, side: "south", opponent: { type: "link" }, clock };
  const { id, join_code } = await call<Game>("POST", "/v1/games", await ana.token(), wish);
  await call("POST", `/v1/games/${id}/join`, bo.token, { join_code });
  await ana.open(`/games/${id}`);
  await ana.legal().first().waitFor();
  return { id, bo: bo.token };
}

/** The clocks that something lies upon, and what overflows its own box. */
function covered(selector: string): string[] {
  const found: string[] = [];
  for (const clock of document.querySelectorAll('main [role="timer"]')) {
    const { left, top, width, height } = (clock.parentElement ?? clock).getBoundingClientRect();
    for (const at of [0.02, 0.5, 0.98]) {
      const there = document.elementFromPoint(left + width * at, top + height * (at === 0.5 ? 0.9 : 0.1));
      if (there && !clock.parentElement?.contains(there) && !there.contains(clock)) found.push(`a seat lies below ${there.outerHTML.slice(0, 60)}`);
    }
  }
  for (const each of document.querySelectorAll(selector)) {
    const inner = Math.max(...[...each.children].map((child) => child.getBoundingClientRect().bottom));
    if (inner > each.getBoundingClientRect().bottom + 1) found.push(`${selector} hangs over by ${inner - each.getBoundingClientRect().bottom} px`);
  }
  return [...new Set(found)];
}

for (const [width, height] of PHONES) {
  test(`an offer covers no seat at ${width} × ${height}`, async () => {
    const ana = await Person.arrive({ viewport: { width, height } });
    await ana.begin("Two players on this device", "Ana");
    for (const variant of VARIANTS) {
      const { id, bo } = await openGame(ana, variant);
      await call("POST", `/v1/games/${id}/offers`, bo, { type: "draw" });
      await ana.page.getByRole("button", { name: "Accept" }).waitFor();
      await ana.hears("Your opponent offers a draw.");
      await becomes(() => ana.page.evaluate(covered, "ul:has(> li > button)"), [], variant);
      await ana.screenshot(`offer-${variant}-${width}`);
    }
    await ana.leave();
  });

  test(`the guide covers no seat at ${width} × ${height}`, async () => {
    const ana = await Person.arrive({ viewport: { width, height }, settings: { isGuided: true } });
    await ana.begin("Two players on this device", "Ana");
    for (const variant of VARIANTS) {
      await ana.page.evaluate(() => localStorage.setItem("mancala.settings", '{"speed":"off","isGuided":false}'));
      await openGame(ana, variant);
      const guide = ana.page.getByRole("region", { name: "Your first game" });
      await guide.waitFor();
      for (let step = 1; step <= 5; step += 1) {
        await becomes(() => ana.page.evaluate(covered, '[aria-label="Your first game"]'), [], `${variant}, step ${step}`);
        await ana.screenshot(`guide-${variant}-${width}-${step}`);
        await guide.getByRole("button").first().click();
      }
    }
    await ana.leave();
  });

  test(`the rules and the clock can be read during a game at ${width} × ${height}`, async () => {
    const ana = await Person.arrive({ viewport: { width, height } });
    await ana.begin("Two players on this device", "Ana");
    await openGame(ana);
    const line = ana.page.locator("button:visible, p:visible", { hasText: /· \S*10.* each/ });
    if (width > height) await ana.button("More").click();
    await line.first().waitFor();
    await ana.screenshot(`about-${width}`);
    await ana.leave();
  });
}

test("the board of a review is no higher than its window", async () => {
  const ana = await Person.arrive({ viewport: { width: 1280, height: 640 } });
  const { token } = await guest("Ana");
  for (const variant of ["kalah", "bao"]) {
    const { id } = await call<Game>("POST", "/v1/games", token, { variant, side: "south", opponent: { type: "self" } });
    for (const [width, height] of [
      [1280, 640],
      [390, 664],
      [1920, 800],
    ] as const) {
      await ana.page.setViewportSize({ width, height });
      await ana.open(`/review/${id}`);
      const board = ana.page.getByRole("group", { name: "Board" });
      await board.waitFor();
      const box = await board.boundingBox();
      assert.ok(box && box.y + box.height <= height, `${variant} in ${width} × ${height} ends at ${box && box.y + box.height}`);
      await ana.screenshot(`review-${variant}-${width}`);
    }
  }
  await ana.leave();
});

test("on a phone on its side the review's board has most of the window, and the steps are beside it", async () => {
  const ana = await Person.arrive({ viewport: { width: 844, height: 390 } });
  const { token } = await guest("Ana");
  for (const variant of ["kalah", "bao"]) {
    const { id } = await call<Game>("POST", "/v1/games", token, { variant, side: "south", opponent: { type: "self" } });
    await ana.open(`/review/${id}`);
    const [board, steps] = [ana.page.getByRole("group", { name: "Board" }), ana.page.getByRole("toolbar", { name: "Step through the game" })];
    await board.waitFor();
    const [at, beside] = [await board.boundingBox(), await steps.boundingBox()];
    assert.ok(at && at.width > 500 && at.y + at.height <= 390, `the board of ${variant} is at ${JSON.stringify(at)}`);
    assert.ok(beside && beside.x >= at.x + at.width && beside.y + beside.height <= 390, `the steps of ${variant} are at ${JSON.stringify(beside)}`);
    await ana.fits(`the review of ${variant}`);
    await ana.isAccessible(`the review of ${variant} on its side`);
    await ana.screenshot(`review-side-${variant}`);
  }
  await ana.leave();
});

test("boards to try moves on are no higher than the window below its head", async () => {
  const ana = await Person.arrive({ viewport: { width: 844, height: 390 } });
  for (const path of ["/explore/kalah", "/explore/bao", "/rules/kalah", "/rules/bao"]) {
    await ana.open(path);
    const board = ana.page.locator("main section [data-ply]");
    await board.scrollIntoViewIfNeeded();
    const [box, head] = [await board.boundingBox(), await ana.page.locator("header").boundingBox()];
    assert.ok(box && head && box.height <= 390 - head.height, `the board of ${path} is ${box?.height} px high`);
    await ana.screenshot(`tried-${path.slice(1).replace("/", "-")}`);
  }
  await ana.leave();
});

test("the guide has a row of its own, and the button to resign stays where it is", async () => {
  const ana = await Person.arrive({ viewport: { width: 1280, height: 800 } });
  await ana.begin("Two players on this device", "Ana");
  await openGame(ana);
  const place = async () => (await ana.button("Resign").boundingBox()) ?? assert.fail("there is no button to resign");
  const before = await place();
  await ana.page.evaluate(() => localStorage.setItem("mancala.settings", '{"speed":"off","isGuided":false}'));
  await ana.page.reload();
  const guide = ana.page.getByRole("region", { name: "Your first game" });
  await guide.waitFor();
  assert.deepEqual(await place(), before);
  const [box, bar] = [await guide.boundingBox(), await ana.page.locator("[data-status]").boundingBox()];
  assert.ok(box && box.y >= before.y + before.height, `the guide is at ${JSON.stringify(box)}`);
  assert.ok(bar && bar.y + bar.height <= 800, `the bar is at ${JSON.stringify(bar)}`);
  await ana.screenshot("guide-1280");
  await ana.leave();
});
