// The review of a game: plies, analysis, variations, notes, and going on from a ply.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { BASE, becomes, call, closeBrowser, eventually, guest, Person, WAIT_MS } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

interface Game {
  id: string;
  status: string;
  ply: number;
  legal_moves: string[];
}

interface Created {
  id: string;
  join_code: string;
}

type Side = "south" | "north";

/** A game between two players. */
interface Ended extends Game {
  turn: Side;
  result: { winner: Side | null; score: Record<Side, number> } | null;
}

/** A device on which a guest is signed in, and a game of the guest with itself. */
async function arrive(settings: object = {}, device: Parameters<typeof Person.arrive>[0] = {}, pliesMax = 400) {
  const ana = await Person.arrive(device);
  await ana.begin("Two players on this device", "Ana");
  const token = await ana.token();
  const game = await played(token, settings, pliesMax);
  return { ana, token, game };
}

/** A game of a player with itself, played to its end, or as far as this ply. */
async function played(token: string, settings: object, pliesMax = 400): Promise<Game> {
  const wish = { variant: "kalah", side: "south", opponent: { type: "self" }, ...settings };
  let game = await call<Game>("POST", "/v1/games", token, wish);
  for (let n = 0; game.status === "active" && game.ply < pliesMax; n += 1) {
    const move = game.legal_moves[(n * 7 + 3) % game.legal_moves.length];
    ({ game } = await call<{ game: Game }>("POST", `/v1/games/${game.id}/moves`, token, { ply: game.ply + 1, move }));
  }
  return game;
}

const shownPly = async (ana: Person) => Number(await ana.page.getByRole("slider").getAttribute("aria-valuenow"));

test("a game is stepped through by buttons, keys, the list and the graph", async () => {
  const { ana, game } = await arrive();
  await ana.open(`/review/${game.id}`);
  await eventually("the end is shown", async () => (await shownPly(ana)) === game.ply);
  await ana.button("To the first position").click();
  await becomes(() => shownPly(ana), 0);
  await ana.button("Next move").click();
  await ana.button("Next move").click();
  await becomes(() => shownPly(ana), 2);
  await eventually("the address names the ply", async () => ana.page.url().endsWith("#ply=2"));
  await ana.page.locator("h1").click();
  await ana.page.keyboard.press("ArrowLeft");
  await becomes(() => shownPly(ana), 1);
  await ana.page.keyboard.press("End");
  await becomes(() => shownPly(ana), game.ply);
  await ana.page.keyboard.press("Home");
  await becomes(() => shownPly(ana), 0);
  const list = ana.page.getByRole("listbox", { name: "Moves" });
  await becomes(() => list.getByRole("option").count(), game.ply + 1);
  await list.focus();
  await ana.page.keyboard.press("ArrowDown");
  await ana.page.keyboard.press("ArrowDown");
  await ana.page.keyboard.press("ArrowDown");
  await becomes(() => shownPly(ana), 3);
  await eventually(
    "the list names its option",
    async () => (await list.getAttribute("aria-activedescendant")) === (await list.getByRole("option", { selected: true }).getAttribute("id")),
  );
  await list.getByRole("option").nth(5).click();
  await becomes(() => shownPly(ana), 5);
  const graph = ana.page.getByRole("slider");
  const box = await graph.boundingBox();
  assert.ok(box);
  await ana.page.mouse.click(box.x + box.width - 3, box.y + box.height / 2);
  await becomes(() => shownPly(ana), game.ply);
  await graph.focus();
  await ana.page.keyboard.press("ArrowLeft");
  await becomes(() => shownPly(ana), game.ply - 1);
  await ana.page.goto(`${BASE}/review/${game.id}#ply=4`);
  await ana.page.reload();
  await eventually("the ply of the address is shown", async () => (await shownPly(ana)) === 4);
  await ana.leave();
});

/** A game between two players that North has won. */
async function wonByNorth(tokens: Record<Side, string>): Promise<Ended> {
  for (let step = 1; step < 60; step += 1) {
    const { id, join_code } = await call<Created>("POST", "/v1/games", tokens.south, { variant: "kalah", side: "south", opponent: { type: "link" } });
    let game = await call<Ended>("POST", `/v1/games/${id}/join`, tokens.north, { join_code });
    for (let n = 0; game.status === "active"; n += 1) {
      const move = game.legal_moves[(n * step) % game.legal_moves.length];
      ({ game } = await call<{ game: Ended }>("POST", `/v1/games/${id}/moves`, tokens[game.turn], { ply: game.ply + 1, move }));
    }
    if (game.result?.winner === "north") return game;
  }
  assert.fail("North never wins");
}

test("a result is told with the own seeds first to a player, and with the winner's to a watcher", async () => {
  const { ana, token } = await arrive();
  const bo = await guest("Bo");
  const game = await wonByNorth({ south: token, north: bo.token });
  const { south, north } = game.result?.score ?? assert.fail("no result");
  const cleo = await Person.arrive();
  for (const path of [`/games/${game.id}`, `/review/${game.id}`]) {
    for (const [person, words] of [
      [ana, `You lost ${south}–\u2060${north}: `],
      [cleo, `Bo (North) won ${north}–\u2060${south}: `],
    ] as const) {
      await person.open(path);
      const told = async () => (await person.page.locator("main").textContent())?.replace(/[\u2068\u2069]/g, "") ?? "";
      await eventually(`${path} says “${words}”`, async () => (await told()).includes(words));
      if (path.startsWith("/review")) assert.doesNotMatch(await told(), /The game is over|Choose a pit/, "the end is told once, and no move is asked for");
    }
  }
  await ana.leave();
  await cleo.leave();
});

test("a game is played back by itself, and pauses", async () => {
  // Of a long game the end is far off when the button is pressed, however late that is.
  const { ana, game } = await arrive();
  const play = ana.button("Play the moves");
  await ana.open(`/review/${game.id}#ply=0`);
  await becomes(() => shownPly(ana), 0, "the opening is shown");
  await play.click();
  await eventually("it plays on", async () => (await shownPly(ana)) >= 1);
  await ana.button("Pause").click();
  await play.waitFor();
  await ana.page
    .getByRole("option")
    .nth(game.ply - 2)
    .click();
  await play.click();
  await becomes(() => shownPly(ana), game.ply, "it ends");
  await play.waitFor();
  await ana.leave();
});

test("an analysis is requested, arrives, and its best line is walked", async () => {
  const { ana, game } = await arrive();
  await ana.open(`/review/${game.id}#ply=1`);
  await ana.button("Analyse").click();
  await ana.page.getByRole("rowheader", { name: "Accuracy", exact: true }).waitFor({ timeout: 2 * WAIT_MS });
  await ana.isAccessible("an analysed game");
  await ana.screenshot("review-analysed", true);
  // A ply with a best line of its own.
  for (let ply = 1; ply <= game.ply; ply += 1) {
    if ((await ana.page.locator('[aria-labelledby="best-title"] button').count()) > 1) break;
    await ana.button("Next move").click();
  }
  const steps = ana.page.locator('[aria-labelledby="best-title"] button');
  const moves = await steps.allTextContents();
  assert.ok(moves.length > 1, "the engine knows a line");
  const ply = await shownPly(ana);
  const verdict = () => ana.page.locator(css("{review.verdict}")).textContent();
  const before = await verdict();
  await steps.nth(1).click();
  const line = ana.page.getByRole("group", { name: `Best line after move ${ply - 1}` });
  await line.waitFor();
  assert.deepEqual((await line.locator('[dir="ltr"] button').allTextContents()).slice(0, 2), moves.slice(0, 2));
  await becomes(() => line.locator("[aria-current]").textContent(), moves[1]);
  await becomes(verdict, before, "the verdict stays that of the move which the line replaces");
  await steps.first().click();
  await becomes(() => line.locator("[aria-current]").textContent(), moves[0]);
  await becomes(verdict, before);
  await steps.nth(1).click();
  await becomes(() => line.locator("[aria-current]").textContent(), moves[1]);
  await ana.button("Previous move").click();
  await becomes(() => line.locator("[aria-current]").textContent(), moves[0]);
  await ana.button("Back to the game").click();
  await becomes(() => line.count(), 0);
  await becomes(() => shownPly(ana), ply - 1);
  await ana.page.reload();
  await ana.page.getByRole("rowheader", { name: "Accuracy", exact: true }).waitFor();
  await ana.leave();
});

test("another move is tried, the variation is walked, and play goes on from it", async () => {
  const { ana, game } = await arrive();
  await ana.open(`/review/${game.id}#ply=0`);
  await ana.legal().first().waitFor();
  const own = await ana.page.getByRole("option").nth(1).locator(css("{plies.move}")).textContent();
  await ana.page.locator(`[data-pit="${own}"]`).click();
  await becomes(() => shownPly(ana), 1, "the game's own move goes on in the game");
  await ana.button("Previous move").click();
  const other = (await ana.legal().evaluateAll((pits) => pits.map((pit) => pit.getAttribute("data-pit")))).find((pit) => pit !== own);
  await ana.page.locator(`[data-pit="${other}"]`).click();
  const line = ana.page.getByRole("group", { name: "Tried after move 0" });
  await line.waitFor();
  const next = (await ana.legal().first().getAttribute("data-pit")) ?? "";
  await ana.legal().first().click();
  await eventually("two moves are tried", async () => (await line.locator('[dir="ltr"] button').count()) === 2);
  await becomes(() => line.locator('[dir="ltr"] button').allTextContents(), [other, next]);
  await ana.isAccessible("a variation");
  await line.locator('[dir="ltr"] button').first().click();
  await eventually("the first is shown", async () => (await line.locator("[aria-current]").textContent()) === other);
  await ana.button("Play from here").click();
  const dialog = ana.page.getByRole("dialog", { name: "Play from here" });
  await ana.isAccessible("the dialog to go on");
  await dialog.getByLabel("Level").selectOption("1");
  await dialog.getByRole("button", { name: "Start" }).click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  await ana.page.locator("[data-ply]").waitFor();
  const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
  const begun = await call<{ start?: { position: string }; opponent: { type: string } }>("GET", `/v1/games/${id}`, null);
  assert.equal(begun.opponent.type, "computer");
  assert.ok(begun.start, "the game begins elsewhere");
  await ana.leave();
});

test("play goes on from a ply of the game against the computer", async () => {
  const { ana, game } = await arrive();
  await ana.open(`/review/${game.id}#ply=3`);
  await becomes(() => shownPly(ana), 3);
  await ana.button("Play from here").click();
  await ana.page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
  const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
  const begun = await call<{ start?: { game_id?: string; ply?: number } }>("GET", `/v1/games/${id}`, null);
  assert.deepEqual([begun.start?.game_id, begun.start?.ply], [game.id, 3]);
  await ana.leave();
});

test("notes are written, kept over a reload, and deleted", async () => {
  const { ana, game } = await arrive();
  const text = 'Here <b onclick="x">it</b> went wrong… \u202eעברית';
  await ana.open(`/review/${game.id}#ply=2`);
  const field = ana.page.getByLabel("On move 2");
  await field.fill(text);
  await ana.page.getByText("Not saved yet.").waitFor();
  await ana.button("Save the note").click();
  await ana.page.getByText("Saved.", { exact: true }).waitFor();
  await ana.page.reload();
  await eventually("the note is there", async () => (await field.inputValue()) === text);
  await ana.button("Next move").click();
  await ana.page.getByLabel("On move 3").fill("not saved");
  await ana.page.getByRole("list", { name: "Other notes" }).getByText("went wrong").waitFor();
  assert.equal(await ana.page.locator("main b").count(), 0);
  await ana.isAccessible("notes");
  await ana.button("Move 2").click();
  await becomes(() => field.inputValue(), text);
  await ana.button("Next move").click();
  await becomes(() => ana.page.getByLabel("On move 3").inputValue(), "not saved");
  await ana.button("Previous move").click();
  await field.fill("");
  await ana.button("Save the note").click();
  await eventually("the note is deleted", async () => (await ana.page.getByText("✎").count()) === 0);
  await ana.leave();
});

/** What the explorer says of a position, whatever the number of its games. */
const explored = async (ana: Person) =>
  ((await ana.page.locator("details p").first().textContent()) ?? "").replace(/^[\d,]+ games? (reached this position).*$/s, "$1");

test("the explorer shows what was played, and plays it", async () => {
  const options = { pits: 4, seeds: 5 };
  const position = "5,5,5,5/5,5,5,5 0-0 S - 0 1S";
  const query = new URLSearchParams({ variant: "kalah", preset: "standard", options: "pits=4;seeds=5", position });
  const counted = async () => (await call<{ games: number }>("GET", `/v1/explorer?${query}`, null)).games;
  const before = await counted();
  const early = await arrive({ options });
  await early.ana.open(`/review/${early.game.id}#ply=0`);
  await early.ana.page.getByText("Explorer", { exact: true }).click();
  await becomes(() => explored(early.ana), before === 0 ? "No public game has reached this position." : "reached this position");
  const [one, other] = [await guest("Bo"), await guest("Cleo")];
  const shared = await call<Game>("POST", "/v1/games", one.token, { variant: "kalah", options, side: "south" });
  let { game: current } = { game: await call<Game & { turn: string | null }>("POST", `/v1/games/${shared.id}/join`, other.token, {}) };
  while (current.status === "active") {
    const { token } = current.turn === "south" ? one : other;
    const body = { ply: current.ply + 1, move: current.legal_moves[0] };
    ({ game: current } = await call<{ game: Game & { turn: string | null } }>("POST", `/v1/games/${shared.id}/moves`, token, body));
  }
  await eventually("it counts", async () => (await counted()) > before);
  await early.ana.leave();
  // Another browser, because the first one may keep its answer for a minute.
  const { ana, game } = await arrive({ options });
  await ana.open(`/review/${game.id}#ply=0`);
  await ana.page.getByText("Explorer", { exact: true }).click();
  await becomes(() => explored(ana), "reached this position");
  await eventually("the move is listed first", async () => Number(await ana.page.locator("details tbody td").first().textContent()) > 0);
  await ana.isAccessible("the explorer");
  await ana.screenshot("review-explorer", true);
  await ana.page.locator("details tbody button").first().click();
  await eventually(
    "the move is shown",
    async () => (await shownPly(ana)) === 1 || (await ana.page.locator('[aria-labelledby="variation-title"]').count()) === 1,
  );
  await ana.leave();
});

test("a game is taken along as text and as JSON, private ones too", async () => {
  const { ana, game } = await arrive({ visibility: "private" }, { acceptDownloads: true });
  await ana.open(`/review/${game.id}`);
  await ana.page.getByText("This game is private").waitFor();
  for (const [button, ending, holds] of [
    ["As text", "txt", "Variant"],
    ["As JSON", "json", '"moves"'],
    ["Picture (SVG)", "svg", "<svg"],
    ["Picture (PNG)", "png", "IHDR"],
  ] as const) {
    const download = ana.page.waitForEvent("download");
    await ana.button(button).click();
    const file = await download;
    assert.ok(file.suggestedFilename().endsWith(`.${ending}`));
    assert.ok(readFileSync(await file.path(), "utf8").includes(holds), `${button} holds ${holds}`);
  }
  await ana.leave();
});

test("the link and the picture of a ply are copied", async () => {
  const { ana, game } = await arrive({}, { permissions: ["clipboard-read", "clipboard-write"] });
  await ana.open(`/review/${game.id}#ply=2`);
  // The opening is shown until the plies have arrived.
  await becomes(() => shownPly(ana), 2);
  await ana.button("Copy the link").click();
  await becomes(() => ana.page.evaluate(() => navigator.clipboard.readText()), `${BASE}/review/${game.id}#ply=2`);
  for (const [name, type] of [
    ["Picture (SVG)", "image/svg+xml"],
    ["Picture (PNG)", "image/png"],
  ] as const) {
    const picture = await ana.page.getByRole("link", { name }).getAttribute("href");
    assert.match(picture ?? "", /\?ply=2&/);
    const answer = await fetch(BASE + (picture ?? ""));
    assert.equal(answer.headers.get("content-type")?.split(";")[0], type);
  }
  await ana.leave();
});

test("a running game grows while it is looked at, and is not analysed for a spectator", async () => {
  const [one, other] = [await guest("Bo"), await guest("Cleo")];
  const game = await call<Game>("POST", "/v1/games", one.token, { variant: "kalah", side: "south" });
  await call("POST", `/v1/games/${game.id}/join`, other.token, {});
  const ana = await Person.arrive();
  await ana.open(`/review/${game.id}`);
  await ana.page.getByText("A game can be analysed once it is over.").waitFor();
  assert.equal(await ana.button("Play from here").count(), 0);
  await call("POST", `/v1/games/${game.id}/moves`, one.token, { ply: 1, move: "A" });
  await eventually("the move is shown", async () => (await shownPly(ana)) === 1);
  await ana.leave();
});

test("moves that were taken back and seats that were exchanged are reviewed", async () => {
  const [one, other] = [await guest("Bo"), await guest("Cleo")];
  const game = await call<Game>("POST", "/v1/games", one.token, { variant: "kalah", side: "south", options: { pie: true } });
  await call("POST", `/v1/games/${game.id}/join`, other.token, {});
  await call("POST", `/v1/games/${game.id}/moves`, one.token, { ply: 1, move: "A" });
  await call("POST", `/v1/games/${game.id}/offers`, one.token, { type: "takeback" });
  await call("POST", `/v1/games/${game.id}/offers/takeback/accept`, other.token);
  await call("POST", `/v1/games/${game.id}/moves`, one.token, { ply: 3, move: "B" });
  await call("POST", `/v1/games/${game.id}/moves`, other.token, { ply: 4, move: "swap" });
  const ana = await Person.arrive();
  await ana.open(`/review/${game.id}`);
  const bottom = ana.page.locator(css("{game.seat}")).last();
  await eventually("Cleo sits in the South", async () => /Cleo/.test((await bottom.textContent()) ?? ""));
  await ana.button("Previous move").click();
  await eventually("before the swap Bo sat there", async () => /Bo/.test((await bottom.textContent()) ?? ""));
  await ana.button("Previous move").click();
  await eventually(
    "the opening is there again",
    async () => (await ana.page.locator('[data-pit="A"]').getAttribute("aria-label"))?.includes("4 seeds") ?? false,
  );
  await ana.leave();
});

test("a game that is none or private has no review, and says so", async () => {
  const bo = await guest("Bo");
  const secret = await call<Game>("POST", "/v1/games", bo.token, { variant: "kalah", visibility: "private" });
  const ana = await Person.arrive({ expected: /404|422|400/ });
  for (const id of [secret.id, "0199a000-0000-7000-8000-000000000000", "nonsense"]) {
    await ana.open(`/review/${id}`);
    await ana.page.getByRole("heading", { name: "This game cannot be shown" }).waitFor();
    await ana.isAccessible(`/review/${id}`);
  }
  await ana.leave();
});

test("a server that fails is told, and the review tries again", async () => {
  const { ana, game } = await arrive({}, { expected: /503|ERR_FAILED|500/ });
  await ana.context.route("**/v1/variants/*/play", (route) => route.abort());
  await ana.open(`/review/${game.id}#ply=0`);
  await ana.legal().first().waitFor();
  const own = await ana.page.getByRole("option").nth(1).locator(css("{plies.move}")).textContent();
  await ana.page.locator(`[data-pit][aria-disabled="false"]:not([data-pit="${own}"])`).first().click();
  await ana.hears("No answer from the server");
  await ana.context.route("**/v1/games/*/moves?*", (route) => route.fulfill({ status: 500, body: "{}" }));
  await ana.page.reload();
  await ana.page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
  await ana.context.unroute("**/v1/games/*/moves?*");
  await ana.button("Try again").click();
  await eventually("the moves arrive", async () => (await ana.page.getByRole("option").count()) === game.ply + 1);
  await ana.leave();
});

for (const [name, device] of Object.entries({
  light: { colorScheme: "light" as const },
  dark: { colorScheme: "dark" as const },
  narrow: { viewport: { width: 320, height: 640 } },
  "rtl-narrow": { settings: { language: "ar-XB" }, viewport: { width: 320, height: 640 }, colorScheme: "dark" as const },
})) {
  test(`the review is readable: ${name}`, async () => {
    const player = await guest("Ana");
    const ana = await Person.arrive({ reducedMotion: "reduce", ...device });
    for (const variant of name.includes("narrow") ? ["congkak", "bao"] : ["kalah", "oware", "congkak", "bao"]) {
      const game = await played(player.token, { variant }, 12);
      await ana.open(`/review/${game.id}`);
      await ana.legal().first().waitFor();
      await ana.fits(`/review of ${variant}`);
      await ana.isAccessible(`the review of ${variant} (${name})`);
      await ana.screenshot(`review-${variant}-${name}`, true);
    }
    await ana.leave();
  });
}
