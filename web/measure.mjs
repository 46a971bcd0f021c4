// Measures the page as a phone meets it: `.ci/with-server node web/measure.mjs`, after `npm ci` in web/ (CHROMIUM names the program).
//
// Usable means: the buttons for a game are there, and the page answers. Times are medians of RUNS, on the machine at hand, also as multiples of an empty
// page's in the same run. Bytes are those of a first visit, as the network carries them. It fails if bytes or shifts are over the budget.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const BASE = process.env.BASE_URL ?? assert.fail("BASE_URL is the address of a server");

const RUNS = Number(process.env.RUNS ?? 7);

/** What a first visit may cost: kB over the network, with what the API answers, and the sum of layout shifts. */
const BUDGET = { kB: 90, shifts: 0.02 };

/** After this time nothing more of a first visit arrives. */
const SETTLE_MS = 4000;

/** The slow 4G of Chromium's own tools: latency in ms, bytes per second. */
const PHONE = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** A phone that has never been here. */
async function device(options = {}) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: "en-GB", ...options });
  context.setDefaultTimeout(120_000);
  await context.addInitScript(() => {
    const look = () => {
      if (globalThis.usableAt !== undefined || !document.querySelector('[aria-labelledby="starts-title"] button')) return;
      observer.disconnect();
      globalThis.usableAt = 0;
      // After what the page does at once, a tap would be answered.
      requestAnimationFrame(() => setTimeout(() => (globalThis.usableAt = performance.now())));
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { childList: true, subtree: true });
  });
  const page = await context.newPage();
  return { context, page, tools: await context.newCDPSession(page) };
}

async function usableAt(page) {
  return (await page.waitForFunction(() => globalThis.usableAt || null)).jsonValue();
}

async function slow(tools, rate) {
  await tools.send("Network.enable");
  await tools.send("Network.emulateNetworkConditions", PHONE);
  await tools.send("Emulation.setCPUThrottlingRate", { rate });
}

/** How long an empty page takes. */
async function emptyTime(slowdown) {
  const { context, page, tools } = await device();
  await slow(tools, slowdown);
  await page.goto(`${BASE}/livez`);
  const empty = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now())))));
  await context.close();
  return empty;
}

/** What a first visit of an address costs, in bytes by kind, and how much moves in it. */
async function visit(path, viewport) {
  const { context, page, tools } = await device({ viewport, serviceWorkers: "block" });
  await slow(tools, 4);
  const kinds = new Map();
  const bytes = { files: 0, pictures: 0, calls: 0 };
  tools.on("Network.responseReceived", ({ requestId, response: { url } }) => {
    kinds.set(requestId, !url.includes("/v1/") ? "files" : /\.(svg|png)/.test(url) ? "pictures" : "calls");
  });
  tools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => (bytes[kinds.get(requestId) ?? "files"] += encodedDataLength));
  await context.addInitScript(() => {
    globalThis.shifts = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifts += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(BASE + path, { waitUntil: "load" });
  await page.getByRole("group", { name: "Board" }).waitFor();
  // A stream never ends, so the network is not idle in a game.
  await new Promise((done) => setTimeout(done, SETTLE_MS));
  const shifts = await page.evaluate(() => globalThis.shifts);
  await context.close();
  return { bytes, shifts };
}

/** A game that a visitor may watch. */
async function publicGame() {
  const call = async (path, token, body) => {
    const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
    return (await fetch(`${BASE}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  const { access_token } = await call("/players", null, { name: "Ana" });
  return (await call("/games", access_token, { variant: "kalah", side: "south", opponent: { type: "self" } })).id;
}

async function timesTo(slowdown) {
  const { context, page, tools } = await device();
  await slow(tools, slowdown);
  await page.goto(BASE, { waitUntil: "commit" });
  const cold = await usableAt(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.goto(`${BASE}/`, { waitUntil: "commit" });
  const warm = await usableAt(page);
  await context.close();
  return { cold, warm, empty: await emptyTime(slowdown) };
}

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

/** Requests of a kind, and the bytes of their answers as they went over the network. */
class Counter {
  requests = {};
  bytes = {};
  #kinds = new Map();

  watch(tools) {
    tools.on("Network.requestWillBeSent", ({ requestId, request: { method, url } }) => {
      const kind = method === "POST" && url.endsWith("/moves") ? "moves" : url.endsWith("/events") ? "streams" : url.includes("/v1/") ? "other calls" : "files";
      this.#kinds.set(requestId, kind);
      this.requests[kind] = (this.requests[kind] ?? 0) + 1;
    });
    tools.on("Network.responseReceived", ({ requestId, response }) => this.#add(requestId, response.encodedDataLength));
    tools.on("Network.dataReceived", ({ requestId, encodedDataLength }) => this.#add(requestId, encodedDataLength));
  }

  #add(requestId, bytes) {
    const kind = this.#kinds.get(requestId);
    if (kind !== undefined) this.bytes[kind] = (this.bytes[kind] ?? 0) + bytes;
  }
}

/** A whole game against the computer on level 1. The service worker would load the files a second time. */
async function playGame() {
  const { context, page, tools } = await device({ serviceWorkers: "block" });
  await tools.send("Network.enable");
  const counter = new Counter();
  counter.watch(tools);
  await context.addInitScript(() => localStorage.setItem("mancala.settings", '{"speed":"off","level":1}'));
  await page.goto(BASE);
  await page.getByRole("button", { name: "Play the computer" }).click();
  await page.getByRole("button", { name: "Start the game" }).click();
  await page.locator("[data-ply]").waitFor();
  const isOver = async () => (await page.locator("[data-status]").getAttribute("data-status")) === "finished";
  const legal = page.locator('[data-pit][aria-disabled="false"]');
  while (!(await isOver())) {
    // By the page's own event: a pit may become illegal while the pointer is on its way.
    await legal
      .first()
      .dispatchEvent("click", undefined, { timeout: 250 })
      .catch(() => undefined);
  }
  const moves = await page.locator("[data-ply]").getAttribute("data-ply");
  await context.close();
  return { moves, counter };
}

console.log(`slow 4G (${PHONE.latency} ms, 1.6 Mbit/s), median of ${RUNS}`);
for (const slowdown of [4, 6]) {
  const times = [];
  for (let run = 0; run < RUNS; run += 1) times.push(await timesTo(slowdown));
  const [cold, warm, empty] = ["cold", "warm", "empty"].map((kind) => Math.round(median(times.map((each) => each[kind]))));
  const ratio = median(times.map((each) => each.cold / each.empty)).toFixed(1);
  console.log(`CPU ${slowdown}× slower: usable after ${cold} ms cold, ${warm} ms warm; an empty page takes ${empty} ms, so cold is ${ratio} times that`);
}
const game = `/games/${await publicGame()}`;
for (const [name, path, viewport] of [
  ["home on a desk", "/", { width: 1280, height: 800 }],
  ["home on a phone", "/", { width: 390, height: 844 }],
  ["a game on a desk", game, { width: 1280, height: 800 }],
  ["a game on a phone", game, { width: 390, height: 844 }],
]) {
  const { bytes, shifts } = await visit(path, viewport);
  const kB = (bytes.files + bytes.pictures + bytes.calls) / 1000;
  const isOver = kB > BUDGET.kB || shifts > BUDGET.shifts;
  console.log(
    `${name}: ${kB.toFixed(1)} of ${BUDGET.kB} kB (${JSON.stringify(bytes)}), shifts ${shifts.toFixed(3)} of ${BUDGET.shifts}${isOver ? ": over the budget" : ""}`,
  );
  if (isOver) process.exitCode = 1;
}
const { moves, counter } = await playGame();
console.log(`a game against the computer of ${moves} plies, from the first view to the end:`);
for (const kind of Object.keys(counter.requests)) console.log(`${kind}: ${counter.requests[kind]} requests, ${counter.bytes[kind] ?? 0} bytes`);
await browser.close();
