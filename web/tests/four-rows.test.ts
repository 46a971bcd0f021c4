// Games with four rows: a pit and its direction, choices inside a turn, arranging, and the board on every screen.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { becomes, call, closeBrowser, eventually, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

interface Game {
  id: string;
  status: string;
  ply: number;
  turn: string | null;
  legal_moves: string[];
  board: { south: { pits: number[]; reserve: number }; north: { pits: number[]; reserve: number }; pending?: { pit: string; seeds: number } };
}

/** A lap of South ends in its working house, so that South chooses. */
const AT_THE_HOUSE = "1,0,0,0,6n,0,0,0,0,0,0,15,0,0,0,0/1,0,0,0,0,0,0,5,0,0,0,16,0,0,0,0 10-10 S - 0 1S";

/** After H downward the catch may be sown either way. */
const AT_THE_CATCH = "0,0,0,0,1,0,0,3,0,0,0,0,20,0,0,0/2,0,1,1,0,0,0,0,0,0,33,0,1,2,0,0 0-0 S - 0 1S";

/** After G downward exactly one pit of North is threatened. */
const AT_TAKASIA = "0,2,0,0,0,0,2,0,4,6,2,0,2,2,0,0/1,0,1,2,10,0,0,10,0,1,2,1,4,8,2,2 0-0 S - 60 1S";

/** Opens a game of the player with itself. */
async function openGame(ana: Person, settings: object): Promise<Game> {
  await ana.begin("Two players on this device", "Ana");
  const token = await ana.page.evaluate(() => {
    const entry = Object.entries(localStorage).find(([, value]) => value.includes("access") && value.includes("refresh"));
    return /"access(?:_token|Token)":"([^"]+)"/.exec(entry?.[1] ?? "")?.[1] ?? null;
  });
  assert.ok(token !== null, "the session is kept");
  const game = await call<Game>("POST", "/v1/games", token, { side: "south", opponent: { type: "self" }, ...settings });
  await ana.open(`/games/${game.id}`);
  await ana.page.locator("[data-ply]").waitFor();
  return game;
}

const read = (id: string) => call<Game>("GET", `/v1/games/${id}`, null);

const plyOf = (person: Person) => person.page.locator("[data-ply]").getAttribute("data-ply");

const pit = (person: Person, letter: string) => person.page.locator(`[data-pit="${letter}"]`);

const move = (person: Person, word: string) => person.page.locator(`[data-move="${word}"]`);

const focused = (person: Person, name: "pit" | "move") =>
  person.page.evaluate((key) => (document.activeElement as HTMLElement | null)?.dataset[key] ?? null, name);

const labelOf = async (person: Person, letter: string) => (await pit(person, letter).getAttribute("aria-label"))?.replace(/[\u2068\u2069]/g, "") ?? "";

/** Where each pit is drawn: its place from the left, row by row from the top. */
async function drawn(person: Person): Promise<string[]> {
  const boxes = await person.page.locator("[data-pit]").evaluateAll((buttons) =>
    buttons.map((button) => ({
      name: (button as HTMLElement).dataset["pit"] ?? "",
      x: button.getBoundingClientRect().x,
      y: Math.round(button.getBoundingClientRect().y),
    })),
  );
  const heights = [...new Set(boxes.map(({ y }) => y))].sort((a, b) => a - b);
  return heights.map((height) =>
    boxes
      .filter(({ y }) => y === height)
      .sort((a, b) => a.x - b.x)
      .map(({ name }) => name)
      .join(""),
  );
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function focusBoard(person: Person): Promise<void> {
  await person.page.locator("h1").focus();
  for (let n = 0; n < 30 && (await focused(person, "pit")) === null; n += 1) await person.page.keyboard.press("Tab");
  assert.notEqual(await focused(person, "pit"), null, "the keyboard has come to the board");
}

/** Plays a move by keys: the letter of a pit, and where it has several moves, one of them. Says whether there were several. */
async function playByKeys(person: Person, choose: () => number): Promise<boolean> {
  const { keyboard } = person.page;
  const before = await plyOf(person);
  let pits: string[] = [];
  // While a move is on its way, no pit can be played for a moment.
  await eventually("a pit can be played", async () => {
    pits = await person.legal().evaluateAll((buttons) => buttons.map((button) => (button as HTMLElement).dataset["pit"] ?? ""));
    return pits.length > 0;
  });
  const wanted = pits[Math.floor(choose() * pits.length)] ?? "";
  await keyboard.press(wanted.toLowerCase());
  await becomes(() => focused(person, "pit"), wanted);
  await keyboard.press("Enter");
  await eventually("the pit is played or asks", async () => (await plyOf(person)) !== before || (await focused(person, "move")) !== null);
  if ((await plyOf(person)) !== before) return false;
  if (choose() < 0.5) await keyboard.press("Tab");
  assert.notEqual(await focused(person, "move"), null, "a key leads to the second way");
  await keyboard.press("Enter");
  await eventually("the move is shown", async () => (await plyOf(person)) !== before);
  await becomes(() => focused(person, "pit"), wanted, "the focus is on the board again");
  return true;
}

test("a whole game of Bao is played by the keyboard alone", async () => {
  const ana = await Person.arrive();
  const { id } = await openGame(ana, { variant: "bao" });
  assert.deepEqual(await drawn(ana), ["ijklmnop", "hgfedcba", "ABCDEFGH", "PONMLKJI"]);
  assert.match(await labelOf(ana, "E"), /6 seeds, house/);
  await ana.page.getByRole("img", { name: "Reserve of \u2068South\u2069" }).waitFor();
  await ana.screenshot("bao-opening", true);
  await focusBoard(ana);
  const choose = random(4);
  let [moves, ways] = [0, 0];
  while ((await ana.status()) === "active" && moves < 400) {
    await eventually("a pit can be played", async () => (await ana.legal().count()) > 0 || (await ana.status()) !== "active");
    if ((await ana.status()) !== "active") break;
    if (await playByKeys(ana, choose)) ways += 1;
    moves += 1;
    if (moves % 10 !== 0) continue;
    const { board } = await read(id);
    const seeds = [board.south, board.north].reduce((sum, { pits, reserve }) => sum + reserve + pits.reduce((all, each) => all + each, 0), 0);
    assert.equal(seeds + (board.pending?.seeds ?? 0), 64);
  }
  await becomes(() => ana.status(), "finished");
  assert.ok(moves > 10 && ways > 5, `${moves} moves, ${ways} of them with a direction to choose`);
  await eventually("the end is told", async () => /The game is over/.test((await ana.page.locator(css("{game.news}")).first().textContent()) ?? ""));
  assert.match((await ana.page.locator("[data-status]").textContent()) ?? "", / won: /, "seeds decide nothing, so they are not told");
  await ana.leave();
});

test("a direction that is asked for is left by Escape, and previewed before it is taken", async () => {
  const ana = await Person.arrive();
  const { id } = await openGame(ana, { variant: "bao" });
  const asking = ana.page.getByRole("group", { name: "Which way from \u2068F\u2069?" });
  await pit(ana, "F").click();
  await asking.waitFor();
  assert.match(await labelOf(ana, "F"), /chosen/);
  await ana.isAccessible("a direction that is asked for");
  await ana.screenshot("bao-direction");
  await ana.page.keyboard.press("Escape");
  await becomes(() => asking.count(), 0);
  await becomes(() => focused(ana, "pit"), "F");
  await pit(ana, "F").click();
  // The panel takes the focus when it opens, and would take it back.
  await becomes(() => ana.page.evaluate(() => Boolean(document.activeElement?.closest("[data-choice]"))), true);
  await move(ana, "FV").focus();
  await eventually("the end of the sowing is told", async () => /⁨FV⁩ ends in/.test((await ana.page.locator("[data-status]").textContent()) ?? ""));
  assert.match((await move(ana, "FV").textContent()) ?? "", /← towards \u2068E\u2069/);
  assert.match((await move(ana, "FU").textContent()) ?? "", /→ towards \u2068G\u2069/);
  await move(ana, "FV").click();
  await becomes(() => plyOf(ana), "1");
  await eventually("the server has it", async () => (await read(id)).ply === 1);
  await ana.leave();
});

for (const [stop, pits] of Object.entries({ pass: "keeps", EU: "loses" })) {
  test(`at the house a turn of Bao goes on or stops: ${stop}`, async () => {
    const ana = await Person.arrive();
    const { id } = await openGame(ana, { variant: "bao", start: { position: AT_THE_HOUSE } });
    await pit(ana, "A").click();
    await move(ana, "AU").or(ana.page.locator('[data-ply="1"]')).first().waitFor();
    if ((await move(ana, "AU").count()) > 0) await move(ana, "AU").click();
    await ana.page.getByRole("group", { name: /The sowing has come to .?E/ }).waitFor();
    await becomes(() => move(ana, "pass").textContent(), "Stop here");
    await ana.isAccessible("a choice at the house");
    await ana.screenshot("bao-house");
    await focusBoard(ana);
    for (let n = 0; n < 4 && (await focused(ana, "move")) !== stop; n += 1) await ana.page.keyboard.press("Tab");
    await becomes(() => focused(ana, "move"), stop, "the keyboard has come to the choice");
    await ana.page.keyboard.press("Enter");
    await eventually("the turn is North's", async () => (await read(id)).turn !== "south");
    await eventually(`South ${pits} the house`, async () => /house/.test(await labelOf(ana, "E")) === (pits === "keeps"));
    await ana.leave();
  });
}

test("a pit that takasia blocks is marked, and cannot be played", async () => {
  const ana = await Person.arrive();
  const { id } = await openGame(ana, { variant: "bao", start: { position: AT_TAKASIA } });
  await pit(ana, "G").click();
  await move(ana, "GV").click();
  const blocked = async () => {
    const { board } = (await read(id)) as unknown as { board: { north: { blocked: string | null } } };
    return board.north.blocked;
  };
  await eventually("a pit is blocked", async () => (await blocked()) !== null);
  const letter = (await blocked()) ?? "";
  await eventually("it is marked", async () => /blocked/.test(await labelOf(ana, letter)));
  assert.equal(await pit(ana, letter).getAttribute("aria-disabled"), "true");
  assert.equal(await ana.page.locator(css("{board.bar}")).count(), 1);
  assert.match((await ana.page.locator(css("{game.news}")).first().textContent()) ?? "", /is blocked for the next turn/);
  await ana.screenshot("bao-blocked");
  await ana.leave();
});

test("a hint names a move with its direction, at the pit and among its ways", async () => {
  const ana = await Person.arrive();
  await openGame(ana, { variant: "bao", practice: true, opponent: { type: "computer", level: 1 } });
  await ana.button("Hint").click();
  const line = async () => (await ana.page.locator(css("{game.hint}")).textContent())?.replace(/[\u2068\u2069]/g, "") ?? "";
  await eventually("the hint has come", async () => /^[FG][UV] is best\.$/.test(await line()));
  const best = (await line()).slice(0, 2);
  assert.match(await labelOf(ana, best[0] ?? ""), /best by the hint/);
  await pit(ana, best[0] ?? "").click();
  assert.match((await move(ana, best).textContent()) ?? "", /★/);
  await move(ana, best).click();
  // The computer may have answered already.
  await eventually("the move is shown", async () => (await plyOf(ana)) !== "0");
  await ana.leave();
});

test("two people play Omweso to the end", async () => {
  const [ana, bo] = [await Person.arrive(), await Person.arrive()];
  await ana.open("/new?variant=omweso&opponent=link");
  await ana.button("Start the game").click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  await bo.page.goto(await ana.page.getByRole("textbox", { name: "Invitation link" }).inputValue());
  await bo.button("Join").click();
  await eventually("the game begins", async () => (await ana.status()) === "active" && (await bo.status()) === "active");
  const isSouth = (await ana.legal().count()) > 0;
  const [south, north] = isSouth ? [ana, bo] : [bo, ana];
  assert.deepEqual(await drawn(south), ["ponmlkji", "abcdefgh", "HGFEDCBA", "IJKLMNOP"]);
  assert.deepEqual(await drawn(north), ["PONMLKJI", "ABCDEFGH", "hgfedcba", "ijklmnop"]);
  const choose = random(2);
  let moves = 0;
  while (moves < 400 && (await ana.status()) !== "finished" && (await bo.status()) !== "finished") {
    for (const person of [ana, bo]) {
      if ((await person.legal().count()) === 0) continue;
      await focusBoard(person);
      await playByKeys(person, choose);
      moves += 1;
    }
  }
  assert.ok(moves > 5, `${moves} moves`);
  await eventually("both see the end", async () => (await ana.status()) === "finished" && (await bo.status()) === "finished");
  assert.match(
    `${await ana.page.locator("[data-status]").textContent()} ${await bo.page.locator("[data-status]").textContent()}`,
    /You (won|lost): .*You (won|lost): |Draw: /s,
  );
  await ana.leave();
  await bo.leave();
});

test("in Omweso a catch stays in the hand until its direction is chosen", async () => {
  const ana = await Person.arrive();
  const { id } = await openGame(ana, { variant: "omweso", start: { position: AT_THE_CATCH } });
  await pit(ana, "H").click();
  await move(ana, "HV").click();
  await eventually("seeds are in the hand", async () => ((await read(id)).board.pending?.seeds ?? 0) > 0);
  const { board, legal_moves: legal } = await read(id);
  const seeds = board.pending?.seeds ?? 0;
  const name = new RegExp(`^\u2068?${seeds}\u2069? seeds are in your hand`);
  await ana.page.getByRole("group", { name }).waitFor();
  await becomes(() => ana.page.locator("[data-choice] [data-move]").evaluateAll((all) => all.map((each) => (each as HTMLElement).dataset["move"])), legal);
  await becomes(() => ana.page.locator(css("{board.held}")).count(), seeds, "they are drawn above the pit");
  await becomes(() => ana.page.locator(css("{board.inHand} text")).textContent(), String(seeds));
  assert.match(await labelOf(ana, board.pending?.pit ?? ""), new RegExp(`${seeds} seeds in the hand`));
  // A page that is opened now shows the same.
  await ana.page.reload();
  await ana.page.getByRole("group", { name }).waitFor();
  await becomes(() => ana.page.locator(css("{board.held}")).count(), seeds);
  await ana.isAccessible("a catch in the hand");
  await ana.screenshot("omweso-hand");
  await move(ana, "HV").click();
  await eventually("the turn goes on", async () => (await read(id)).ply === 2);
  await becomes(() => plyOf(ana), "2");
  await ana.leave();
});

test("seeds are arranged pit after pit by the keyboard", async () => {
  const ana = await Person.arrive();
  const { id } = await openGame(ana, { variant: "omweso", options: { setup: "arrange" } });
  const field = (letter: string) => ana.page.getByRole("spinbutton", { name: `Seeds for \u2068${letter}\u2069` });
  await field("A").focus();
  await ana.page.keyboard.press("Control+A");
  await ana.page.keyboard.type("33");
  await ana.page.keyboard.press("Enter");
  await becomes(() => field("A").getAttribute("aria-invalid"), "true");
  await ana.isAccessible("a number that cannot be");
  for (const [letter, seeds] of [
    ["A", "4"],
    ["B", "0"],
    ["C", "28"],
    ["a", "31"],
    ["b", "1"],
  ] as const) {
    await field(letter).waitFor();
    // Only the first field has to be gone to: after a number the next one has the focus.
    await becomes(() => field(letter).evaluate((each) => each === document.activeElement), true, letter);
    await ana.page.keyboard.press("Control+A");
    await ana.page.keyboard.type(seeds);
    await ana.page.keyboard.press("Enter");
    if (letter !== "B") continue;
    await eventually("it is told", async () => /puts .?0.? seeds down in/.test((await ana.page.locator(css("{game.news}")).first().textContent()) ?? ""));
    await field("C").waitFor();
    await ana.screenshot("omweso-arranging");
  }
  await eventually("both sides are arranged", async () => (await read(id)).ply === 5);
  const { board } = await read(id);
  assert.deepEqual([board.south.pits.slice(0, 4), board.south.reserve], [[4, 0, 28, 0], 0]);
  assert.deepEqual([board.north.pits.slice(0, 4), board.north.reserve], [[31, 1, 0, 0], 0]);
  await eventually("the board shows it", async () => /, 28 seeds/.test(await labelOf(ana, "C")) && /, 31 seeds/.test(await labelOf(ana, "a")));
  await ana.leave();
});

for (const variant of ["bao", "omweso"]) {
  test(`a game of ${variant} fits 320 pixels in the dark, and is played by touch`, async () => {
    const ana = await Person.arrive({ viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true, colorScheme: "dark" });
    const start = variant === "bao" ? AT_TAKASIA : AT_THE_CATCH;
    await openGame(ana, { variant, start: { position: start } });
    await ana.fits("a game");
    await ana.isAccessible(`a game of ${variant} at 320 pixels`);
    const size = await ana.legal().first().boundingBox();
    assert.ok(size && size.width >= 44 && size.height >= 44, `a pit is ${size?.width} × ${size?.height} px`);
    const rows = await drawn(ana);
    assert.deepEqual([rows.length, rows[0]], [8, variant === "bao" ? "PAhi" : "IHap"]);
    const [letter, word] = variant === "bao" ? ["G", "GV"] : ["H", "HV"];
    await pit(ana, letter).tap();
    const button = await move(ana, word).boundingBox();
    assert.ok(button && button.height >= 44, `a direction is ${button?.height} px high`);
    await ana.isAccessible(`a direction of ${variant} at 320 pixels`);
    await ana.screenshot(`${variant}-320-dark-direction`, true);
    await move(ana, word).tap();
    await becomes(() => plyOf(ana), "1");
    await ana.fits("a game after a move");
    await ana.isAccessible(`${variant} after a move at 320 pixels`);
    await ana.screenshot(`${variant}-320-dark`, true);
    await ana.leave();
  });
}

for (const device of [{ settings: { language: "ar-XB" }, viewport: { width: 320, height: 640 } }, { viewport: { width: 568, height: 320 } }]) {
  test(`a board with four rows fits ${device.viewport.width} × ${device.viewport.height}`, async () => {
    const ana = await Person.arrive(device);
    for (const variant of ["bao", "omweso"]) {
      await ana.open(`/rules/${variant}`);
      const sandbox = ana.page.locator('[aria-labelledby="sandbox-title"]');
      await sandbox.locator('[aria-disabled="false"][data-pit]').first().click();
      await ana.page.locator("article figure svg").waitFor();
      await ana.fits(`/rules/${variant}`);
      await ana.isAccessible(`/rules/${variant}`);
      await ana.screenshot(`rules-${variant}-${device.viewport.width}`, true);
    }
    await ana.leave();
  });
}

test("seeds of a long turn move frame by frame, and the page ends with the server's board", async () => {
  const ana = await Person.arrive({ settings: { speed: "fast" } });
  const { id } = await openGame(ana, { variant: "omweso" });
  await pit(ana, "I").click();
  await ana.seesMoving();
  await becomes(() => plyOf(ana), "1");
  // The move is shown once more, and skipped.
  await ana.button("Replay the last move").click();
  await ana.button("Skip to the end").click();
  await ana.button("Replay the last move").waitFor();
  const { board } = await read(id);
  for (const [n, seeds] of board.south.pits.entries()) {
    const letter = String.fromCharCode(65 + n);
    assert.match(await labelOf(ana, letter), new RegExp(`, ${seeds} seeds?`), letter);
  }
  await ana.leave();
});
