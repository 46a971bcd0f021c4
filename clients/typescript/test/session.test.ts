// Signing in, staying signed in, and one renewal for all tabs.

import assert from "node:assert/strict";
import test from "node:test";
import { type Client, type MancalaError, MemoryStorage, type SessionInfo } from "@mancala-server/client";
import { Network } from "./support/network.js";
import { alone, Browser, baseUrl, begin, failureOf, guest, until } from "./support/server.js";

const PASSWORD = "a long enough passphrase";
const HOUR_MS = 3_600_000;
const unique = (name: string) => `${name} ${Math.random().toString(36).slice(2, 10)}`;

/** A network that closes with the test. */
async function networkOf(context: { after(work: () => void): void }, options = {}): Promise<Network> {
  const network = await Network.open(options);
  context.after(() => network.close());
  return network;
}

test("five tabs whose token has expired renew it once", async (context) => {
  const network = await networkOf(context);
  const browser = new Browser();
  const first = browser.tab(network.url);
  await first.session.guest("Ana");
  let offset = 0;
  const tabs = [1, 2, 3, 4, 5].map(() => browser.tab(network.url, { now: () => Date.now() + offset }));
  offset = HOUR_MS;
  const summaries = await Promise.all(tabs.flatMap((tab) => [tab.games.summary(), tab.games.summary()]));
  assert.equal(summaries.length, 10);
  assert.equal(network.count("POST", /^\/v1\/tokens$/), 1);
  const tokens = new Set(await Promise.all(tabs.map((tab) => tab.session.token())));
  assert.equal(tokens.size, 1, "all tabs have the same token");
  for (const tab of [first, ...tabs]) tab.close();
});

test("five tabs whose token is refused renew it once", async (context) => {
  const network = await networkOf(context);
  const browser = new Browser();
  const tabs = [1, 2, 3, 4, 5].map(() => browser.tab(network.url));
  await tabs[0]?.session.guest("Ana");
  // All tabs hold the first token. The server refuses it, as after its keys were changed.
  const refused = new Set<string>();
  network.intercept = (method, path) => {
    if (path !== "/v1/me/summary" || network.count("POST", /^\/v1\/tokens$/) > 0) return undefined;
    refused.add(method);
    return { status: 401, body: JSON.stringify({ code: "invalid_token", detail: "expired" }) };
  };
  await until(() => tabs.every((tab) => tab.session.current() !== null), "all tabs know the session");
  await Promise.all(tabs.map((tab) => tab.games.summary()));
  assert.equal(network.count("POST", /^\/v1\/tokens$/), 1);
  assert.equal(refused.size, 1);
  for (const tab of tabs) tab.close();
});

test("a refused call is not sent again as another player", async (context) => {
  const network = await networkOf(context);
  const bo = unique("Bo");
  await alone(network.url).session.register(bo, PASSWORD);
  let asked = 0;
  const client = alone(network.url, {
    fetch: async (request) => {
      if (!request.url.endsWith("/v1/me/summary")) return fetch(request);
      asked += 1;
      if (asked > 1) return fetch(request);
      // Another player has signed in before the answer comes.
      await client.session.signIn(bo, PASSWORD);
      return Response.json({ code: "invalid_token", detail: "expired" }, { status: 401 });
    },
  });
  await client.session.guest("Ana");
  assert.equal((await failureOf(client.games.summary())).code, "invalid_token");
  assert.equal(asked, 1);
  assert.equal(client.session.current()?.player.name, bo);
});

test("tabs that begin together become one guest", async (context) => {
  const network = await networkOf(context);
  const browser = new Browser();
  const tabs = [1, 2, 3].map(() => browser.tab(network.url));
  const players = await Promise.all(tabs.map((tab) => tab.session.guest("Ana")));
  assert.equal(new Set(players.map(({ id }) => id)).size, 1);
  assert.equal(network.count("POST", /^\/v1\/players$/), 1);
  for (const tab of tabs) tab.close();
});

test("a guest whose answer was lost is the same after a reload", async (context) => {
  const network = await networkOf(context);
  const storage = new MemoryStorage();
  const ids = new Set<string>();
  // The server acts, and the page is gone before the answer comes.
  network.loss = 1;
  const before = alone(network.url, { storage, channel: null, retry: { attempts: 6, baseMs: 1, maxMs: 5 } });
  assert.equal((await failureOf(before.session.guest("Ana"))).code, "no_answer");
  assert.ok(network.fates().unanswered + network.fates().cut > 0, "the server has made a guest");
  network.loss = 0;
  const sent: string[] = [];
  const after = alone(network.url, {
    storage,
    channel: null,
    fetch: (request) => {
      sent.push(request.headers.get("Idempotency-Key") ?? "");
      return fetch(request);
    },
  });
  ids.add((await after.session.guest("Ana")).id);
  assert.equal(ids.size, 1);
  assert.match(sent[0] ?? "", /^[0-9a-f-]{36}$/);
  assert.match(after.session.recoveryCode() ?? "", /^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/);
  assert.equal(storage.getItem(`mancala:${network.url}:pending-guest`), null, "the key is not used again");
});

test("a lost answer to a renewal is asked for again", async (context) => {
  const network = await networkOf(context);
  let offset = 0;
  const ana = await guest(network.url, "Ana", { now: () => Date.now() + offset });
  network.loss = 0.5;
  for (let round = 1; round <= 12; round += 1) {
    offset += HOUR_MS;
    assert.ok(await ana.session.token());
  }
  network.loss = 0;
  assert.ok(network.fates().unanswered + network.fates().cut > 0, "answers were lost");
  assert.equal((await ana.games.summary()).active, 0);
});

test("other tabs hear of signing in, of a new name and of signing out", async () => {
  const browser = new Browser();
  const [one, other] = [browser.tab(baseUrl), browser.tab(baseUrl)];
  const heard: (string | null)[] = [];
  other.session.onChange((session) => heard.push(session?.player.name ?? null));
  await one.session.guest("Ana");
  await until(() => heard.length === 1, "the guest");
  await one.session.rename("Anna");
  await until(() => heard.length === 2, "the name");
  await one.session.signOut();
  await until(() => heard.length === 3, "the end");
  assert.deepEqual(heard, ["Ana", "Anna", null]);
  assert.equal(other.session.current(), null);
  assert.equal((await failureOf(other.games.summary())).code, "unauthenticated");
  one.close();
  other.close();
});

test("a guest becomes an account and keeps its games", async () => {
  const [ana, bo] = [await guest(baseUrl, "Ana"), await guest(baseUrl, "Bo")];
  const { id } = await begin(ana, bo, { variant: "kalah" });
  const before = ana.session.current()?.player.id;
  const player = await ana.session.register(unique("Ana"), PASSWORD);
  assert.deepEqual([player.id, player.kind], [before, "account"]);
  await ana.games.play(id, { ply: 1, move: "A" });
});

test("an account whose answers are lost is registered once", async (context) => {
  const network = await networkOf(context, { loss: 0.5, seed: 7 });
  for (const name of ["Ana", "Bo", "Eva", "Ida"].map(unique)) {
    const client = alone(network.url);
    const { id } = await client.session.guest(name);
    const player = await client.session.register(name, PASSWORD);
    assert.deepEqual([player.id, player.kind], [id, "account"]);
    assert.equal((await client.games.summary()).active, 0);
  }
  const { unanswered, cut } = network.fates();
  assert.ok(unanswered + cut > 0, "answers were lost");
});

test("signing in keeps the guest, and merging takes its games along", async () => {
  const name = unique("Ana");
  await alone(baseUrl).session.register(name, PASSWORD);
  const [device, bo] = [await guest(baseUrl, "Ana"), await guest(baseUrl, "Bo")];
  const { id } = await begin(device, bo, { variant: "kalah" });
  const account = await device.session.signIn(name, PASSWORD);
  assert.equal(account.kind, "account");
  assert.equal(device.session.keptGuest()?.kind, "guest");
  await device.session.merge();
  assert.equal(device.session.keptGuest(), null);
  assert.equal((await device.games.get(id)).seats.south?.id, account.id);
  assert.equal((await failureOf(device.session.merge())).code, "unauthenticated");
});

test("a recovery code makes another device the same guest", async () => {
  const ana = await guest(baseUrl, "Ana");
  const code = ana.session.recoveryCode() ?? "";
  const phone = alone(baseUrl);
  assert.equal((await phone.session.recover(code)).id, ana.session.current()?.player.id);
  const renewed = await phone.session.renewRecoveryCode();
  assert.equal(phone.session.recoveryCode(), renewed);
  assert.equal((await failureOf(alone(baseUrl).session.recover(code))).code, "invalid_credentials");
  await phone.session.forgetRecoveryCode();
  assert.equal(phone.session.recoveryCode(), null);
});

test("a new password signs out other devices, and says so", async () => {
  const name = unique("Ana");
  const [phone, tablet] = [alone(baseUrl), alone(baseUrl)];
  await phone.session.register(name, PASSWORD);
  await tablet.session.signIn(name, PASSWORD);
  await phone.session.changePassword(`${PASSWORD} 2`);
  assert.equal((await phone.games.summary()).active, 0);
  const causes: (MancalaError | undefined)[] = [];
  tablet.session.onChange((session, cause) => session === null && causes.push(cause));
  // The server refuses the old token within a second.
  await untilRefused(tablet);
  assert.equal(causes.length, 1);
  assert.equal(causes[0]?.failure.code, "invalid_token");
  assert.equal(tablet.session.current(), null);
  await phone.session.signOut({ everywhere: true });
  assert.equal(phone.session.current(), null);
});

test("a refresh token that was used twice ends the session", async () => {
  const storage = new MemoryStorage();
  const name = unique("Ana");
  let offset = 0;
  const now = () => Date.now() + offset;
  const ana = alone(baseUrl, { storage, channel: null, now });
  await ana.session.register(name, PASSWORD);
  const key = `mancala:${baseUrl}:session`;
  const stolen = storage.getItem(key) ?? "";
  for (let round = 1; round <= 2; round += 1) {
    offset += HOUR_MS;
    await ana.session.token();
  }
  storage.setItem(key, stolen);
  const thief = alone(baseUrl, { storage, channel: null, now });
  const causes: (string | undefined)[] = [];
  thief.session.onChange((_: SessionInfo | null, cause) => causes.push(cause?.failure.code));
  assert.equal(await thief.session.token(), null);
  assert.deepEqual(causes, ["refresh_token_reused"]);
});

test("a storage that answers later, or refuses to write, serves too", async () => {
  const kept = new MemoryStorage();
  const later = {
    getItem: async (key: string) => kept.getItem(key),
    setItem: async (key: string, value: string) => kept.setItem(key, value),
    removeItem: async (key: string) => kept.removeItem(key),
  };
  const before = await guest(baseUrl, "Ana", { storage: later, channel: null });
  const after = alone(baseUrl, { storage: later, channel: null });
  assert.equal(after.session.current(), null);
  await after.ready;
  assert.deepEqual(after.session.current(), before.session.current());
  const full = { getItem: () => null, removeItem: () => {}, setItem: () => assert.fail("the quota is exceeded") };
  let offset = 0;
  const unstored = await guest(baseUrl, "Bo", { storage: full, channel: null, now: () => Date.now() + offset });
  offset = HOUR_MS;
  assert.equal((await unstored.games.summary()).active, 0);
});

async function untilRefused(client: Client): Promise<void> {
  for (const begun = Date.now(); Date.now() - begun < 10_000; ) {
    const failure = await client.games.summary().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail("the old token is not refused");
}
