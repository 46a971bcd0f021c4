// Other people: all finished games with them, games that wait for an opponent, and an opponent who is picked by name.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

const WINDOWS = [
  { viewport: { width: 390, height: 664 }, colorScheme: "dark" as const },
  { viewport: { width: 1280, height: 800 }, colorScheme: "light" as const },
];

/** A game of a player against another, which one of them resigns. */
async function resigned(south: { token: string }, north: { token: string }, loser: { token: string }, variant = "kalah"): Promise<string> {
  const wish = { variant, side: "south", opponent: { type: "link" } };
  const { id, join_code } = await call<{ id: string; join_code: string }>("POST", "/v1/games", south.token, wish);
  await call("POST", `/v1/games/${id}/join`, north.token, { join_code });
  await call("POST", `/v1/games/${id}/moves`, south.token, { ply: 1, move: "A" });
  await call("POST", `/v1/games/${id}/resign`, loser.token);
  return id;
}

/** The games that a view lists, in its order. */
const listed = (ana: Person) =>
  ana.page.locator(css("{history.past} > a:first-child")).evaluateAll((all) => all.map((each) => each.getAttribute("href")?.split("/")[2]));

for (const { viewport, colorScheme } of WINDOWS) {
  test(`all finished games are listed page by page, and found by game, opponent, result, day and analysis: ${viewport.width} pixels`, async () => {
    const ana = await Person.arrive({ viewport, colorScheme });
    await ana.begin("Two players on this device", "Ana");
    const [me, bo, cleo] = [{ token: await ana.token() }, await guest("Bo"), await guest("Cleo")];
    const won = await resigned(me, bo, bo);
    const lost = await resigned(me, bo, me);
    const oware = await resigned(cleo, me, cleo, "oware");
    for (let n = 0; n < 20; n += 1) await resigned(me, cleo, cleo, "bestemshe");
    await ana.open("/");
    await ana.page.getByRole("link", { name: "All finished games" }).click();
    await ana.page.getByRole("heading", { level: 1, name: "Finished games" }).waitFor();
    await becomes(async () => (await listed(ana)).length, 20, "a page");
    await ana.isAccessible("finished games");
    await ana.fits("finished games");
    await ana.button("Show more").click();
    await becomes(async () => (await listed(ana)).slice(20), [oware, lost, won], "the rest, the latest first");
    await becomes(() => ana.button("Show more").count(), 0);

    await ana.page.getByLabel("Game").selectOption("Oware");
    await becomes(() => listed(ana), [oware]);
    await ana.page.getByLabel("Game").selectOption("All");
    await ana.page.getByLabel("Opponent").selectOption("Bo");
    await becomes(() => listed(ana), [lost, won]);
    await ana.page.getByLabel("Result").selectOption("lost");
    await becomes(() => listed(ana), [lost]);
    await ana.screenshot(`history-${viewport.width}`);
    await ana.page.reload();
    await becomes(() => listed(ana), [lost], "the filters stand in the address");
    await ana.page.locator(css("{history.past} > a:first-child")).click();
    await ana.page.locator(css("{game.game} [data-ply]")).waitFor();
    await ana.page.goBack();
    await becomes(() => listed(ana), [lost], "and the way back leads to them");
    await ana.page.getByLabel("Result").selectOption("All");
    await ana.page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await ana.page.getByText("No matching games.").waitFor();
    await ana.isAccessible("no finished game");
    await ana.page.getByLabel("To", { exact: true }).fill("");
    await ana.page.getByLabel("From").fill("2020-01-01");
    await becomes(() => listed(ana), [lost, won]);
    await call("POST", `/v1/games/${won}/analysis`, me.token);
    await eventually("it is analysed", async () => (await call<{ analysed_at: string | null }>("GET", `/v1/games/${won}`, null)).analysed_at !== null);
    await ana.page.getByLabel("Analysis").selectOption("analysed");
    await becomes(() => listed(ana), [won]);
    await ana.page.getByLabel("Analysis").selectOption("not analysed");
    await becomes(() => listed(ana), [lost]);
    await ana.button("Clear filters").click();
    await becomes(async () => (await listed(ana)).length, 20);
    assert.equal(new URL(ana.page.url()).search, "");
    await ana.leave();
  });

  test(`a lobby row tells rules and whole clock, and comes and goes: ${viewport.width} pixels`, async () => {
    const ana = await Person.arrive({ viewport, colorScheme, expected: /409/ });
    const [bo, cleo] = [await guest("Bo"), await guest("Cleo")];
    await ana.open("/lobby");
    await ana.page.getByRole("heading", { name: "Waiting for an opponent" }).waitFor();
    const name = `Bo${Date.now() % 1e6}`;
    const dan = await guest(name);
    const row = ana.page.locator(css("{rows.offer}"), { hasText: name });
    const { id } = await call<{ id: string }>("POST", "/v1/games", dan.token, {
      variant: "kalah",
      preset: "bga",
      clock: { type: "bank", bank_s: 600, increment_s: 5 },
    });
    await row.waitFor();
    const words = ((await row.textContent()) ?? "").replace(/[\u2068\u2069]/g, "");
    assert.match(words, /Kalah · (?!bga|Standard)\S.*10 minutes each, 0:05 more per turn/);
    await ana.isAccessible("the lobby");
    await ana.fits("the lobby");
    await ana.screenshot(`lobby-rows-${viewport.width}`);
    await call("POST", `/v1/games/${id}/join`, cleo.token);
    await becomes(() => row.count(), 0, "a game that has begun goes");
    // Two want the same seat: the later one is told, and the row goes at once.
    const { id: other } = await call<{ id: string }>("POST", "/v1/games", dan.token, { variant: "oware", clock: { type: "per_move", move_s: 86_400 } });
    await row.waitFor();
    assert.match(((await row.textContent()) ?? "").replace(/[\u2068\u2069]/g, ""), /Oware · .*1 day per turn/);
    await ana.context.route(`**/v1/games/${other}/join`, async (route) => {
      await call("POST", `/v1/games/${other}/join`, bo.token).catch(() => undefined);
      await route.fallback();
    });
    await row.getByRole("button").click();
    await ana.hears("The seat has been taken.");
    await becomes(() => row.count(), 0);
    await ana.leave();
  });
}

test("an opponent is sought in the lobby, by the keyboard alone", async () => {
  const ana = await Person.arrive({ settings: { variant: "congkak" } });
  await ana.open("/lobby");
  await ana.page.locator(css("{starts.seek}")).getByText("3 days per turn").waitFor();
  const tabTo = async (isThere: () => Promise<boolean>) => {
    for (let n = 0; n < 40; n += 1) {
      await ana.page.keyboard.press("Tab");
      if (await isThere()) return;
    }
    assert.fail("the keyboard does not get there");
  };
  await tabTo(() => ana.page.evaluate(() => document.activeElement?.getAttribute("name") === "clock"));
  await ana.page.keyboard.press("ArrowLeft");
  await tabTo(() => ana.page.evaluate(() => document.activeElement?.textContent === "Search now"));
  await ana.page.keyboard.press("Enter");
  await ana.page.waitForURL(/\/games\//);
  const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
  const { variant, clock, opponent } = await call<{ variant: string; clock: { move_s: number }; opponent: { type: string } }>("GET", `/v1/games/${id}`, null);
  assert.deepEqual([variant, clock.move_s, opponent.type], ["congkak", 3 * 86_400, "open"]);
  await ana.leave();
});

test("a lobby that has not changed is not sent again", async () => {
  const ana = await Person.arrive();
  const tools = await ana.context.newCDPSession(ana.page);
  await tools.send("Network.enable");
  const asked = new Set<string>();
  const statuses: number[] = [];
  tools.on("Network.requestWillBeSent", ({ requestId, request }) => request.url.includes("opponent_type=open") && asked.add(requestId));
  tools.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode }) => asked.has(requestId) && statuses.push(statusCode));
  await ana.open("/lobby");
  await eventually("one answer has no body", async () => statuses.includes(304));
  await ana.leave();
});

test("an opponent is picked by name: an account that wants to be found, one of an earlier game, or by the whole name", async () => {
  const stamp = Date.now() % 1e7;
  const [found, hidden] = [`Zora${stamp}`, `Zoe${stamp}`];
  const account = async (name: string) => {
    const { access_token: token, player } = await call<{ access_token: string; player: { id: string } }>("POST", "/v1/players", null, {
      name,
      password: "correct horse 7 battery",
    });
    return { token, id: player.id };
  };
  const [zora, zoe, bo] = [await account(found), await account(hidden), await guest("Bo")];
  // An account says on the page that it wants to be found.
  const other = await Person.arrive();
  await other.open("/account");
  const signIn = other.page.locator("form", { has: other.button("Sign in") });
  await signIn.getByLabel("Name").fill(found);
  await signIn.getByLabel("Password").fill("correct horse 7 battery");
  await signIn.getByRole("button").click();
  const answer = other.page.waitForResponse((response) => response.request().method() === "PATCH" && response.ok());
  await other.page.getByLabel("Others can find me by name").check();
  await answer;
  await other.isAccessible("an account that is found");
  await other.leave();

  for (const { viewport, colorScheme } of WINDOWS) {
    const ana = await Person.arrive({ viewport, colorScheme, expected: /422/ });
    await ana.begin("Two players on this device", "Ana");
    const me = { token: await ana.token() };
    await resigned(me, bo, bo);
    const begun = async () => {
      await ana.button("Start the game").click();
      await ana.page.waitForURL(/\/games\/./, { waitUntil: "commit" });
      const id = new URL(ana.page.url()).pathname.split("/")[2] ?? "";
      return (await call<{ opponent: { type: string; player_id: string } }>("GET", `/v1/games/${id}`, me.token)).opponent.player_id;
    };
    const field = ana.page.getByLabel("Name of the player");
    await ana.open("/new?variant=kalah&opponent=player");
    await ana.page.getByLabel("Bo", { exact: true }).check();
    await becomes(() => field.inputValue(), "Bo");
    assert.equal(await begun(), bo.id, "a guest of an earlier game");

    await ana.open("/new?variant=kalah&opponent=player");
    await field.fill("zor");
    await ana.page.getByLabel(found, { exact: true }).waitFor();
    await ana.isAccessible("names that begin so");
    await ana.fits("names that begin so");
    await ana.screenshot(`new-player-${viewport.width}`, true);
    await ana.page.getByLabel(found, { exact: true }).check();
    assert.equal(await begun(), zora.id, "an account that wants to be found");

    await ana.open("/new?variant=kalah&opponent=player");
    await field.fill("zoe");
    await becomes(() => ana.page.getByLabel(hidden, { exact: true }).count(), 0);
    await field.fill(hidden);
    assert.equal(await begun(), zoe.id, "by the whole name");

    await ana.open("/new?variant=kalah&opponent=player");
    await field.fill(`Nobody${stamp}`);
    await ana.button("Start the game").click();
    await becomes(() => field.getAttribute("aria-invalid"), "true");
    await ana.isAccessible("a name that is none");
    await ana.leave();
  }
});
