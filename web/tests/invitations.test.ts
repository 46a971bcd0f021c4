// Invitations by link, and addresses of the page: what a visitor meets who has never been here.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { BASE, becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";

after(closeBrowser);

interface Created {
  id: string;
  join_code: string;
}

/** A private game by link, and its creator. */
async function invitation(): Promise<{ bo: Awaited<ReturnType<typeof guest>>; game: Created; path: string }> {
  const bo = await guest("Bo");
  const settings = { variant: "kalah", visibility: "private", side: "south", opponent: { type: "link" } };
  const game = await call<Created>("POST", "/v1/games", bo.token, settings);
  return { bo, game, path: `/games/${game.id}#join=${game.join_code}` };
}

const ply = (person: Person) => person.page.locator("[data-ply]").getAttribute("data-ply");

test("a private game is joined by its link, also past the link to the content", async () => {
  const { bo, game, path } = await invitation();
  const ana = await Person.arrive({ expected: /404|409/ });
  const cleo = await Person.arrive({ expected: /404|409/ });
  await cleo.open(path);
  await cleo.button("Join").waitFor();
  await ana.open(path);
  await ana.button("Join").waitFor();
  await ana.screenshot("invitation-private");
  const skip = ana.page.getByRole("link", { name: "Skip to content" });
  await skip.focus();
  await ana.page.keyboard.press("Enter");
  await becomes(() => ana.page.evaluate(() => document.activeElement?.id), "main");
  assert.equal(ana.page.url(), BASE + path);
  await ana.page.getByLabel("Your name (optional)").fill("Ana");
  await ana.button("Join").click();
  await becomes(() => ana.status(), "active");
  await becomes(async () => ana.page.url(), `${BASE}/games/${game.id}`);
  await call("POST", `/v1/games/${game.id}/moves`, bo.token, { ply: 1, move: "A" });
  await becomes(() => ply(ana), "1", "the move of the other is shown");
  await ana.legal().first().click();
  await eventually("the own move is confirmed", async () => (await call<{ ply: number }>("GET", `/v1/games/${game.id}`, bo.token)).ply >= 2);
  await cleo.page.getByText("The seat has been taken.").waitFor();
  await ana.page.reload();
  await becomes(() => ana.status(), "active");
  await ana.leave();
  await cleo.leave();
});

test("a player who is signed in joins a private game by its link, and takes part", async () => {
  const { bo, game, path } = await invitation();
  const ana = await Person.arrive();
  await ana.begin("Two players on this device", "Ana");
  await ana.open(path);
  await ana.button("Join").click();
  await becomes(() => ana.status(), "active");
  await call("POST", `/v1/games/${game.id}/moves`, bo.token, { ply: 1, move: "A" });
  await becomes(() => ply(ana), "1");
  await ana.leave();
});

test("a link that has expired says so, and leaves no guest behind", async () => {
  const bo = await guest("Bo");
  const game = await call<Created>("POST", "/v1/games", bo.token, { variant: "kalah", side: "south", opponent: { type: "link" } });
  await call("POST", `/v1/games/${game.id}/join-code`, bo.token);
  const ana = await Person.arrive({ expected: /403/ });
  await ana.open(`/games/${game.id}#join=${game.join_code}`);
  const made = ana.page.waitForResponse((response) => response.url().endsWith("/v1/players") && response.request().method() === "POST");
  await ana.button("Join").click();
  const { player } = (await (await made).json()) as { player: { id: string } };
  await ana.page.getByText("This invitation link is no longer valid.").waitFor();
  await becomes(() => ana.page.locator('header a[href="/account"]').textContent(), "Sign in");
  const kind = async () => (await call<{ kind: string }>("GET", `/v1/players/${player.id}`, null)).kind;
  await becomes(kind, "deleted");
  await becomes(() => ana.button("Join").count(), 0);
  await ana.isAccessible("an expired invitation");
  await ana.leave();
});

test("an invitation with a wrong code shows nothing of a private game", async () => {
  const { game } = await invitation();
  const ana = await Person.arrive({ expected: /404/ });
  await ana.open(`/games/${game.id}#join=wrong`);
  await ana.page.getByRole("heading", { name: "This game cannot be shown" }).waitFor();
  await ana.leave();
});

test("the ply of a review stays in the address past the link to the content", async () => {
  const bo = await guest("Bo");
  const { id } = await call<Created>("POST", "/v1/games", bo.token, { variant: "kalah", side: "south", opponent: { type: "self" } });
  await call("POST", `/v1/games/${id}/moves`, bo.token, { ply: 1, move: "A" });
  const ana = await Person.arrive();
  await ana.open(`/review/${id}#ply=1`);
  await ana.page.getByRole("slider").waitFor();
  await ana.page.getByRole("link", { name: "Skip to content" }).focus();
  await ana.page.keyboard.press("Enter");
  await becomes(() => ana.page.evaluate(() => document.activeElement?.id), "main");
  assert.equal(ana.page.url(), `${BASE}/review/${id}#ply=1`);
  await ana.leave();
});

test("an address that leads nowhere says so, and leads back", async () => {
  const ana = await Person.arrive({ expected: /404/ });
  // The server answers browsers with the document and this status.
  await ana.context.route(/\/(nonsense|games\/|a\/b\/c)$/, async (route) => {
    const document = await (await fetch(BASE, { headers: { accept: "text/html" } })).text();
    await route.fulfill({ status: 404, contentType: "text/html", body: document });
  });
  for (const path of ["/nonsense", "/games/", "/a/b/c"]) {
    await ana.open(path);
    await ana.page.getByRole("heading", { name: "Page not found" }).waitFor();
    await ana.isAccessible(path);
    assert.match(await ana.page.title(), /Page not found/);
    await ana.page.getByRole("link", { name: "Home" }).click();
    await ana.button("Play the computer").waitFor();
  }
  await ana.screenshot("unknown");
  await ana.leave();
});
