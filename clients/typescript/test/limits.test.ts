// What React Native lacks is not needed: no streams, channels, Web Locks or localStorage, and an asynchronous storage.

import assert from "node:assert/strict";
import test from "node:test";
import { MemoryStorage } from "@mancala-server/client";
import { Network, random } from "./support/network.js";
import { baseUrl, begin, guest, playOn, QUICK, until } from "./support/server.js";

// This file has a process of its own. Node loads its fetch when it is first used, and with all that it needs.
void new Response();
const world = globalThis as Record<string, unknown>;
for (const name of ["BroadcastChannel", "localStorage", "TextDecoder"]) delete world[name];
Object.defineProperty(world, "crypto", { value: undefined });
Object.defineProperty(world, "navigator", { value: { product: "ReactNative" } });
Object.defineProperty(world, "addEventListener", { value: undefined });
delete (Response.prototype as { body?: unknown }).body;
// Its polyfill of signals knows neither of these.
for (const name of ["throwIfAborted", "reason"]) delete (AbortSignal.prototype as unknown as Record<string, unknown>)[name];
delete (AbortSignal as { any?: unknown }).any;

test("a client works with what React Native has", async (context) => {
  const network = await Network.open({ loss: 0.2, seed: 8 });
  context.after(() => network.close());
  const kept = new MemoryStorage();
  const storage = {
    getItem: async (key: string) => kept.getItem(key),
    setItem: async (key: string, value: string) => kept.setItem(key, value),
    removeItem: async (key: string) => kept.removeItem(key),
  };
  const bo = await guest(baseUrl, "Bo");
  // Without secure random numbers a guest is asked for only once, so that none is left behind.
  network.loss = 0;
  const ana = await guest(network.url, "Ana", { storage });
  network.loss = 0.2;
  context.after(() => ana.close());
  const game = await begin(ana, bo, { variant: "kalah", options: { pits: 3, seeds: 3 } });
  const events: number[] = [];
  const controller = new AbortController();
  const following = ana.follow(game.id, ({ seq }) => void events.push(seq), { signal: controller.signal });
  const all: string[] = [];
  const following2 = ana.followAll(({ type }) => void all.push(type), { signal: controller.signal, onOpen: () => all.push("open") });
  await until(() => all[0] === "open", "the feed is open");
  const [move = ""] = game.legal_moves;
  await ana.queue.add(game.id, { ply: 1, move });
  await until(() => ana.queue.pending().length === 0, "the move is sent");
  const finished = await playOn(await ana.games.get(game.id), [ana, bo], random(3));
  await until(() => events.at(-1) === finished.version, "all events have come");
  assert.deepEqual(
    events,
    events.map((_, n) => n + 1),
  );
  await until(() => all.includes("finished"), "the feed of all games has come to the end");
  assert.ok(
    network.seen.every(({ path }) => !/\/events$/.test(path)),
    "no stream was tried",
  );
  controller.abort();
  await following;
  await following2;
  await assert.rejects(ana.games.summary({ signal: controller.signal, retry: QUICK }), { name: "AbortError" });
});
