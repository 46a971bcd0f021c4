// What the browser keeps: of another release, of a stranger, and of a player who has left.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

const JUNK = [null, {}];

/** What is stored, with everything at a depth replaced by something else. */
function spoiled(text: string, depth: number, junk: unknown): string {
  const at = (value: unknown, left: number): unknown => {
    if (left === 0) return junk;
    if (Array.isArray(value)) return value.map((each) => at(each, left - 1));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, at(each, left - 1)]));
  };
  try {
    return JSON.stringify(at(JSON.parse(text), depth));
  } catch {
    return text;
  }
}

test("whatever is stored, the page opens and a game begins", async () => {
  const ana = await Person.arrive({ expected: /401|404|403|422/ });
  const id = await ana.begin("Two players on this device", "Ana");
  await ana.open("/rules/kalah");
  await ana.page.locator("[data-ply]").first().waitFor();
  await ana.open("/");
  await ana.page.locator(css("a{rows.gameRow}")).first().waitFor();
  const read = () => ana.page.evaluate(() => ({ ...localStorage }) as Record<string, string>);
  for (const key of ["session", "mancala.settings", `mancala.kept.1.game.${id}`, "mancala.kept.1.value.mine", "mancala.kept.1.value.variants"]) {
    await eventually(`${key} is kept`, async () => Object.keys(await read()).some((each) => each.endsWith(key)));
  }
  const { "test.stored": _, ...before } = await read();
  await ana.leave();
  for (const depth of [1, 2, 3]) {
    for (const junk of JUNK) {
      const stored = Object.fromEntries(Object.entries(before).map(([key, text]) => [key, spoiled(text, depth, junk)]));
      // The session stays for the deeper ones, so that lists and games are read.
      if (depth > 2) for (const [key, text] of Object.entries(before)) if (key.startsWith("mancala:")) stored[key] = text;
      const next = await Person.arrive({ stored, expected: /401|404|403|422|TypeError|RangeError/ });
      for (const path of [`/games/${id}`, "/rules/kalah", "/"]) {
        await next.open(path);
        await next.page.locator("h1").waitFor();
      }
      await next.button("Play the computer").waitFor();
      if (junk === null) {
        await (await next.way("Two players on this device")).click();
        await next.page.waitForURL(/\/games\//, { waitUntil: "commit" });
        await next.legal().first().waitFor();
      }
      await next.leave();
    }
  }
});

test("a view that fails forgets what is kept, and says so if that does not help", async () => {
  const ana = await Person.arrive({ expected: /TypeError|RangeError|Cannot read/ });
  const id = await ana.begin("Two players on this device", "Ana");
  // A server of another kind: its game has no seats.
  const game = await call<object>("GET", `/v1/games/${id}`, null);
  await ana.context.route(`**/v1/games/${id}`, (route) => route.fulfill({ json: { ...game, seats: null } }));
  await ana.page.reload();
  await ana.page.getByRole("heading", { name: "Something went wrong on this page." }).waitFor();
  await ana.page.getByRole("link", { name: "Home" }).click();
  await ana.button("Play the computer").waitFor();
  await ana.leave();
});

test("a tab that is signed out goes on as a spectator", async () => {
  const ana = await Person.arrive({ expected: /404|401/ });
  const id = await ana.begin("Two players on this device", "Ana");
  const review = await ana.context.newPage();
  await review.goto(`${new URL(ana.page.url()).origin}/review/${id}`);
  await review.locator("[data-ply]").waitFor();
  const other = await ana.context.newPage();
  await other.goto(new URL("/account", ana.page.url()).href);
  await other.getByRole("button", { name: "Sign out", exact: true }).click();
  await other.getByRole("dialog").getByRole("button", { name: "Sign out", exact: true }).click();
  await other.getByRole("heading", { name: "Play as a guest" }).waitFor();
  await becomes(() => ana.page.locator('header a[href="/account"]').textContent(), "Sign in");
  await becomes(() => ana.legal().count(), 0);
  assert.equal(await ana.status(), "active");
  await review.locator("[data-ply]").waitFor();
  await ana.page.getByRole("link", { name: "Mancala" }).click();
  await ana.page.getByText("Your games will be listed here.").waitFor();
  await ana.leave();
});

test("a session that the server has ended leaves nothing private behind", async () => {
  const bo = await guest("Bo");
  const created = await call<{ id: string; join_code: string }>("POST", "/v1/games", bo.token, {
    variant: "kalah",
    visibility: "private",
    side: "south",
    opponent: { type: "link" },
  });
  const ana = await Person.arrive({ expected: /401|404/ });
  await ana.open(`/games/${created.id}#join=${created.join_code}`);
  await ana.button("Join").click();
  await becomes(() => ana.status(), "active");
  const kept = () =>
    ana.page.evaluate(() =>
      Object.entries(localStorage)
        .filter(([key]) => key.startsWith("mancala.kept."))
        .map(([, text]) => text)
        .join(),
    );
  await eventually("the game is kept", async () => (await kept()).includes(created.id));
  // The open page is left first: it would meet these answers too, and tell them before the reload.
  await ana.page.goto("about:blank");
  // The server knows neither token any more.
  await ana.context.route("**/v1/tokens", (route) => route.fulfill({ status: 401, json: { code: "invalid_token", detail: "so it is" } }));
  await ana.context.route("**/v1/games**", (route) =>
    route.request().headers()["authorization"] ? route.fulfill({ status: 401, json: { code: "invalid_token", detail: "so it is" } }) : route.fallback(),
  );
  await ana.open(`/games/${created.id}`);
  await ana.hears("You were signed out");
  await ana.page.getByRole("heading", { name: "This game cannot be shown" }).waitFor();
  assert.ok(!(await kept()).includes(created.id), "the private game is forgotten");
  assert.equal(await ana.page.locator("main [data-ply]").count(), 0);
  await ana.leave();
});
