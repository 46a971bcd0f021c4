// Whole games in a real browser, against the real server.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { becomes, call, closeBrowser, eventually, guest, Person, playToTheEnd } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

test("two people play a game by link to the end, and a rematch begins", async () => {
  const ana = await Person.arrive();
  const bo = await Person.arrive();
  const id = await ana.begin("Invite a friend", "Ana");
  const link = await ana.page.getByRole("textbox", { name: "Invitation link" }).inputValue();
  assert.match(link, new RegExp(`/games/${id}#join=`));
  await bo.page.goto(link);
  await bo.page.getByText("is waiting for an opponent").waitFor();
  await bo.isAccessible("an invitation");
  await bo.button("Join").click();
  await eventually("both see that the game is active", async () => (await ana.status()) === "active" && (await bo.status()) === "active");
  const moves = await playToTheEnd([ana, bo]);
  assert.ok(moves > 5, `${moves} moves`);
  await eventually("both see the end", async () => (await ana.status()) === "finished" && (await bo.status()) === "finished");
  const [won, lost] = [await ana.page.locator("[data-status]").textContent(), await bo.page.locator("[data-status]").textContent()];
  assert.match(`${won} ${lost}`, /(You won.*You lost)|(You lost.*You won)|(Draw.*Draw)/s);
  for (const person of [ana, bo]) await becomes(() => person.presence().count(), 0, "a game that is over is not live");
  await ana.screenshot("game-over");
  await ana.isAccessible("a game that is over");
  await ana.button("Offer a rematch").click();
  await bo.button("Accept").click();
  // Both players are taken along. A player who opens the game later finds a link.
  for (const person of [ana, bo]) await person.page.waitForURL((url) => /^\/games\//.test(url.pathname) && !url.pathname.endsWith(id));
  assert.equal(ana.page.url(), bo.page.url());
  await becomes(() => ana.status(), "active");
  await becomes(() => bo.status(), "active");
  await bo.page.goBack();
  await becomes(() => bo.status(), "finished");
  await bo.page.getByRole("link", { name: "To the rematch" }).click();
  await becomes(() => bo.status(), "active");
  await ana.leave();
  await bo.leave();
});

test("the button to resign stays where it is while moves are made", async () => {
  for (const width of [1200, 320]) {
    const ana = await Person.arrive({ settings: { level: 1, practice: true }, viewport: { width, height: 800 } });
    await ana.begin("Play the computer", "Ana");
    await ana.legal().first().waitFor();
    // On phones it is behind a button, which stays where it is as well.
    const more = ana.button("More");
    const placeOf = (name: string) =>
      ana.button(name).evaluate((button) => [button.getBoundingClientRect().left + scrollX, button.getBoundingClientRect().top + scrollY]);
    const place = async () => {
      if ((await more.count()) === 0) return placeOf("Resign");
      const closed = await placeOf("More");
      await more.click();
      const opened = await placeOf("Resign");
      await ana.isAccessible("what is behind the button");
      await ana.page.keyboard.press("Escape");
      return [...closed, ...opened];
    };
    const before = await place();
    assert.equal(before.length, width < 1024 ? 4 : 2);
    for (let n = 0; n < 5; n += 1) {
      const ply = Number(await ana.page.locator("[data-ply]").getAttribute("data-ply"));
      await ana.legal().first().click();
      await eventually(
        "it is the player's turn again",
        async () => Number(await ana.page.locator("[data-ply]").getAttribute("data-ply")) > ply && (await ana.legal().count()) > 0,
      );
      assert.deepEqual(await place(), before, `after ${n + 1} moves at ${width} pixels`);
    }
    await ana.fits("a game with a button to resign");
    await ana.isAccessible("a game with a button to resign");
    await ana.leave();
  }
});

test("the title of the page says whose turn it is to a player", async () => {
  const ana = await Person.arrive();
  await ana.begin("Two players on this device", "Ana");
  const bo = await guest("Bo");
  const wish = { variant: "kalah", side: "south", opponent: { type: "link" } };
  const { id, join_code } = await call<{ id: string; join_code: string }>("POST", "/v1/games", await ana.token(), wish);
  await call("POST", `/v1/games/${id}/join`, bo.token, { join_code });
  const isTold = async () => (await ana.page.title()).startsWith("● Your turn – ");
  assert.equal(await isTold(), false, "both turns of a game at one device are the player's");
  await ana.open(`/games/${id}`);
  await becomes(isTold, true);
  await ana.page.locator('[data-pit="A"]').click();
  await becomes(isTold, false);
  await call("POST", `/v1/games/${id}/moves`, bo.token, { ply: 2, move: "b" });
  await becomes(isTold, true);
  await ana.leave();
});

test("a pause that is offered, and one that is under way, are told apart", async () => {
  const ana = await Person.arrive();
  await ana.begin("Two players on this device", "Ana");
  const bo = await guest("Bo");
  const wish = { variant: "kalah", side: "south", opponent: { type: "link" }, clock: { type: "bank", bank_s: 600, increment_s: 5 } };
  const { id, join_code } = await call<{ id: string; join_code: string }>("POST", "/v1/games", await ana.token(), wish);
  await call("POST", `/v1/games/${id}/join`, bo.token, { join_code });
  await ana.open(`/games/${id}`);
  const offers = ana.page.locator(css("{offers.offers}"));
  await ana.button("Offer a pause").click();
  await offers.getByText("You offered a pause.").waitFor();
  await offers.getByRole("button", { name: "Withdraw" }).waitFor();
  await call("POST", `/v1/games/${id}/offers/pause/accept`, bo.token);
  await offers.getByText("The game is paused: the clocks are stopped.").waitFor();
  await ana.isAccessible("a paused game");
  await offers.getByRole("button", { name: "Resume the clocks" }).click();
  await becomes(() => offers.count(), 0);
  await ana.leave();
});

test("a guest's fourth game against the computer replaces one without a move", async () => {
  const ana = await Person.arrive({ settings: { level: 1 }, expected: /409/ });
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await ana.begin("Play the computer", n === 0 ? "Ana" : ""));
  const game = (id = "") => call<{ status: string; ply: number }>("GET", `/v1/games/${id}`, null);
  const statuses = async () => Promise.all(ids.map(async (id) => (await game(id)).status));
  assert.deepEqual(await statuses(), ["aborted", "active", "active", "active"]);
  for (const id of ids.slice(1)) {
    await ana.open(`/games/${id}`);
    await ana.legal().first().click();
    await eventually("the move has arrived", async () => (await game(id)).ply > 0);
  }
  await ana.open("/");
  await (await ana.way("Play the computer")).click();
  await ana.hears("You have reached the limit of games");
  assert.deepEqual(await statuses(), ["aborted", "active", "active", "active"], "a game with a move stays");
  await ana.leave();
});

test("a game that is resigned at once has no score", async () => {
  const ana = await Person.arrive({ settings: { level: 1 } });
  const id = await ana.begin("Play the computer", "Ana");
  await ana.legal().first().click();
  await ana.button("Resign").click();
  await ana.page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  await becomes(() => ana.status(), "finished");
  for (const path of [`/games/${id}`, `/review/${id}`]) {
    await ana.open(path);
    await ana.page.getByText(/You lost: \S*resignation/).waitFor();
  }
  await ana.leave();
});

test("a game against the computer is played by the keyboard alone", async () => {
  const ana = await Person.arrive({ settings: { level: 1 } });
  await ana.open("/");
  // From the start of the document to the button, as a keyboard goes.
  for (let n = 0; n < 40; n += 1) {
    await ana.page.keyboard.press("Tab");
    const text = await ana.page.evaluate(() => document.activeElement?.textContent);
    if (text?.startsWith("Play the computer")) break;
  }
  await ana.page.keyboard.press("Enter");
  for (let n = 0; n < 10; n += 1) {
    await ana.page.keyboard.press("Tab");
    if ((await ana.page.evaluate(() => document.activeElement?.textContent)) === "Start the game") break;
  }
  await ana.page.keyboard.press("Enter");
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  await ana.page.locator("[data-ply]").waitFor();
  await ana.page.keyboard.press("Tab");
  await ana.page.keyboard.press("ArrowRight");
  const focused = () => ana.page.evaluate(() => document.activeElement?.getAttribute("data-pit"));
  for (let n = 0; n < 10 && (await focused()) === null; n += 1) await ana.page.keyboard.press("Tab");
  await ana.page.keyboard.press("Home");
  await becomes(focused, "A");
  await ana.page.keyboard.press("ArrowRight");
  await becomes(focused, "B");
  await ana.page.keyboard.press("ArrowUp");
  await becomes(focused, "e");
  const moves = await playToTheEnd([ana], async ({ page, legal }) => {
    const before = await page.locator("[data-ply]").getAttribute("data-ply");
    const pit = (await legal.call(ana).first().getAttribute("data-pit")) ?? "";
    await page.keyboard.press(pit.toLowerCase());
    await becomes(focused, pit);
    await page.keyboard.press("Enter");
    await eventually("the move is shown", async () => (await page.locator("[data-ply]").getAttribute("data-ply")) !== before);
  });
  assert.ok(moves > 5, `${moves} moves`);
  await eventually("the end is told", async () => /The game is over/.test((await ana.page.locator(css("{game.news}")).textContent()) ?? ""));
  await ana.button("Play again").click();
  await eventually("another game begins", async () => (await ana.status()) === "active");
  await ana.leave();
});

test("two players at one device play to the end by touch at 320 pixels", async () => {
  const device = await Person.arrive({ viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true });
  await device.begin("Two players on this device", "Ana");
  await device.fits("a game");
  await device.isAccessible("a game at 320 pixels");
  await device.screenshot("game-320", true);
  const size = await device.legal().first().boundingBox();
  assert.ok(size && size.width >= 44 && size.height >= 44, `a pit is ${size?.width} × ${size?.height} px`);
  const moves = await playToTheEnd([device], async ({ page, legal }) => {
    const before = await page.locator("[data-ply]").getAttribute("data-ply");
    await legal.call(device).last().tap();
    await eventually("the move is shown", async () => (await page.locator("[data-ply]").getAttribute("data-ply")) !== before);
  });
  assert.ok(moves > 5, `${moves} moves`);
  await device.leave();
});

test("every variant that the server lists is played to the end", async () => {
  const device = await Person.arrive();
  await device.open("/");
  const titles = () => device.page.locator('label:has([name="variant"]) strong').allTextContents();
  await eventually("all variants are offered", async () => (await titles()).length >= 3);
  for (const title of (await titles()).slice(1)) {
    await device.open("/");
    await device.page.locator('label:has([name="variant"])', { hasText: title }).click();
    await (await device.way("Two players on this device")).click();
    await device.page.waitForURL(/\/games\//, { waitUntil: "commit" });
    await device.page.locator("[data-ply]").waitFor();
    await device.screenshot(`board-${title.toLowerCase()}`);
    assert.ok((await playToTheEnd([device])) > 5, title);
  }
  await device.leave();
});

test("seeds move frame by frame, and the board arrives where the server says", async () => {
  const ana = await Person.arrive({ settings: { speed: "normal" } });
  await ana.begin("Two players on this device", "Ana");
  await ana.page.locator('[data-pit="C"]').click();
  // While seeds are in the hand, the board is between two plies.
  await ana.seesMoving();
  await ana.screenshot("game-moving");
  await eventually("the move has been played", async () => (await ana.page.locator("[data-ply]").getAttribute("data-ply")) === "1");
  const counts = await ana.page.locator(css("{board.count}:not({board.store})")).allTextContents();
  assert.equal(counts.reduce((sum, count) => sum + Number(count), 0) + 1, 48);
  await becomes(() => ana.page.locator('[data-pit="C"]').getAttribute("aria-label"), "Pit \u2068C\u2069 of \u2068South\u2069, 0 seeds");
  await ana.leave();
});
