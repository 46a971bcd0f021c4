// What is beside the game: rules, new games with all options, and the review of a game.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";

after(closeBrowser);

/** A whole game by the README's moves, and who played it at both sides. */
async function playedGame(): Promise<{ id: string; token: string; refresh: string }> {
  const player = await guest("Ana");
  const game = await call<{ id: string }>("POST", "/v1/games", player.token, { variant: "kalah", side: "south", opponent: { type: "self" } });
  for (const [n, move] of [..."EcaAcBCbEF"].entries()) await call("POST", `/v1/games/${game.id}/moves`, player.token, { ply: n + 1, move });
  return { ...player, id: game.id };
}

test("the rules of every variant are shown with the boards of its presets", async () => {
  const ana = await Person.arrive({ viewport: { width: 320, height: 640 } });
  await ana.open("/rules");
  const games = ana.page.locator(".rules nav a");
  await games.nth(2).waitFor();
  for (let n = 0; n < (await games.count()); n += 1) {
    await games.nth(n).click();
    await eventually("the rules are there", async () => (await ana.page.locator("article h2").count()) > 4);
    assert.ok((await ana.page.locator(".preset img").count()) >= 2);
    await ana.fits("the rules");
    await ana.isAccessible("the rules");
  }
  await ana.screenshot("rules-320");
  await ana.open("/rules/nonsense");
  await ana.page.getByText("no game of this name").waitFor();
  await ana.context.close();
});

test("a game is begun with options from the schema, and a contradiction is told", async () => {
  const ana = await Person.arrive({ expected: /422/ });
  await ana.open("/new#kalah/empty_capture");
  await ana.page.locator("#preset").waitFor();
  assert.equal(await ana.page.locator("#preset").inputValue(), "empty_capture");
  await ana.page.locator("#preset").selectOption("standard");
  await ana.page.locator("fieldset label", { hasText: "A second player here" }).click();
  await ana.page.getByText("Options (0 changed)").click();
  await ana.page.locator("#option-pits").fill("4");
  await ana.page.locator("#option-seeds").fill("3");
  await ana.page.locator("#option-remaining").selectOption("discard");
  await ana.page.locator("#option-majority_remaining").selectOption("sweep");
  await ana.page.locator(".fault").waitFor();
  await ana.isAccessible("a new game");
  await ana.screenshot("new", true);
  await ana.button("Begin").click();
  await ana.page.getByText("That was not accepted").waitFor();
  await ana.page.locator("#option-majority_remaining").selectOption("leave");
  await eventually("the contradiction is gone", async () => (await ana.page.locator(".fault").count()) === 0);
  await ana.button("Begin").click();
  await ana.page.locator(".board").waitFor();
  assert.equal(await ana.page.locator("[data-pit]").count(), 8);
  assert.deepEqual(await ana.page.locator(".count.pit").allTextContents(), Array(8).fill("3"));
  await ana.leave();
});

test("a game is reviewed: steps, analysis, best line, a line of one's own, notes, and on against the computer", async () => {
  const ana = await Person.arrive({ acceptDownloads: true, expected: /404/, settings: { level: 1 } });
  await ana.begin("Two players at this device", "Ana");
  for (const [n, move] of [..."EcaA"].entries()) {
    await ana.page.locator(`[data-pit="${move}"]`).click();
    await eventually("the move is shown", async () => (await ana.page.locator(".board").getAttribute("data-ply")) === String(n + 1));
  }
  await ana.page.getByRole("link", { name: "Review" }).click();
  const shown = (ply: number) => eventually(`ply ${ply} is shown`, async () => (await ana.page.locator(".board").getAttribute("data-ply")) === String(ply));
  await shown(4);
  await ana.button("To the start").click();
  await shown(0);
  await ana.button("One step forward").click();
  await shown(1);
  await ana.page.getByRole("slider").press("ArrowRight");
  await shown(2);
  await ana.button("To the start").click();
  await ana.button("Play").click();
  await shown(4);
  await ana.button("Analyse").click();
  await ana.page.getByText("Accuracy").waitFor();
  await ana.page.locator(".judgement").waitFor();
  await ana.isAccessible("a review");
  await ana.screenshot("review", true);
  // E was no good opening: the engine's line begins with another pit.
  await ana.button(/^1: E/).click();
  await ana.button("Show it").click();
  await ana.page.getByRole("group", { name: "A line that was not played" }).waitFor();
  await ana.button("Back to the game").click();
  await shown(0);
  await ana.page.locator('[data-pit="C"]').click();
  await eventually("the line is shown", async () => (await ana.page.locator(".line-moves").textContent())?.trim() === "C");
  await ana.button("Back to the game").click();
  await ana.button(/^2: c/).click();
  await ana.page.locator("#note").fill("An extra turn.");
  await ana.button("Save the note").click();
  await ana.page.getByText("Saved.").waitFor();
  await ana.page.reload();
  await ana.button(/2: c.*with a note/).click();
  assert.equal(await ana.page.locator("#note").inputValue(), "An extra turn.");
  const download = ana.page.waitForEvent("download");
  await ana.button("Save as text").click();
  assert.match((await download).suggestedFilename(), /\.txt$/);
  await ana.page.getByText("Played here in other games").click();
  await ana.page.getByText(/No other game has come here|Move/).first().waitFor();
  await ana.button("Go on from here against the computer").click();
  await ana.page.waitForURL(/\/games\//);
  await eventually("the game goes on", async () => (await ana.status()) === "active" && (await ana.legal().count()) > 0);
  assert.equal(await ana.page.locator(".board").getAttribute("data-ply"), "0");
  await ana.leave();
});

test("a review of another's game is seen without a token, also at 320 pixels", async () => {
  const { id } = await playedGame();
  const cleo = await Person.arrive({ viewport: { width: 320, height: 640 }, colorScheme: "dark", expected: /404|401/ });
  await cleo.open(`/review/${id}`);
  await eventually("the end is shown", async () => (await cleo.page.locator(".board").getAttribute("data-ply")) === "10");
  await cleo.fits("a review");
  await cleo.isAccessible("a review at 320 pixels");
  await cleo.screenshot("review-narrow-dark", true);
  assert.equal(await cleo.page.locator("#note").count(), 0);
  await cleo.open("/review/nonsense");
  await cleo.page.getByRole("heading", { name: "This game cannot be shown" }).waitFor();
  await cleo.leave();
});
