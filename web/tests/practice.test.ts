// Practice against the computer, and two people with names at one device.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { BASE, becomes, closeBrowser, eventually, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

/** The pit that the page marks as the best one, for eyes and for screen readers. */
const hinted = (ana: Person) => ana.page.locator('[data-pit][aria-label*="best by the hint"]');

const wordsOf = async (ana: Person) => (await ana.page.locator(css("{game.hint}")).textContent()) ?? "";

const plyOf = (ana: Person) => ana.page.locator("[data-ply]").getAttribute("data-ply");

async function practise(ana: Person): Promise<void> {
  await ana.open("/");
  const begins = await ana.way("Play the computer");
  await ana.page.getByLabel("Practice: hints and takebacks").check();
  await begins.click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  await ana.page.locator("[data-ply]").waitFor();
}

test("practice gives a hint once, and takes a turn back at once", async () => {
  const ana = await Person.arrive({ settings: { level: 1 } });
  let asked = 0;
  ana.page.on("request", (request) => (asked += request.url().endsWith("/hint") ? 1 : 0));
  await practise(ana);
  await ana.page.getByRole("heading", { level: 1, name: "Practice" }).waitFor();
  const opening = await ana.page.locator(css("{board.count}:not({board.store})")).allTextContents();
  const answer = ana.page.waitForResponse((response) => response.url().endsWith("/hint"));
  await ana.button("Hint").focus();
  await ana.page.keyboard.press("Enter");
  await ana.page.keyboard.press("Enter");
  const [best] = ((await (await answer).json()) as { moves: { move: string; value: { seeds: number; is_exact: boolean } }[] }).moves;
  assert.ok(best);
  await eventually("the hint is told", async () => (await wordsOf(ana)).includes("is best"));
  const words = (await wordsOf(ana)).replace(/[\u2068\u2069]/g, "");
  assert.ok(best.value.seeds > 0, "South, who opens, is ahead by best play");
  const seeds = Math.round(best.value.seeds * 10) / 10;
  const margin = `${seeds} ${seeds === 1 ? "seed" : "seeds"} ahead.`;
  assert.equal(words, `${best.move} is best: ${best.value.is_exact ? "with best play you finish" : "the engine expects you to finish"} ${margin}`);
  await becomes(() => hinted(ana).count(), 1);
  await becomes(() => hinted(ana).getAttribute("data-pit"), best.move);
  assert.equal(asked, 1);
  await ana.isAccessible("a hint");
  await ana.screenshot("hint");
  await ana.page.setViewportSize({ width: 320, height: 568 });
  await ana.fits("a hint");
  await ana.screenshot("hint-320", true);
  await ana.page.setViewportSize({ width: 1200, height: 900 });
  await hinted(ana).click();
  await eventually("the move is shown", async () => (await plyOf(ana)) !== "0");
  await becomes(() => wordsOf(ana), "");
  await becomes(() => hinted(ana).count(), 0);
  // Moves until the computer has answered, so that the turn that is taken back holds both of them.
  await eventually("the computer has moved", async () => {
    if ((await ana.legal().count()) > 0 && !(await hasAnswered(ana))) await ana.legal().first().click();
    return hasAnswered(ana);
  });
  await eventually("the next hint can be asked for", async () => ana.button("Hint").isEnabled());
  await ana.button("Hint").click();
  await eventually("a hint after the computer's move", async () => (await hinted(ana).count()) === 1);
  await ana.button("Take back").click();
  await eventually("no hint is left", async () => (await wordsOf(ana)) === "");
  for (let n = 0; n < 8 && (await ana.button("Take back").count()) > 0; n += 1) {
    const before = await plyOf(ana);
    await ana.button("Take back").click();
    await eventually("the turn is taken back", async () => (await plyOf(ana)) !== before);
  }
  await eventually(
    "the opening is shown",
    async () => (await ana.page.locator(css("{board.count}:not({board.store})")).allTextContents()).join() === opening.join(),
  );
  await ana.legal().first().waitFor();
  await ana.leave();
});

/** Whether the computer has moved, and the player is to move again. */
async function hasAnswered(ana: Person): Promise<boolean> {
  const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
  const { items } = (await (await fetch(`${BASE}/v1/games/${id}/moves`)).json()) as { items: { side: string }[] };
  return items.some(({ side }) => side === "north") && (await ana.legal().count()) > 0;
}

test("a hint that is refused is explained, and one that is left is cancelled", async () => {
  const ana = await Person.arrive({ settings: { level: 1 }, expected: /status of (429|503|403)/ });
  await practise(ana);
  const refusals = [
    [429, "rate_limited", "Too many requests. Try again in a moment."],
    [503, "unavailable", "The server is busy. Try again in a moment."],
    [403, "forbidden", "That is not allowed"],
  ] as const;
  for (const [status, code, told] of refusals) {
    const body = JSON.stringify({ type: `/problems/${code}`, title: code, status, code, detail: "so it is" });
    await ana.context.route("**/hint", (route) => route.fulfill({ status, contentType: "application/problem+json", body }), { times: 1 });
    await ana.button("Hint").click();
    await ana.hears(told);
    assert.equal(await wordsOf(ana), "");
  }
  // A search that goes on until nothing waits for it.
  await ana.context.route("**/hint", () => {});
  const ended = () => ana.page.waitForEvent("requestfailed", (request) => request.url().endsWith("/hint"));
  const byMove = ended();
  await ana.button("Hint").click();
  await ana.page.getByText("Looking for the best move").waitFor();
  await ana.legal().first().click();
  assert.equal((await byMove).failure()?.errorText, "net::ERR_ABORTED");
  await eventually("another hint can be asked for", async () =>
    ana
      .button("Hint")
      .isEnabled()
      .catch(() => false),
  );
  const byLeaving = ended();
  await ana.button("Hint").click();
  await ana.page.getByText("Looking for the best move").waitFor();
  await ana.page.getByRole("link", { name: "Mancala" }).click();
  assert.equal((await byLeaving).failure()?.errorText, "net::ERR_ABORTED");
  await ana.page.locator(css("{ui.badge}")).first().waitFor();
  await ana.leave();
});

test("two people at one device are called by their names, and share the game", async () => {
  const ana = await Person.arrive({ permissions: ["clipboard-read", "clipboard-write"] });
  await ana.open("/");
  const begins = await ana.way("Two players on this device");
  await ana.page.getByLabel("Name of the second player (optional)").fill("Bo");
  await ana.page.getByLabel("Your name (optional)").fill("Ana");
  await begins.click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  await ana.page.locator("[data-ply]").waitFor();
  const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
  const names = (await ana.page.locator(css("{game.seat} {ui.name}")).allTextContents()).map((name) => name.trim());
  assert.deepEqual(names, ["Bo", "Ana (guest)"]);
  const status = async () => ((await ana.page.locator("[data-status]").textContent()) ?? "").replace(/[\u2068\u2069]/g, "");
  await eventually("it is told", async () => /Ana to move\./.test(await status()));
  await ana.page.locator('[data-pit="A"]').click();
  await eventually("it is Bo's turn", async () => (await status()).includes("Bo to move."));
  await eventually("it is told", async () => /\u2068Ana\u2069 sows/.test((await ana.page.locator(css("{game.news}")).first().textContent()) ?? ""));
  await ana.button("Copy the link to the game").click();
  const link = `${BASE}/g/${id}`;
  await becomes(() => ana.page.evaluate(() => navigator.clipboard.readText()), link);
  assert.match(await (await fetch(link, { headers: { accept: "text/html" } })).text(), /property="og:image"/);
  await ana.open(`/g/${id}`);
  await ana.page.getByRole("link", { name: "Go to the board" }).click();
  await ana.page.waitForURL(`${BASE}/games/${id}`, { waitUntil: "commit" });
  await ana.page.locator("[data-ply]").waitFor();
  await ana.open(`/review/${id}`);
  await ana.page.getByRole("heading", { level: 1, name: /Ana.*Bo/ }).waitFor();
  await ana.open("/");
  await ana.page.locator(css("{rows.who}"), { hasText: "Ana – Bo" }).waitFor();
  await ana.leave();
});

test("a name that the server refuses is told at its field", async () => {
  const ana = await Person.arrive({ expected: /status of 422/ });
  await ana.open("/new?opponent=self");
  const field = ana.page.getByLabel("Name of the second player (optional)");
  await field.fill("x\u202ey");
  await ana.button("Start the game").click();
  await eventually("the field is marked", async () => (await field.getAttribute("aria-invalid")) === "true");
  await ana.isAccessible("a refused name");
  await field.fill("Bo");
  await ana.button("Start the game").click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  await ana.page.locator(css("{game.seat} {ui.name}"), { hasText: "Bo" }).waitFor();
  await ana.leave();
});
