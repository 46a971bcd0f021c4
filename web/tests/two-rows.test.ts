// Games with two rows: a capture that may be declined, a lockstep opening, a tuzdyk, and the points of a match.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { becomes, call, closeBrowser, eventually, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

interface Game {
  id: string;
  ply: number;
  board: { south: { pits: number[]; store: number } };
  last_move: { move: string } | null;
}

/** A of South captures five seeds. */
const AT_THE_CAPTURE = "1,0,4,4,4,4/4,4,4,4,4,4 7-0 S - 0 1S";

/** The last seed of I makes three in a. */
const AT_THE_TUZDYK = "9,9,9,9,9,9,9,9,2/2,9,9,9,9,9,9,9,9 7-7 S - 0 1S";

/** Opens a game of the player with itself. */
async function openGame(ana: Person, settings: object): Promise<string> {
  await ana.begin("Two players on this device", "Ana");
  const token = await ana.page.evaluate(() => {
    const entry = Object.entries(localStorage).find(([, value]) => value.includes("access") && value.includes("refresh"));
    return /"access(?:_token|Token)":"([^"]+)"/.exec(entry?.[1] ?? "")?.[1] ?? null;
  });
  assert.ok(token !== null, "the session is kept");
  const { id } = await call<Game>("POST", "/v1/games", token, { side: "south", opponent: { type: "self" }, ...settings });
  await ana.open(`/games/${id}`);
  await ana.page.locator("[data-ply]").waitFor();
  return id;
}

const read = (id: string) => call<Game>("GET", `/v1/games/${id}`, null);

const plyOf = (person: Person) => person.page.locator("[data-ply]").getAttribute("data-ply");

const pit = (person: Person, letter: string) => person.page.locator(`[data-pit="${letter}"]`);

const focused = (person: Person, name: "pit" | "move") =>
  person.page.evaluate((key) => (document.activeElement as HTMLElement | null)?.dataset[key] ?? null, name);

const plain = (text: string | null) => (text ?? "").replace(/[\u2068\u2069]/g, "");

const labelOf = async (person: Person, letter: string) => plain(await pit(person, letter).getAttribute("aria-label"));

const told = async (person: Person) => plain(await person.page.locator(css("{game.news}")).first().textContent());

const lifted = (person: Person) => person.page.locator(css("{board.from}")).count();

test("a capture is declined by the keyboard, and Escape leaves the question", async () => {
  const ana = await Person.arrive();
  const id = await openGame(ana, { variant: "kalah", options: { capture: "optional" }, start: { position: AT_THE_CAPTURE } });
  const { keyboard } = ana.page;
  const asking = ana.page.getByRole("group", { name: "Capture from \u2068A\u2069?" });
  await pit(ana, "C").focus();
  await keyboard.press("a");
  await becomes(() => focused(ana, "pit"), "A");
  await keyboard.press("Enter");
  await asking.waitFor();
  assert.match(await labelOf(ana, "A"), /chosen/);
  await becomes(() => focused(ana, "move"), "A");
  await keyboard.press("Escape");
  await becomes(() => asking.count(), 0);
  await becomes(() => focused(ana, "pit"), "A");
  assert.equal((await read(id)).ply, 0);
  await keyboard.press("Enter");
  await asking.waitFor();
  await ana.isAccessible("a choice of capture");
  await ana.screenshot("kalah-capture");
  await keyboard.press("Tab");
  await becomes(() => focused(ana, "move"), "A~");
  await becomes(() => ana.page.locator('[data-move="A~"]').textContent(), "Leave the seeds");
  await eventually("the end is told", async () =>
    /^A without capture ends in B\.$/.test(plain(await ana.page.locator("[data-status] > span").first().textContent())),
  );
  await keyboard.press("Enter");
  await becomes(() => plyOf(ana), "1");
  await becomes(() => focused(ana, "pit"), "A", "the focus is on the board again");
  await eventually("the server has it", async () => (await read(id)).last_move?.move === "A~");
  const { board } = await read(id);
  assert.deepEqual([board.south.pits[1], board.south.store], [1, 7]);
  await eventually("it is told", async () => /sows 1 seed from A, as far as B\. .* declines the capture\./.test(await told(ana)));
  await ana.page.locator(css("{moves.moves} summary")).click();
  await becomes(async () => plain(await ana.page.locator(css("{moves.moves} li span")).textContent()), "A without capture");
  await ana.leave();
});

test("the pit of South is chosen while North chooses, and both are told", async () => {
  const ana = await Person.arrive();
  await openGame(ana, { variant: "congkak", options: { opening: "lockstep" } });
  await pit(ana, "D").click();
  await becomes(() => plyOf(ana), "1");
  await eventually("the pit is chosen", async () => (await labelOf(ana, "D")).endsWith(", 7 seeds, chosen"));
  await becomes(() => lifted(ana), 1);
  await ana.isAccessible("a lockstep opening");
  await ana.screenshot("congkak-lockstep");
  await pit(ana, "b").click();
  await becomes(() => plyOf(ana), "2");
  await eventually("both captures are told", async () =>
    (await told(ana)).startsWith("D and b are sown at once. South captures 14 seeds. North captures 6 seeds."),
  );
  assert.doesNotMatch(await labelOf(ana, "D"), /chosen/);
  assert.equal(await lifted(ana), 1, "the pit of North is marked as lifted");
  await ana.leave();
});

test("a tuzdyk is marked, and has its name in place of seeds", async () => {
  const ana = await Person.arrive();
  const id = await openGame(ana, { variant: "toguz_kumalak", start: { position: AT_THE_TUZDYK } });
  await pit(ana, "I").click();
  await becomes(() => plyOf(ana), "1");
  await eventually("the server has it", async () => (await read(id)).ply === 1);
  await eventually("the pit is named", async () => (await labelOf(ana, "a")) === "Pit a of North, tuzdyk of South");
  assert.equal(await ana.page.locator(css("{board.tuzdyk}")).count(), 1);
  assert.match(await told(ana), /a is now the tuzdyk of South\./);
  await ana.isAccessible("a tuzdyk");
  await ana.screenshot("toguz-kumalak-tuzdyk");
  await ana.leave();
});

test("the points of a match stand beside its players", async () => {
  const ana = await Person.arrive();
  const position = "7,7,7,7,7,7,7/7,7,7,7,7,7,7 0-0 S - 40 3S1-0";
  const id = await openGame(ana, { variant: "congkak", options: { rounds: "multi", match_victory: "rounds_won" }, start: { position } });
  const points = () =>
    ana.page
      .locator(css("{game.seat}"))
      .evaluateAll((seats, side) => seats.map((seat) => [...seat.querySelectorAll(side)].map(({ textContent }) => textContent)), css("{game.side}"));
  await becomes(points, [
    ["North", "0 points"],
    ["South", "1 point"],
  ]);
  await ana.open(`/review/${id}`);
  await eventually(
    "the review has them too",
    async () =>
      (await points())
        .flat()
        .filter((text) => /points?$/.test(text ?? ""))
        .join() === "0 points,1 point",
  );
  await ana.leave();
});

test("the options of Toguz Kumalak have names", async () => {
  const ana = await Person.arrive({ settings: { language: "fr" } });
  await ana.open("/new?variant=toguz_kumalak&opponent=self");
  await ana.page.locator(css("{new-game.allOptions} summary")).click();
  for (const name of ["Prendre aussi deux graines", "Pas de tuzdyk là où est l’autre"]) await ana.page.getByText(name).first().waitFor();
  await ana.leave();
});

/** What of a pit is drawn outside its hollow, upon the rim: a line of the last move, if there is one. */
function linesOf(pits: Element[], [hole = "", ring = ""]: string[]): { isDrawn: boolean; isUponRim: boolean }[] {
  return pits.map((pit) => {
    const [inner, line] = [pit.querySelector(hole), pit.querySelector(ring)];
    if (!inner || !line) throw new Error("a pit is not drawn");
    const { stroke, strokeWidth } = getComputedStyle(line);
    const reaches = Number(line.getAttribute("x")) - Number.parseFloat(strokeWidth) / 2;
    const isDrawn = stroke !== "none";
    return { isDrawn, isUponRim: isDrawn && reaches < Number(inner.getAttribute("x")) };
  });
}

test("after a move every pit that can be played keeps its bright rim", async () => {
  for (const variant of ["oware", "bestemshe"]) {
    const ana = await Person.arrive();
    await openGame(ana, { variant });
    await ana.legal().last().click();
    await becomes(() => plyOf(ana), "1");
    const lines = () => ana.page.locator(css("{board.legal}")).evaluateAll(linesOf, [css("{board.hole}"), css("{board.ring}")]);
    await eventually("the last move is drawn in a pit that can be played", async () => (await lines()).some(({ isDrawn }) => isDrawn));
    assert.equal((await lines()).filter(({ isUponRim }) => isUponRim).length, 0, `rims of ${variant} that a line lies upon`);
    await ana.screenshot(`rims-${variant}`);
    await ana.leave();
  }
});
