// Bad networks, failing servers, and what else happens to a page that is open for days.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { BASE, becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";
import { Relay } from "./support/relay.ts";

after(closeBrowser);

const ply = (person: Person) => person.page.locator("[data-ply]").getAttribute("data-ply");

test("a lost answer plays the move once", async () => {
  const ana = await Person.arrive({ expected: /Failed to load resource|net::ERR/ });
  const id = await ana.begin("Two players on this device", "Ana");
  let lost = 0;
  await ana.context.route("**/moves", async (route) => {
    if (route.request().method() !== "POST" || lost > 0) return route.fallback();
    lost += 1;
    await route.fetch();
    await route.abort("connectionreset");
  });
  await ana.page.locator('[data-pit="A"]').click();
  await eventually("the move is shown", async () => (await ply(ana)) === "1");
  await eventually("it is confirmed", async () => (await ana.presence().getAttribute("data-presence")) === "live");
  assert.equal(lost, 1);
  assert.equal((await call<{ ply: number }>("GET", `/v1/games/${id}`, null)).ply, 1);
  await ana.leave();
});

test("a move that the stream tells first leaves the next one free", async () => {
  const ana = await Person.arrive({ serviceWorkers: "block" });
  const id = await ana.begin("Two players on this device", "Ana");
  let answer: () => void = () => undefined;
  const shown = new Promise<void>((resolve) => (answer = resolve));
  await ana.context.route("**/moves", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const response = await route.fetch();
    await shown;
    await route.fulfill({ response });
  });
  await ana.page.locator('[data-pit="A"]').click();
  await eventually("the move is shown", async () => (await ply(ana)) === "1");
  await ana.page.locator('[data-pit="a"][aria-disabled="false"]').click();
  answer();
  await eventually("the next move is shown", async () => (await ply(ana)) === "2");
  await eventually("both are confirmed", async () => (await call<{ ply: number }>("GET", `/v1/games/${id}`, null)).ply === 2);
  await ana.leave();
});

test("taps on two pits at once play one move", async () => {
  const ana = await Person.arrive();
  await ana.begin("Two players on this device", "Ana");
  let sent = 0;
  ana.page.on("request", (request) => (sent += request.method() === "POST" && request.url().endsWith("/moves") ? 1 : 0));
  // In one task, before anything is stored or drawn again.
  await ana.page.evaluate(() => {
    for (const pit of ["A", "B"]) document.querySelector<HTMLElement>(`[data-pit="${pit}"]`)?.click();
  });
  await eventually("the move is shown", async () => (await ply(ana)) === "1");
  await eventually("it is confirmed", async () => (await ana.presence().getAttribute("data-presence")) === "live");
  assert.equal(sent, 1);
  await ana.leave();
});

test("a move made offline survives a reload and is sent when the network is back", async () => {
  const relay = await Relay.open();
  const ana = await Person.arrive({ base: relay.base, expected: /Failed to load resource|net::ERR|ERR_INTERNET/ });
  // The browser knows that it is offline, and what it sends before it does so arrives nowhere.
  const goOffline = async () => {
    relay.cut();
    await ana.context.setOffline(true);
  };
  const goOnline = async () => {
    relay.mend();
    await ana.context.setOffline(false);
  };
  const id = await ana.begin("Two players on this device", "Ana");
  await ana.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await ana.page.reload();
  await eventually("the worker serves the page", () => ana.page.evaluate(() => navigator.serviceWorker.controller !== null));
  await ana.page.locator("[data-ply]").waitFor();
  await goOffline();
  await ana.page.locator('[data-pit="B"]').click();
  const presence = () => ana.presence().getAttribute("data-presence");
  await becomes(presence, "queued");
  await ana.page.reload();
  await ana.page.locator("[data-ply]").waitFor();
  await becomes(presence, "queued", "it is still queued");
  await ana.screenshot("offline");
  await ana.isAccessible("a game without a network");
  assert.equal((await call<{ ply: number }>("GET", `/v1/games/${id}`, null)).ply, 0);
  await goOnline();
  await eventually("it is played", async () => (await ply(ana)) === "1");
  await becomes(presence, "live", "it is confirmed");
  assert.equal((await call<{ ply: number }>("GET", `/v1/games/${id}`, null)).ply, 1);
  // The page opens without a network with the last state.
  await goOffline();
  await ana.open("/");
  await ana.page.getByText("Two players, one device").waitFor();
  await ana.leave();
  relay.close();
});

test("a clock runs on without a network, also after a reload and on a device whose own clock is slow", async () => {
  const relay = await Relay.open();
  const ana = await Person.arrive({ base: relay.base, expected: /Failed to load resource|net::ERR|ERR_INTERNET/ });
  await ana.context.addInitScript(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() - 600_000;
  });
  await ana.begin("Two players on this device", "Ana");
  const wish = { variant: "kalah", side: "south", opponent: { type: "link" }, clock: { type: "bank", bank_s: 600, increment_s: 5 } };
  const { id, join_code } = await call<{ id: string; join_code: string }>("POST", "/v1/games", await ana.token(), wish);
  await call("POST", `/v1/games/${id}/join`, (await guest("Bo")).token, { join_code });
  await ana.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await ana.open(`/games/${id}`);
  await eventually("the worker serves the page", () => ana.page.evaluate(() => navigator.serviceWorker.controller !== null));
  const left = async () => {
    const [minutes, seconds] = ((await ana.page.locator(css("{game.seat}"), { hasText: "Ana" }).locator('[role="timer"]').textContent()) ?? "")
      .split(":")
      .map(Number);
    return (minutes ?? NaN) * 60 + (seconds ?? NaN);
  };
  await eventually("the clock is the server's", async () => (await left()) < 600);
  // What the move does is known before it is made, so that it is shown without the server.
  await ana.page.locator('[data-pit="B"]').hover();
  await eventually("the preview is there", async () => /ends in/.test((await ana.page.locator("[data-status]").textContent()) ?? ""));
  relay.cut();
  await ana.context.setOffline(true);
  await ana.page.locator('[data-pit="B"]').click();
  await becomes(() => ply(ana), "1");
  await becomes(() => ana.presence().getAttribute("data-presence"), "queued");
  const before = await left();
  await eventually("a move that waits stops no clock", async () => (await left()) < before);
  await ana.page.reload();
  await ana.page.locator("[data-ply]").waitFor();
  const after = await left();
  assert.ok(after <= before, `${before} s before, ${after} s after the reload`);
  await ana.leave();
  relay.close();
});

test("a reload in the middle shows what happened meanwhile", async () => {
  const ana = await Person.arrive({ settings: { speed: "normal" } });
  const id = await ana.begin("Invite a friend", "Ana");
  const code = (await ana.page.getByRole("textbox", { name: "Invitation link" }).inputValue()).split("#join=")[1];
  const bo = await guest("Bo");
  const joined = await call<{ turn: string; seats: Record<string, { id: string }> }>("POST", `/v1/games/${id}/join`, bo.token, { join_code: code });
  const isBo = joined.seats["south"]?.id === bo.id;
  if (!isBo) {
    await ana.page.locator('[data-pit="A"][aria-disabled="false"]').click();
    await eventually("the move is confirmed", async () => (await ply(ana)) === "1");
  } else await eventually("the game has begun", async () => (await ana.status()) === "active");
  await ana.page.goto(`${BASE}/`);
  const next = isBo ? 1 : 2;
  await call("POST", `/v1/games/${id}/moves`, bo.token, { ply: next, move: isBo ? "A" : "b" });
  await ana.page.locator('[aria-labelledby="turns-title"] a').first().click();
  // It was seen at the ply before: the move is played back.
  await ana.seesMoving();
  await eventually("the board has caught up", async () => (await ply(ana)) === String(next));
  await eventually("the move is told", async () => /Bo.*sows 4 seeds/.test((await ana.page.locator(css("{game.news}")).textContent()) ?? ""));
  await ana.page.reload();
  await eventually("the board is the same", async () => (await ply(ana)) === String(next));
  await ana.leave();
});

test("two tabs that move at once play one move, and both show it", async () => {
  const ana = await Person.arrive({ expected: /409/ });
  const id = await ana.begin("Two players on this device", "Ana");
  const other = await ana.context.newPage();
  await other.goto(`${BASE}/games/${id}`);
  await other.locator('[data-pit="D"][aria-disabled="false"]').waitFor();
  // No move arrives before both tabs have moved. One that has heard of the other's move by then has nothing to play.
  let release: () => void = () => undefined;
  const moved = new Promise<void>((resolve) => (release = resolve));
  await ana.context.route("**/moves", (route) => moved.then(() => route.fallback()));
  await Promise.all([ana.page.locator('[data-pit="A"]').dispatchEvent("click"), other.locator('[data-pit="D"]').dispatchEvent("click")]);
  release();
  const shown = (page: Person["page"]) => page.locator(css("{board.count}")).allTextContents();
  const settled = async (page: Person["page"]) =>
    (await page.locator("[data-ply]").getAttribute("data-ply")) === "1" && (await page.locator("[data-presence]").getAttribute("data-presence")) === "live";
  await eventually("both tabs have settled", async () => (await settled(ana.page)) && (await settled(other)));
  await eventually("both show the same", async () => String(await shown(ana.page)) === String(await shown(other)));
  assert.equal((await call<{ ply: number }>("GET", `/v1/games/${id}`, null)).ply, 1);
  await ana.leave();
});

for (const status of [500, 503]) {
  test(`a server that answers ${status} is waited for`, async () => {
    // What a service worker lets through may pass the route by.
    const ana = await Person.arrive({ expected: /Failed to load resource/, serviceWorkers: "block" });
    await ana.begin("Two players on this device", "Ana");
    let [failing, refused] = [true, 0];
    await ana.context.route("**/v1/games/**", (route) => {
      if (failing) refused += 1;
      return failing
        ? route.fulfill({
            status,
            contentType: "application/problem+json",
            headers: { "retry-after": "1" },
            body: JSON.stringify({ code: status === 500 ? "internal" : "unavailable", status, title: "", detail: "", type: "", request_id: "r" }),
          })
        : route.fallback();
    });
    const pit = ana.page.locator('[data-pit="A"]');
    await eventually("the move is refused", async () => {
      if (refused === 0 && (await pit.getAttribute("aria-disabled")) === "false") await pit.click();
      return refused > 0;
    });
    await ana.page.getByText("The server has a problem").waitFor();
    await ana.isAccessible("a failing server");
    failing = false;
    await eventually("the move is played", async () => (await ply(ana)) === "1" && (await ana.presence().getAttribute("data-presence")) === "live");
    await ana.leave();
  });
}

test("a token that was revoked meanwhile ends in a message, and the page goes on", async () => {
  const ana = await Person.arrive({ expected: /401/ });
  await ana.begin("Two players on this device", "Ana");
  const back = ana.page.url();
  await ana.open("/account");
  const code = await ana.page.locator(css("{account.code}")).textContent();
  // Another device with the recovery code sets a password, which voids all tokens before.
  const other = await call<{ access_token: string }>("POST", "/v1/tokens", null, { grant_type: "recovery_code", recovery_code: code });
  await call("PATCH", "/v1/me", other.access_token, { name: `Ana${Date.now() % 1e9}`, password: "correct horse 7 battery" });
  await ana.page.goto(back);
  await ana.hears("You were signed out");
  await eventually("the game is watched", async () => (await ana.status()) === "active" && (await ana.legal().count()) === 0);
  await ana.open("/account");
  await ana.page.getByRole("heading", { name: "Play as a guest" }).waitFor();
  await ana.leave();
});

test("what an older release or a stranger has stored does no harm", async () => {
  for (const junk of ["{", "null", "[]", '{"speed":"warp","level":99,"theme":7}', '"x"']) {
    const ana = await Person.arrive({
      stored: { "mancala.settings": junk, "mancala.kept.0.games": "[]", "mancala.kept.1.value.mine": junk, "mancala.kept.1.value.variants": junk },
    });
    await ana.open("/");
    await ana.button("Play the computer").waitFor();
    assert.equal(await ana.page.evaluate(() => localStorage.getItem("mancala.kept.0.games")), null);
    await ana.leave();
  }
});
