// What stands around the board while a game goes on, and when it is over: offers, answers, the result.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { becomes, call, closeBrowser, eventually, guest, Person, playToTheEnd, WAIT_MS } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

const PHONE = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };

/** A game of Ana, whose turn it is, against Bo, who plays by the API. */
async function openGame(ana: Person, wish: object = {}): Promise<{ id: string; bo: Awaited<ReturnType<typeof guest>> }> {
  await ana.begin("Two players on this device", "Ana");
  const bo = await guest("Bo");
  const settings = { variant: "kalah", side: "south", opponent: { type: "link" }, ...wish };
  const { id, join_code } = await call<{ id: string; join_code: string }>("POST", "/v1/games", await ana.token(), settings);
  await call("POST", `/v1/games/${id}/join`, bo.token, { join_code });
  await ana.open(`/games/${id}`);
  await ana.legal().first().waitFor();
  return { id, bo };
}

test("an offer is in view on a phone and moves no pit, and a refusal is told", async () => {
  const ana = await Person.arrive(PHONE);
  const { id, bo } = await openGame(ana);
  const pits = () => ana.page.locator("[data-pit]").evaluateAll((all) => all.map((each) => JSON.stringify(each.getBoundingClientRect())));
  const before = await pits();
  await call("POST", `/v1/games/${id}/offers`, bo.token, { type: "draw" });
  await ana.hears("Your opponent offers a draw.");
  const answer = await ana.page.locator(css("{offers.offers}")).getByRole("button", { name: "Decline" }).boundingBox();
  assert.ok(answer && answer.y >= 0 && answer.y + answer.height <= 664, `the answer is at y=${answer?.y}`);
  assert.deepEqual(await pits(), before);
  await ana.isAccessible("an offer on a phone");
  await ana.fits("an offer on a phone");
  await ana.screenshot("offer-phone");
  await ana.button("Decline").tap();
  await becomes(() => ana.page.locator(css("{offers.offers}")).count(), 0);
  await ana.button("More").tap();
  await ana.screenshot("sheet-phone");
  await ana.button("Offer a draw").tap();
  await ana.page.locator(css("{offers.offers}")).getByText("You offered a draw.").waitFor();
  await becomes(() => ana.page.getByRole("dialog").count(), 0, "the sheet is closed by a choice");
  await call("POST", `/v1/games/${id}/offers/draw/decline`, bo.token);
  await ana.hears("declined your offer.");
  await becomes(() => ana.page.locator(css("{offers.offers}")).count(), 0);
  await ana.leave();
});

test("a question behind the button on a phone is asked, left and answered", async () => {
  const ana = await Person.arrive(PHONE);
  await openGame(ana);
  const question = ana.page.getByRole("dialog", { name: "Resign? Your opponent wins." });
  await ana.button("More").tap();
  await ana.button("Resign").tap();
  await question.waitFor();
  await ana.isAccessible("a question on a phone");
  await question.getByRole("button", { name: "Cancel" }).tap();
  await becomes(() => ana.page.getByRole("dialog").count(), 0);
  await ana.button("More").tap();
  await ana.button("Resign").tap();
  await question.getByRole("button", { name: "Resign" }).tap();
  await becomes(() => ana.status(), "finished");
  await becomes(() => ana.page.getByRole("dialog").count(), 0);
  const card = ana.page.getByRole("region", { name: "Result" });
  await card.getByRole("heading", { name: "You lost" }).waitFor();
  await card.getByText("Resignation").waitFor();
  assert.equal(await card.locator(css("{result.score}")).count(), 0, "seeds did not decide");
  await ana.isAccessible("a result on a phone");
  await ana.screenshot("result-phone-resigned");
  await card.getByRole("button", { name: "Show the board" }).tap();
  await becomes(() => card.count(), 0);
  await ana.button("More").tap();
  await ana.button("Offer a rematch").tap();
  await ana.page.locator(css("{offers.offers}")).getByText("You offered a rematch.").waitFor();
  await ana.leave();
});

test("the result stands over the board, and leads to the first mistake", async () => {
  const ana = await Person.arrive(PHONE);
  await ana.begin("Two players on this device", "Ana");
  await playToTheEnd([ana]);
  const card = ana.page.getByRole("region", { name: "Result" });
  await card.waitFor();
  const score = (await card.locator(css("{result.score}")).textContent())?.split(" – ").map(Number) ?? [];
  assert.equal(
    score.reduce((sum, each) => sum + each, 0),
    48,
  );
  assert.ok((score[0] ?? 0) >= (score[1] ?? 0), "the winner's number comes first");
  await ana.isAccessible("a result with a score");
  await ana.screenshot("result-phone");
  const path = new URL(ana.page.url()).pathname.replace("games", "review");
  await card.getByRole("button", { name: "First mistake" }).tap();
  await ana.page.waitForURL((url) => url.pathname === path && /^#ply=\d+$/.test(url.hash), { timeout: 5 * WAIT_MS });
  const ply = Number(new URL(ana.page.url()).hash.slice(5));
  const { items } = await call<{ items: { ply: number }[] }>("GET", `${path.replace("review", "v1/games")}/moves?after=${ply - 1}&limit=1`, null);
  assert.equal(items[0]?.ply, ply);
  await ana.leave();
});

test("after a win the computer is asked for a harder game", async () => {
  const ana = await Person.arrive({ settings: { level: 1 } });
  await ana.begin("Two players on this device", "Ana");
  // South wins with one seed.
  const start = { position: "0,0,0,0,0,1/0,0,0,0,0,1 24-22 S - 0 1S" };
  const wish = { variant: "kalah", side: "south", opponent: { type: "computer", level: 1 }, start };
  const { id } = await call<{ id: string }>("POST", "/v1/games", await ana.token(), wish);
  await ana.open(`/games/${id}`);
  await ana.legal().first().click();
  const card = ana.page.getByRole("region", { name: "Result" });
  await card.getByRole("heading", { name: "You won" }).waitFor();
  await ana.isAccessible("a result");
  await ana.screenshot("result");
  await card.getByRole("button", { name: "Harder" }).click();
  await ana.page.waitForURL((url) => /^\/games\//.test(url.pathname) && !url.pathname.endsWith(id));
  const next = new URL(ana.page.url()).pathname.split("/")[2];
  await eventually("the level is higher", async () => (await call<{ opponent: { level: number } }>("GET", `/v1/games/${next}`, null)).opponent.level === 2);
  await ana.leave();
});

const plain = (text: string | null) => (text ?? "").replace(/[\u2068\u2069]/g, "");

const said = async (ana: Person) => plain(await ana.page.locator("[data-status] > span").first().textContent());

const plyOf = (ana: Person) => ana.page.locator("[data-ply]").getAttribute("data-ply");

const pit = (ana: Person, letter: string) => ana.page.locator(`[data-pit="${letter}"]`);

test("a pit that cannot be played says why", async () => {
  const ana = await Person.arrive({ expected: /422/ });
  await openGame(ana, { start: { position: "0,4,4,4,4,4/4,4,4,4,4,4 4-0 S - 0 1S" } });
  // Playwright waits for a pit that can be played.
  await pit(ana, "a").click({ force: true });
  await becomes(() => said(ana), "a cannot be played: it is not your pit.");
  await pit(ana, "A").click({ force: true });
  await becomes(() => said(ana), "A cannot be played: the pit is empty.");
  await becomes(
    async () => plain(await ana.page.locator(css("{game.news}")).first().textContent()),
    "A cannot be played: the pit is empty.",
    "a screen reader is told",
  );
  await ana.isAccessible("a pit that cannot be played");
  await pit(ana, "B").click();
  await becomes(() => plyOf(ana), "1");
  await becomes(() => said(ana), "Bo to move.");
  assert.equal(await ana.page.locator('[role="log"] > div').count(), 0);
  await ana.leave();
});

test("a finger that is held shows where a pit leads, and plays nothing", async () => {
  const ana = await Person.arrive(PHONE);
  await openGame(ana);
  const box = await pit(ana, "C").boundingBox();
  assert.ok(box);
  const finger = await ana.context.newCDPSession(ana.page);
  await finger.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }] });
  await becomes(() => said(ana), "C ends in the store. Then you move again.");
  await ana.screenshot("preview-phone");
  await finger.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await becomes(() => said(ana), "Your turn.");
  assert.equal(await plyOf(ana), "0");
  await pit(ana, "C").tap();
  await becomes(() => plyOf(ana), "1");
  await ana.leave();
});

test("by a setting the first touch shows where a pit leads, and the second plays it", async () => {
  const ana = await Person.arrive(PHONE);
  const { id } = await openGame(ana);
  await ana.open("/settings");
  await ana.page.locator("fieldset label", { hasText: "shows the move first" }).click();
  await ana.isAccessible("the settings");
  await ana.open(`/games/${id}`);
  await pit(ana, "C").tap();
  await becomes(() => said(ana), "C ends in the store. Then you move again.");
  await pit(ana, "D").tap();
  await eventually("the other pit is shown", async () => /^D ends in/.test(await said(ana)));
  assert.equal(await plyOf(ana), "0");
  await pit(ana, "D").tap();
  await becomes(() => plyOf(ana), "1");
  await ana.leave();
});

test("the rules, the clock and the own side are told, also before one joins", async () => {
  const bo = await guest("Bo");
  const clock = { type: "bank", bank_s: 600, increment_s: 5 };
  const { id, join_code } = await call<{ id: string; join_code: string }>("POST", "/v1/games", bo.token, {
    variant: "oware",
    side: "south",
    opponent: { type: "link" },
    clock,
  });
  const ana = await Person.arrive({ viewport: { width: 320, height: 568 } });
  await ana.open(`/games/${id}#join=${join_code}`);
  const line = ana.page.locator(css("{game.about}"));
  await eventually("it is told", async () => / · 10 minutes each, 0:05 more per turn · you would play North$/.test(plain(await line.textContent())));
  await ana.fits("an invitation at 320 pixels");
  await line.click();
  const sheet = ana.page.getByRole("dialog", { name: "The rules of this game" });
  await sheet.getByText("Grand slam").waitFor();
  await ana.isAccessible("the rules of a game");
  await ana.screenshot("about-320");
  await sheet.getByRole("button", { name: "Close" }).click();
  await ana.button("Join").click();
  await becomes(() => ana.status(), "active");
  await ana.page.setViewportSize({ width: 390, height: 664 });
  await eventually("the side is told", async () => / · you play North$/.test(plain(await line.textContent())));
  await ana.page.setViewportSize({ width: 320, height: 568 });
  await ana.page.getByRole("button", { name: "More", exact: true }).click();
  await ana.page.getByRole("link", { name: "The rules of this game" }).click();
  await ana.page.waitForURL("**/rules/oware");
  await ana.leave();
});

test("a guide of five steps goes with the first game, moves no pit, and is not shown again", async () => {
  const ana = await Person.arrive({ ...PHONE, settings: { isGuided: false } });
  await openGame(ana);
  const guide = ana.page.getByRole("region", { name: "Your first game" });
  const place = () => pit(ana, "A").boundingBox();
  await guide.waitFor();
  const before = await place();
  await ana.screenshot("guide-phone");
  for (let step = 1; step <= 5; step += 1) {
    await becomes(async () => plain(await guide.locator(css("{ui.quiet}")).textContent()), `${step} of 5`);
    await ana.isAccessible(`step ${step} of the guide`);
    assert.deepEqual(await place(), before);
    await guide.getByRole("button", { name: step < 5 ? "Next" : "Done" }).tap();
  }
  await becomes(() => guide.count(), 0);
  await ana.page.reload();
  await ana.legal().first().waitFor();
  assert.equal(await guide.count(), 0);
  await ana.leave();
});

test("a direction of Bao is chosen on the board, and pushes nothing away", async () => {
  for (const size of [
    { width: 320, height: 568 },
    { width: 844, height: 390 },
    { width: 1280, height: 800 },
  ]) {
    const ana = await Person.arrive({ viewport: size });
    await openGame(ana, { variant: "bao" });
    const places = () =>
      ana.page.locator(css("{game.seat}, {game.actions}, [data-pit]")).evaluateAll((all) => all.map((each) => JSON.stringify(each.getBoundingClientRect())));
    const before = await places();
    await pit(ana, "F").click();
    const arrow = ana.page.locator('[data-move="FU"]');
    await arrow.waitFor();
    assert.deepEqual(await places(), before);
    const [box, next] = [await arrow.boundingBox(), await pit(ana, "G").boundingBox()];
    assert.ok(box && next && box.width >= 44 && box.height >= 44);
    // The arrow lies where the first seed falls.
    const middle = (each: { x: number; y: number; width: number; height: number }) => [each.x + each.width / 2, each.y + each.height / 2].map(Math.round);
    assert.deepEqual(middle(box), middle(next));
    await ana.isAccessible(`a direction at ${size.width} pixels`);
    await ana.screenshot(`bao-arrows-${size.width}`);
    await arrow.click();
    await becomes(() => plyOf(ana), "1");
    await ana.leave();
  }
});

test("whose turn it is, is not told before the seeds lie still", async () => {
  const ana = await Person.arrive({ settings: { speed: "slow" } });
  await openGame(ana);
  await ana.page.evaluate((held) => {
    const seen = globalThis as { early?: string[] };
    seen.early = [];
    const look = () => {
      const words = document.querySelector("[data-status] > span")?.textContent ?? "";
      if (document.querySelector(held) && !/Your turn/.test(words)) seen.early?.push(words);
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class"] });
  }, css("{board.held}"));
  await pit(ana, "A").click();
  await ana.seesMoving();
  await becomes(() => plyOf(ana), "1");
  await becomes(() => said(ana), "Bo to move.");
  assert.deepEqual(await ana.page.evaluate(() => (globalThis as { early?: string[] }).early), []);
  await ana.leave();
});
