// The first view: what a visitor sees and touches first, what waits for a player, and how a game begins there.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import type { Board, Schemas } from "@mancala-server/client";

import { OPENINGS } from "../src/views/home/opening.ts";
import { BASE, becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

const WINDOWS = [
  { width: 320, height: 568 },
  { width: 390, height: 664 },
  { width: 844, height: 390 },
  { width: 1280, height: 800 },
];

/** The windows in which all of the first view's beginning is seen. */
const WHOLE = WINDOWS.filter(({ width, height }) => width >= 390 && height > 600);

const ply = async (ana: Person) => Number(await ana.page.locator('[aria-labelledby="try-title"] [data-ply]').getAttribute("data-ply"));

interface Played {
  id: string;
  ply: number;
  turn: string;
  position: string;
}

/** A public game of two guests. */
async function game(south: { token: string }, north: { token: string }, settings: object = {}): Promise<string> {
  const wish = { variant: "kalah", side: "south", visibility: "public", opponent: { type: "link" }, ...settings };
  const { id, join_code } = await call<{ id: string; join_code: string }>("POST", "/v1/games", south.token, wish);
  await call("POST", `/v1/games/${id}/join`, north.token, { join_code });
  return id;
}

for (const viewport of WHOLE) {
  test(`a visitor plays at once, and becomes a guest with a game alone: ${viewport.width} pixels`, async () => {
    const ana = await Person.arrive({ viewport });
    const made: string[] = [];
    ana.page.on("request", (request) => {
      if (request.method() === "POST" && /\/v1\/(players|games)/.test(request.url())) made.push(request.url());
    });
    await ana.open("/");
    await ana.legal().first().click();
    await eventually("the other side has answered", async () => (await ply(ana)) > 1 && (await ana.legal().count()) > 0);
    // A pit under the pointer tells what its move would do.
    await ana.page.mouse.move(0, 0);
    await ana.page.locator('[aria-labelledby="try-title"] [role="status"]', { hasText: "Your turn." }).waitFor();
    assert.deepEqual(made, [], "the visitor has become a player");
    await ana.fits("a board that was touched");
    await ana.isAccessible("a board that was touched");
    const shown = await ana.page.locator(css('[aria-labelledby="try-title"] {board.count}')).allTextContents();
    await ana.button("Keep playing").click();
    await ana.page.waitForURL(/\/games\//);
    const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
    await ana.page.locator(css("{game.game} [data-ply]")).waitFor();
    assert.deepEqual(await ana.page.locator(css("{game.game} {board.count}")).allTextContents(), shown, "the game begins with the position that was reached");
    const begun = await call<{ opponent: { type: string }; ply: number }>("GET", `/v1/games/${id}`, null);
    assert.deepEqual([begun.opponent.type, begun.ply], ["computer", 0]);
    await ana.leave();
  });

  test(`the board, its words and the three ways are in the window: ${viewport.width} × ${viewport.height}`, async () => {
    const ana = await Person.arrive({ viewport });
    await ana.open("/");
    await ana.legal().first().waitFor();
    for (const selector of [
      '[aria-labelledby="try-title"] [data-ply]',
      '[aria-labelledby="try-title"] [role="status"]',
      css("{starts.start}:nth-of-type(1)"),
      css("{starts.start}:nth-of-type(2)"),
      css("{starts.start}:nth-of-type(3)"),
    ]) {
      const box = await ana.page.locator(selector).boundingBox();
      assert.ok(box && box.x >= 0 && box.x + box.width <= viewport.width && box.y + box.height <= viewport.height, `${selector} is at ${JSON.stringify(box)}`);
    }
    await ana.leave();
  });
}

test("in every window each game's pits are large enough, and nothing moves when another game is chosen", async () => {
  for (const viewport of WINDOWS) {
    const ana = await Person.arrive({ viewport });
    await ana.open("/");
    const kinds = ana.page.locator('label:has([name="variant"])');
    await becomes(() => kinds.count(), 7);
    const place = () => ana.page.locator('fieldset:has([name="variant"])').evaluate((all) => Math.round(all.getBoundingClientRect().top + scrollY));
    const before = await place();
    for (let n = 0; n < 7; n += 1) {
      const title = (await kinds.nth(n).locator("strong").textContent()) ?? "";
      await kinds.nth(n).click();
      await ana.page.getByRole("heading", { name: title }).waitFor({ state: "attached" });
      await ana.legal().first().waitFor();
      const least = await ana.page
        .locator('[aria-labelledby="try-title"] [data-pit]')
        .evaluateAll((all) => Math.min(...all.map((each) => Math.min(each.getBoundingClientRect().width, each.getBoundingClientRect().height))));
      const words = await ana.page.locator('[aria-labelledby="try-title"] [role="status"]').textContent();
      assert.equal(words, "Your move: choose a pit with a bright rim.", `${title} is told of in words that are true of every game`);
      const widths = await ana.page
        .locator('[aria-labelledby="try-title"] [data-ply]')
        .evaluate((board) => [board, board.parentElement].map((each) => Math.round(each?.getBoundingClientRect().width ?? 0)));
      assert.equal(widths[0], widths[1], `the arrows of ${title} lie upon its board`);
      assert.ok(least >= 24, `a pit of ${title} has ${least} px at ${viewport.width} × ${viewport.height}`);
      assert.equal(await place(), before, `${title} moves the list at ${viewport.width} × ${viewport.height}`);
      await ana.fits(title);
    }
    await ana.leave();
  }
});

test("seven games are told by picture, origin, difficulty and length", async () => {
  const ana = await Person.arrive();
  await ana.open("/");
  const kinds = ana.page.locator('label:has([name="variant"])');
  await becomes(() => kinds.count(), 7);
  for (const words of ["KalahUnited Stateseasy · 5 min", "BaoEast Africahard · 30 min", "Toguz KumalakCentral Asiamedium · 20 min"]) {
    await eventually(words, async () => (await kinds.allTextContents()).map((text) => text.replace(/[\u2068\u2069]/g, "")).includes(words));
  }
  const listed = await call<Schemas["VariantPage"]>("GET", "/v1/variants", null);
  for (let n = 0; n < 7; n += 1) {
    const variant = listed.items[n]?.name ?? "";
    const { board } = await call<{ board: Board }>("POST", `/v1/variants/${variant}/play`, null, { moves: [] });
    const known = OPENINGS[variant];
    for (const side of ["south", "north"] as const) {
      const { pits, store, reserve } = board[side];
      assert.deepEqual([known?.[side].pits, known?.[side].store, known?.[side].reserve], [pits, store, reserve], `the opening of ${variant}`);
    }
    assert.equal(await kinds.nth(n).locator("svg rect").count(), board.south.pits.length * 2 + 3);
  }
  await kinds.nth(1).click();
  await ana.page.reload();
  await ana.page.locator('[aria-labelledby="try-title"] [data-pit]').first().waitFor();
  await becomes(() => kinds.nth(1).locator("input").isChecked(), true, "the choice is kept");
  await ana.leave();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the settings of a way open when it is chosen, one at a time: ${colorScheme}`, async () => {
    for (const viewport of WHOLE) {
      const ana = await Person.arrive({ viewport, colorScheme, reducedMotion: "reduce" });
      await ana.open("/");
      await ana.legal().first().waitFor();
      assert.equal(await ana.page.locator(css("{starts.start} select, {starts.start} input")).count(), 0, "nothing is asked before a way is chosen");
      for (const [way, button] of [
        ["Play the computer", "Start the game"],
        ["Play a friend", "Two players on this device"],
        ["Find an opponent", "Search now"],
      ] as const) {
        await ana.page.locator(css("{starts.start}")).getByRole("button", { name: way }).click();
        await ana.button(button).waitFor();
        await becomes(() => ana.page.locator(css("{starts.settings}")).count(), 1);
        await ana.fits(way);
        await ana.isAccessible(`${way} (${colorScheme})`);
        await ana.screenshot(`home-${way.split(" ").at(-1)}-${viewport.width}-${colorScheme}`, true);
      }
      await ana.leave();
    }
  });
}

test("by the keyboard alone a visitor tries a move, chooses a game and begins it", async () => {
  const ana = await Person.arrive({ settings: { level: 1 } });
  await ana.open("/");
  await ana.legal().first().waitFor();
  const focused = () => ana.page.evaluate(() => document.activeElement?.textContent ?? "");
  const tabTo = async (isThere: () => Promise<boolean>) => {
    for (let n = 0; n < 40; n += 1) {
      await ana.page.keyboard.press("Tab");
      if (await isThere()) return;
    }
    assert.fail("the keyboard does not get there");
  };
  await tabTo(() => ana.page.evaluate(() => document.activeElement?.hasAttribute("data-pit") ?? false));
  await ana.page.keyboard.press("d");
  await ana.page.keyboard.press("Enter");
  await eventually("the move is shown", async () => (await ply(ana)) > 0);
  await tabTo(() => ana.page.evaluate(() => document.activeElement?.getAttribute("name") === "variant"));
  await ana.page.keyboard.press("ArrowRight");
  await ana.page.getByRole("heading", { name: "Oware" }).waitFor();
  for (let n = 0; n < 10 && !(await focused()).startsWith("Play the computer"); n += 1) await ana.page.keyboard.press("Shift+Tab");
  await ana.page.keyboard.press("Enter");
  await tabTo(async () => (await focused()) === "Start the game");
  await ana.page.keyboard.press("Enter");
  await ana.page.waitForURL(/\/games\//);
  await ana.page.getByRole("heading", { level: 1, name: "Oware" }).waitFor();
  await ana.leave();
});

test("the turns of a player come first, and go when the moves are made", async () => {
  for (const viewport of WHOLE) {
    const ana = await Person.arrive({ viewport });
    await ana.begin("Two players on this device", "Ana");
    const [me, bo] = [{ token: await ana.token() }, await guest("Bo")];
    const mine = await game(me, bo, { clock: { type: "per_move", move_s: 86_400 } });
    const his = await game(bo, me, { variant: "oware" });
    await ana.open("/");
    const turns = ana.page.locator('[aria-labelledby="turns-title"] a');
    await becomes(() => turns.count(), 1);
    assert.equal(await turns.getAttribute("href"), `/games/${mine}`);
    await ana.page
      .getByRole("heading", { name: "Your turn in \u20681\u2069 game" })
      .or(ana.page.getByRole("heading", { name: "Your turn in 1 game" }))
      .waitFor();
    assert.match((await turns.textContent()) ?? "", /Bo.*Kalah.*left/s);
    const above = await ana.page.evaluate(() => document.querySelector("main h1 + *")?.getAttribute("aria-labelledby"));
    assert.equal(above, "turns-title", "they stand above everything else");
    assert.equal(await ana.page.locator(`[aria-labelledby="mine-title"] a[href="/games/${mine}"]`).count(), 1, "the list of games has it, too");
    await ana.isAccessible("turns");
    await ana.fits("turns");
    await ana.screenshot(`home-turns-${viewport.width}`, true);
    await call("POST", `/v1/games/${his}/moves`, bo.token, { ply: 1, move: "A" });
    await becomes(() => turns.count(), 2, "the stream tells of another turn");
    await turns.first().click();
    await ana.page.waitForURL(`**/games/${mine}`);
    await ana.legal().first().click();
    await eventually("the move has arrived", async () => (await call<Played>("GET", `/v1/games/${mine}`, null)).ply > 0);
    await ana.page.getByRole("link", { name: "Mancala" }).click();
    await becomes(() => turns.count(), 1);
    await ana.leave();
  }
});

test("of many turns three stand above, with the way to all of them", async () => {
  const ana = await Person.arrive();
  await ana.begin("Two players on this device", "Ana");
  const [me, bo] = [{ token: await ana.token() }, await guest("Bo")];
  for (let n = 0; n < 5; n += 1) await game(me, bo);
  await ana.open("/");
  await ana.page.getByRole("heading", { name: /^Your turn in .?5.? games$/ }).waitFor();
  const turns = ana.page.locator('[aria-labelledby="turns-title"] a');
  await becomes(() => turns.count(), 4);
  const urgent = () => ana.page.locator('[aria-labelledby="mine-title"] a', { hasText: "Your turn" }).count();
  assert.equal(await urgent(), 5, "the list has as many as are counted, without the game at one device");
  await ana.isAccessible("many turns");
  await ana.screenshot("home-many-turns", true);
  await turns.last().click();
  await becomes(() => ana.page.evaluate(() => document.activeElement?.id), "mine-title");
  await ana.leave();
});

test("games that go on between others are seen, the player's own and unlisted ones are not", async () => {
  const [bo, cleo] = [await guest("Bo"), await guest("Cleo")];
  const unlisted = await game(bo, cleo, { visibility: "unlisted" });
  const over = await game(bo, cleo);
  await call("POST", `/v1/games/${over}/resign`, cleo.token);
  const { id: alone } = await call<Played>("POST", "/v1/games", bo.token, { variant: "kalah", visibility: "public", opponent: { type: "self" } });
  const id = await game(bo, cleo, { variant: "bestemshe" });
  const ana = await Person.arrive();
  await ana.begin("Two players on this device", "Ana");
  const own = await game({ token: await ana.token() }, bo);
  await ana.open("/");
  await ana.page.getByRole("heading", { name: "Games in progress" }).waitFor();
  const links = () => ana.page.locator('[aria-labelledby="running-title"] a').evaluateAll((all) => all.map((each) => each.getAttribute("href")));
  await eventually("it is there", async () => (await links()).includes(`/games/${id}`));
  await ana.page.locator(`[aria-labelledby="running-title"] a[href="/games/${alone}"]`, { hasText: "Bo" }).waitFor();
  for (const other of [unlisted, own, over]) assert.ok(!(await links()).includes(`/games/${other}`));
  const card = ana.page.locator(`[aria-labelledby="running-title"] a[href="/games/${id}"]`);
  assert.match((await card.textContent()) ?? "", /Bo – Cleo.*Bestemshe/s);
  await card.scrollIntoViewIfNeeded();
  // Drawn here: ten pits and two stores.
  await becomes(() => card.locator("svg rect[fill='url(#hollow)']").count(), 12);
  await card.click();
  await ana.page.waitForURL(`**/games/${id}`);
  await ana.leave();
});

test("a board whose server does not answer says so, and tries again", async () => {
  const ana = await Person.arrive({ expected: /500|503|Failed to load/, serviceWorkers: "block" });
  let isFailing = true;
  await ana.context.route("**/v1/variants/kalah/play", (route) =>
    isFailing ? route.fulfill({ status: 500, json: { code: "internal", detail: "" } }) : route.fallback(),
  );
  await ana.open("/");
  await ana.page.locator('[aria-labelledby="try-title"] [role="status"]', { hasText: "The server failed." }).waitFor();
  await ana.isAccessible("a board without a server");
  isFailing = false;
  await ana.button("Try again").click();
  await ana.legal().first().waitFor();
  await ana.leave();
});

/** Keeps the scripts of the page away until they are let through. The script that comes before the first paint is no part of it. */
async function withhold(ana: Person): Promise<() => void> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await ana.context.route(/\/assets\/(?!shell-).*\.js$/, (route) => released.then(() => route.fallback()));
  return release;
}

test("the document shows the first view before the page is there, and nothing moves then", async () => {
  for (const viewport of WINDOWS) {
    const ana = await Person.arrive({ viewport, serviceWorkers: "block" });
    await ana.context.addInitScript(() => {
      const seen = globalThis as { shifts?: number };
      seen.shifts = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) seen.shifts = (seen.shifts ?? 0) + entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    const release = await withhold(ana);
    await ana.page.goto(BASE, { waitUntil: "commit" });
    await ana.page.getByRole("heading", { name: "A game of sowing and capturing" }).waitFor();
    await ana.page.getByText("Play the computer").waitFor();
    assert.equal(await ana.page.locator(css("{shell.shell} {board.hole}")).count(), 14);
    const places = () =>
      ana.page.evaluate(
        (selectors) =>
          selectors.map((selector) => {
            const { x, y, width, height } = (document.querySelector(`main ${selector}`) ?? document.body).getBoundingClientRect();
            return [x, y, width, height].map(Math.round).join();
          }),
        ["h1", "[data-ply]", css("{home.line}"), css("{starts.start}:nth-of-type(1)"), css("{starts.start}:nth-of-type(3)")],
      );
    const before = await places();
    await ana.screenshot(`home-shell-${viewport.width}`);
    release();
    await ana.legal().first().waitFor();
    assert.deepEqual(await places(), before, `at ${viewport.width} pixels`);
    await becomes(() => ana.page.locator('label:has([name="variant"])').count(), 7);
    assert.equal(await ana.page.locator(css("{shell.shell}")).count(), 0);
    const shifts = await ana.page.evaluate(() => (globalThis as { shifts?: number }).shifts ?? NaN);
    assert.ok(shifts <= 0.02, `layout shifts of ${shifts} at ${viewport.width} pixels`);
    await ana.leave();
  }
});

test("before the page is there, other addresses show the head alone, and other languages no English", async () => {
  const ana = await Person.arrive({ serviceWorkers: "block" });
  const release = await withhold(ana);
  await ana.page.goto(`${BASE}/lobby`, { waitUntil: "commit" });
  await ana.page.locator("header").getByText("Rules").waitFor();
  assert.equal(await ana.page.locator("main").isVisible(), false);
  release();
  await ana.page.getByRole("heading", { name: "Lobby", level: 1 }).waitFor();
  await ana.leave();
  const bo = await Person.arrive({ serviceWorkers: "block", locale: "de-DE" });
  const releaseBo = await withhold(bo);
  await bo.page.goto(BASE, { waitUntil: "commit" });
  await bo.page.locator(css("{shell.shell} {board.hole}")).first().waitFor();
  assert.equal(await bo.page.locator("h1").isVisible(), false);
  releaseBo();
  await bo.page.getByRole("heading", { name: "Ein Spiel vom Säen und Fangen" }).waitFor();
  await bo.leave();
});
