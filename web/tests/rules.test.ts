// The rules of every variant that the server lists, and the form for a new game with the options of each.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import type { Board, Schemas } from "@mancala-server/client";
import type { Locator } from "playwright-core";

import { shapeOf } from "../src/board/shape.ts";

import { BASE, becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

interface Variant {
  name: string;
  title: string;
  presets: { name: string; title: string; options: Record<string, unknown> }[];
  options: { name: string; type: string; default: unknown; values?: string[]; min?: number; max?: number }[];
}

const { items: variants } = await call<{ items: Variant[] }>("GET", "/v1/variants", null);

const told = async (sandbox: Locator) => (await sandbox.getByRole("status").textContent()) ?? "";

const ways = (sandbox: Locator) => sandbox.locator("[data-choice] [data-move]");

const DEVICES = {
  light: { colorScheme: "light" as const },
  dark: { colorScheme: "dark" as const },
  narrow: { viewport: { width: 320, height: 640 } },
  "rtl-narrow": { settings: { language: "ar-XB" }, viewport: { width: 320, height: 640 }, colorScheme: "dark" as const },
};

for (const [name, device] of Object.entries(DEVICES)) {
  test(`rules, explorer and form of every variant are readable: ${name}`, async () => {
    const ana = await Person.arrive({ reducedMotion: "reduce", ...device });
    await ana.open("/rules");
    await eventually("all variants are listed", async () => (await ana.page.locator(css("{rules.variants} li")).count()) === variants.length);
    await ana.isAccessible(`/rules (${name})`);
    // Every variant in both colours; one is enough for what is narrow or from right to left.
    for (const { name: variant } of name.includes("narrow") ? variants.slice(-1) : variants) {
      for (const path of [`/rules/${variant}`, `/explore/${variant}`, `/new?variant=${variant}`]) {
        await ana.open(path);
        await ana.page.locator("[data-pit]").first().waitFor();
        if (path.startsWith("/new")) await openOptions(ana);
        await eventually("it is loaded", async () => (await ana.page.locator(css("{ui.quiet}"), { hasText: /Loading|Lø/ }).count()) === 0);
        await ana.fits(path);
        await ana.isAccessible(`${path} (${name})`);
        await ana.screenshot(`${path.split("/")[1]?.split("?")[0]}-${variant}-${name}`, true);
      }
    }
    await ana.leave();
  });
}

test("a phone shows the board of every variant in the list of rules", async () => {
  const ana = await Person.arrive({ viewport: { width: 320, height: 640 } });
  await ana.open("/rules");
  const pictures = ana.page.locator(css("{rules.variants} img"));
  await becomes(() => pictures.count(), variants.length);
  for (const picture of await pictures.all()) {
    await eventually("the picture is shown", async () => {
      await picture.evaluate((image) => image.scrollIntoView());
      return (await picture.isVisible()) && (await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)) > 0;
    });
  }
  await ana.fits("the list of rules");
  await ana.isAccessible("the list of rules on a phone");
  await ana.leave();
});

test("the rules of every variant have their text, their board and a board to try", async () => {
  const ana = await Person.arrive();
  await ana.open("/rules");
  for (const { name, title, presets } of variants) {
    await ana.page.getByRole("link", { name: title, exact: true }).first().click();
    await ana.page.getByRole("heading", { name: new RegExp(`^Rules of .?${title}`) }).waitFor();
    const { rules } = await call<{ rules: string }>("GET", `/v1/variants/${name}`, null);
    const headings = rules.split("\n").filter((line) => line.startsWith("## ")).length;
    await eventually("every section is shown", async () => (await ana.page.locator("article h2").count()) === headings);
    await becomes(() => ana.page.locator("article figure svg").count(), 1, "the board is drawn in the text");
    assert.equal(await ana.page.locator("article").getByText("```").count(), 0);
    const sandbox = ana.page.locator('[aria-labelledby="sandbox-title"]');
    await sandbox.locator('[aria-disabled="false"][data-pit]').first().click();
    await eventually("the move is told, or its direction asked for", async () => (await told(sandbox)) !== "" || (await ways(sandbox).count()) > 0);
    if ((await told(sandbox)) === "") await ways(sandbox).first().click();
    await eventually("the move is told", async () => /^South (sows|puts)/.test((await told(sandbox)).replace(/[\u2068\u2069]/g, "")));
    await sandbox.getByRole("button", { name: "Take back" }).click();
    await eventually(
      "the opening is there again",
      async () => (await sandbox.getByRole("button", { name: "Take back" }).getAttribute("aria-disabled")) === "true",
    );
    const last = presets.at(-1);
    await sandbox.getByLabel("Rule set").selectOption(last?.name ?? "");
    await sandbox.locator("[data-ply]").waitFor();
    await ana.page.goBack();
  }
  await ana.leave();
});

/** Opens all options of the form. What loads above them may move the summary away under a click. */
async function openOptions({ page }: Person): Promise<void> {
  const options = page.locator(css("{new-game.allOptions}"));
  const areOpen = () => options.evaluate((details) => (details as HTMLDetailsElement).open);
  await eventually("all options are open", async () => {
    if (!(await areOpen())) await options.locator("summary").click();
    return areOpen();
  });
}

test("rules and openings of a game that there is none of say so", async () => {
  const ana = await Person.arrive({ expected: /404/ });
  for (const path of ["/rules/chess", "/explore/chess"]) {
    await ana.open(path);
    await ana.page.getByRole("heading", { name: "No such game" }).waitFor();
    await ana.isAccessible(path);
    await ana.page.locator("main").getByRole("link", { name: "Rules" }).click();
    await ana.page.locator(css("{rules.variants} li")).first().waitFor();
  }
  await ana.leave();
});

test("the form has every option of every preset of every variant, and the game gets what is chosen", async () => {
  const ana = await Person.arrive();
  await ana.begin("Two players on this device", "Ana");
  for (const { name, presets, options } of variants) {
    await ana.open(`/new?variant=${name}`);
    await openOptions(ana);
    for (const preset of presets) {
      await ana.page.getByLabel(preset.title, { exact: true }).check();
      await becomes(() => ana.page.locator("[id^=new-options-]:is(input, select)").count(), options.length, `${name} ${preset.name}`);
    }
    // One option of each kind is changed. Of games with reserves, the first choices close other options.
    await ana.open(`/new?variant=${name}&opponent=self`);
    await openOptions(ana);
    const hasSeeds = options.some((option) => option.name === "seeds");
    const [whole, number] = hasSeeds ? ["seeds", 3] : ["circuits", 9];
    const wanted: Record<string, unknown> = { [whole]: number };
    await ana.page.locator(`#new-options-${whole}`).fill(String(number));
    const flag = options.find(({ type, name: option }) => type === "boolean" && option !== "take_own_seed");
    if (flag) {
      await ana.page.locator(`#new-options-${flag.name}`).setChecked(flag.default !== true);
      wanted[flag.name] = flag.default !== true;
    }
    const choices = options.filter(({ type }) => type === "choice");
    const choice = choices.at(hasSeeds ? 0 : -1);
    const value = choice?.values?.find((each) => each !== choice.default);
    if (choice && value !== undefined) {
      await ana.page.locator(`#new-options-${choice.name}`).selectOption(value);
      wanted[choice.name] = value;
    }
    await ana.button("Start the game").click();
    await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
    const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
    const game = await call<{ options: Record<string, unknown>; variant: string }>("GET", `/v1/games/${id}`, null);
    assert.equal(game.variant, name);
    for (const [option, expected] of Object.entries(wanted)) assert.equal(game.options[option], expected, `${name} ${option}`);
  }
  await ana.leave();
});

test("options that contradict each other are told at both fields, and nothing is sent", async () => {
  const ana = await Person.arrive();
  await ana.open("/new?variant=kalah&opponent=self");
  await openOptions(ana);
  await ana.page.locator("#new-options-remaining").selectOption("discard");
  await ana.page.locator("#new-options-majority_remaining").selectOption("sweep");
  const [one, other] = [ana.page.locator("#new-options-remaining"), ana.page.locator("#new-options-majority_remaining")];
  for (const field of [one, other]) {
    await becomes(() => field.getAttribute("aria-invalid"), "true");
    const error = await ana.page.locator(`#${(await field.getAttribute("aria-describedby"))?.split(" ").at(-1)}`).textContent();
    assert.match(error?.replace(/[\u2068\u2069]/g, "") ?? "", /“Seeds left at a majority: to the owner of the row” needs “Seeds left at the end: /);
  }
  await ana.isAccessible("a contradiction");
  await ana.screenshot("new-contradiction", true);
  await ana.button("Start the game").click();
  assert.match(ana.page.url(), /\/new/);
  await becomes(() => ana.page.evaluate(() => document.activeElement?.id), "new-options-remaining");
  await one.selectOption("side_owner");
  await becomes(() => other.getAttribute("aria-invalid"), "false");
  await ana.button("Start the game").click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  await ana.leave();
});

test("an option that goes only with another one is closed until then, and says why", async () => {
  const ana = await Person.arrive();
  await ana.open("/new?variant=congkak&opponent=self");
  await openOptions(ana);
  const most = ana.page.locator("#new-options-max_rounds");
  await becomes(() => most.isDisabled(), true);
  await eventually("it is told", async () => /needs/.test((await ana.page.locator("#new-options-max_rounds-hint").textContent()) ?? ""));
  await ana.page.locator("#new-options-rounds").selectOption("multi");
  await becomes(() => most.isEnabled(), true);
  await most.fill("3");
  await ana.page.locator("#new-options-take_own_seed").uncheck();
  await becomes(() => ana.page.locator("#new-options-empty_capture").getAttribute("aria-invalid"), "true");
  await ana.page.locator("#new-options-empty_capture").uncheck();
  await most.fill("1.5");
  await ana.page.getByText("A whole number from 1 to 100.").waitFor();
  await most.fill("3");
  await ana.button("Start the game").click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
  const { options } = await call<{ options: Record<string, unknown> }>("GET", `/v1/games/${id}`, null);
  assert.deepEqual([options["max_rounds"], options["take_own_seed"], options["empty_capture"]], [3, false, false]);
  await ana.leave();
});

test("what the server refuses is told at its field", async () => {
  const ana = await Person.arrive({ expected: /422|404/ });
  await ana.open("/new?variant=oware&opponent=player");
  await ana.page.getByLabel("Name of the player").fill("0199a000-0000-7000-8000-000000000000");
  await ana.page.getByText("There is no such player.").waitFor();
  await ana.page.getByLabel("Per turn", { exact: true }).check();
  await ana.page.getByLabel("Time per turn", { exact: true }).fill("99");
  await ana.button("Start the game").click();
  await ana.page.getByText("The server has refused").waitFor();
  await becomes(() => ana.page.locator("#new-clock-move_s").getAttribute("aria-invalid"), "true");
  await ana.isAccessible("a refused form");
  await ana.screenshot("new-refused", true);
  await ana.page.getByLabel("Time per turn", { exact: true }).fill("3");
  const bo = await guest("<i>Bo</i>");
  await ana.page.getByLabel("Name of the player").fill(` ${bo.id} `);
  await ana.page.locator("#new-opponent-player_id-hint bdi", { hasText: "<i>Bo</i>" }).waitFor();
  await ana.button("Start the game").click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
  const game = await call<{ clock: { move_s: number }; opponent: { type: string } }>("GET", `/v1/games/${id}`, bo.token);
  assert.deepEqual([game.clock.move_s, game.opponent.type], [3 * 86_400, "player"]);
  await ana.leave();
});

test("a game that would be over before its first move is told before it is sent", async () => {
  const ana = await Person.arrive({ expected: /422/ });
  await ana.open("/new?variant=oware&preset=wari&opponent=self");
  await openOptions(ana);
  await ana.page.locator("#new-options-pits").fill("1");
  await ana.page.locator("#new-options-seeds").fill("1");
  await ana.page.getByText("the game is over before its first move").waitFor();
  await ana.button("Start the game").click();
  await ana.page.getByRole("alert").getByText("over before its first move").waitFor();
  await ana.leave();
});

test("each kind of opponent begins its kind of game", async () => {
  const ana = await Person.arrive();
  const expected = { computer: "computer", open: "open", link: "link", self: "self" };
  for (const [opponent, type] of Object.entries(expected)) {
    await ana.open(`/new?variant=kalah&opponent=${opponent}`);
    await ana.button(opponent === "open" ? "Find an opponent" : "Start the game").click();
    await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
    const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
    const game = await call<{ opponent: { type: string } }>("GET", `/v1/games/${id}`, null);
    assert.equal(game.opponent.type, type);
  }
  await ana.leave();
});

/** The places of a line by where they lie on it: those at one point are one group. */
function grouped(places: Map<string, number>): string[] {
  const points = [...new Set(places.values())].sort((a, b) => a - b);
  return points.map((point) =>
    [...places.keys()]
      .filter((place) => places.get(place) === point)
      .sort()
      .join(""),
  );
}

test("a picture of the server has its pits where the board of the page has them", async () => {
  for (const { name } of variants) {
    const { rows_per_side, first_pit } = await call<Schemas["Variant"]>("GET", `/v1/variants/${name}`, null);
    const { board } = await call<{ board: Board }>("POST", `/v1/variants/${name}/play`, null, { moves: [] });
    const svg = await (await fetch(`${BASE}/v1/variants/${name}/board.svg`)).text();
    const hole = /data-place="(\w+)"[^>]*><rect class="hole" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/g;
    const drawn = [...svg.matchAll(hole)].map(([, place = "", ...box]) => [place, box.map(Number)] as const);
    const { spots } = shapeOf(board, "south", false, { rows: rows_per_side, first: first_pit === "right" ? "right" : "left" });
    assert.deepEqual(drawn.map(([place]) => place).sort(), [...spots.keys()].sort(), name);
    const pits = drawn.filter(([place]) => place.length === 1);
    const inPicture = (at: 0 | 1) => grouped(new Map(pits.map(([place, box]) => [place, (box[at] ?? 0) + (box[at + 2] ?? 0) / 2])));
    const onPage = (at: "x" | "y") => grouped(new Map([...spots.values()].filter(({ kind }) => kind === "pit").map((spot) => [spot.place, spot[at]])));
    assert.deepEqual([inPicture(0), inPicture(1)], [onPage("x"), onPage("y")], name);
  }
});
