// In Chromium: pages of one browser share the session, its renewal, the stream and the queue. The API is of another origin.
//
// CHROMIUM names the program, where it is not /usr/bin/chromium.

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import test, { after, before } from "node:test";
import type * as Sdk from "@mancala-server/client";
import { build } from "esbuild";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { Network } from "./support/network.js";
import { alone, baseUrl, guest, until } from "./support/server.js";

/** What a page has in its window. */
interface Window {
  sdk: typeof Sdk;
  client: Sdk.Client;
  /** Added to the time of the page. */
  offset: number;
  events: string[];
  opens: number;
}
declare const window: Window;

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let browser: Browser;
let pages: Server;
let address: string;

before(async () => {
  const { outputFiles } = await build({ entryPoints: ["dist/index.js"], bundle: true, minify: true, format: "esm", write: false });
  const script = outputFiles[0]?.text ?? "";
  pages = createServer((request, response) => {
    const isScript = request.url === "/client.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : '<!doctype html><script type="module">window.sdk = await import("/client.js");</script>');
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: FLAGS });
});

after(async () => {
  await browser?.close();
  pages?.close();
});

async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error(error));
  await loadClient(page, url);
  return page;
}

async function loadClient(page: Page, url: string): Promise<void> {
  await page.goto(address);
  await page.waitForFunction(() => window.sdk !== undefined);
  await page.evaluate((baseUrl) => {
    window.offset = 0;
    const retry = { attempts: 3, baseMs: 20, maxMs: 200 };
    window.client = window.sdk.createClient({ baseUrl, retry, now: () => Date.now() + window.offset });
    return window.client.ready;
  }, url);
}

async function setting(context: { after(work: () => unknown): void }) {
  const network = await Network.open();
  const shared = await browser.newContext();
  context.after(async () => {
    await shared.close();
    network.close();
  });
  return { network, shared, one: await openPage(shared, network.url), other: await openPage(shared, network.url) };
}

test("in Chromium two pages share a guest, one renewal and one stream", async (context) => {
  const { network, one, other } = await setting(context);
  const ids = await Promise.all([one, other].map((page) => page.evaluate(async () => (await window.client.session.guest("Ana")).id)));
  assert.equal(ids[0], ids[1]);
  assert.equal(network.count("POST", /^\/v1\/players$/), 1);
  // The token of both pages expires, again and again. A page sees what the other one has stored a moment later.
  const rounds = 8;
  for (let round = 1; round <= rounds; round += 1) {
    for (const page of [one, other]) await page.evaluate((round) => void (window.offset = round * 3_600_000), round);
    await Promise.all([one, other].map((page) => page.evaluate(() => window.client.games.summary())));
  }
  assert.equal(network.count("POST", /^\/v1\/tokens$/), rounds, "one renewal for both pages in each round");
  for (const page of [one, other]) {
    await page.evaluate(() => {
      window.events = [];
      window.opens = 0;
      void window.client.followAll((event) => void window.events.push(event.game_id), { onOpen: () => void (window.opens += 1) });
    });
  }
  for (const page of [one, other]) await page.waitForFunction(() => window.opens === 1);
  assert.equal(network.streams.size, 1);
  const bo = await guest(baseUrl, "Bo");
  const invite = () => bo.games.create({ variant: "kalah", opponent: { type: "player", player_id: ids[0] ?? "" } });
  const first = await invite();
  for (const page of [one, other]) await page.waitForFunction(() => window.events.length === 1);
  // The page that reads is closed, and the other goes on where it was.
  await one.close();
  const second = await invite();
  await other.waitForFunction(() => window.events.length === 2);
  assert.deepEqual(await other.evaluate(() => window.events), [first.id, second.id]);
  assert.ok(network.count("GET", /^\/v1\/me\/events/) <= 2);
});

test("in Chromium a reload keeps the session and the queue", async (context) => {
  const { network, shared, one } = await setting(context);
  await one.evaluate(() => window.client.session.guest("Ana"));
  const bo = await guest(baseUrl, "Bo");
  const id = await one.evaluate(async () => (await window.client.games.create({ variant: "kalah", side: "south" })).id);
  await bo.games.join(id);
  network.isDown = true;
  await one.evaluate((id) => window.client.queue.add(id, { ply: 1, move: "E" }), id);
  await one.evaluate(() => window.client.queue.flush().catch(() => {}));
  assert.equal(await one.evaluate(() => window.client.queue.pending().length), 1);
  await loadClient(one, network.url);
  assert.equal(await one.evaluate(() => window.client.session.current()?.player.name), "Ana");
  assert.equal(await one.evaluate(() => window.client.queue.pending().length), 1, "the move has survived");
  network.isDown = false;
  // The browser says that the network is back.
  await shared.setOffline(true);
  await shared.setOffline(false);
  await one.waitForFunction(() => window.client.queue.pending().length === 0);
  assert.equal((await bo.games.get(id)).ply, 1);
});

test("in Chromium two pages lose no move that they queue together", async (context) => {
  const { network, one, other } = await setting(context);
  await Promise.all([one, other].map((page) => page.evaluate(() => window.client.session.guest("Ana"))));
  network.isDown = true;
  const add = (page: Page, name: string) =>
    page.evaluate(async (name) => {
      for (let n = 1; n <= 10; n += 1) await window.client.queue.add(`${name}-${n}`, { ply: 1, move: "A" });
    }, name);
  await Promise.all([add(one, "one"), add(other, "other")]);
  for (const page of [one, other]) await page.waitForFunction(() => window.client.queue.pending().length === 20);
});

test("in Chromium a game is followed by a stream with its token in a header", async (context) => {
  const { network, one } = await setting(context);
  const eva = alone(baseUrl);
  await eva.session.guest("Eva");
  await one.evaluate(() => window.client.session.guest("Ana"));
  const { id, version } = await one.evaluate(() =>
    window.client.games.create({ variant: "kalah", side: "south", visibility: "private", opponent: { type: "link" } }),
  );
  const joinCode = await one.evaluate(async (id) => (await window.client.games.get(id)).join_code, id);
  await one.evaluate(
    ({ id, after }) => {
      window.events = [];
      void window.client.follow(id, ({ type }) => void window.events.push(type), { after });
    },
    { id, after: version },
  );
  await until(() => network.streams.size === 1, "the stream is open");
  await eva.games.join(id, { joinCode });
  await one.evaluate((id) => window.client.games.play(id, { ply: 1, move: "E" }), id);
  await eva.games.resign(id);
  await one.waitForFunction(() => window.events.includes("finished"));
  assert.deepEqual(await one.evaluate(() => window.events), ["joined", "moved", "resigned", "finished"]);
});
