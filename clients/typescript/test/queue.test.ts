// Moves that are made offline: kept over a reload, sent once, and never dropped silently.

import assert from "node:assert/strict";
import test from "node:test";
import { type Client, MemoryStorage, type QueueEvent } from "@mancala-server/client";
import { Network } from "./support/network.js";
import { alone, Browser, baseUrl, begin, failureOf, guest, QUICK, until } from "./support/server.js";

const GAME = { variant: "kalah", options: { pits: 6, seeds: 4 } };
const OFFLINE = { ...QUICK, attempts: 2, maxMs: 100 };

interface Setting {
  network: Network;
  storage: MemoryStorage;
  ana: Client;
  bo: Client;
  goOnline(): void;
}

/** Ana's network can be down, and says when it is back. */
async function setting(context: { after(work: () => void): void }): Promise<Setting> {
  const network = await Network.open();
  const storage = new MemoryStorage();
  const callbacks = new Set<() => void>();
  const online = (callback: () => void) => {
    callbacks.add(callback);
    return () => callbacks.delete(callback);
  };
  const ana = alone(network.url, { storage, channel: null, online, retry: OFFLINE });
  context.after(() => {
    ana.close();
    network.close();
  });
  await ana.session.guest("Ana");
  const goOnline = () => {
    network.isDown = false;
    for (const callback of [...callbacks]) callback();
  };
  return { network, storage, ana, bo: await guest(baseUrl, "Bo"), goOnline };
}

test("moves made offline survive a reload and are sent in order", async (context) => {
  const { network, storage, ana, bo } = await setting(context);
  const [one, two] = [await begin(ana, bo, GAME), await begin(ana, bo, GAME)];
  network.isDown = true;
  await ana.queue.add(one.id, { ply: 1, move: "C" });
  await ana.queue.add(one.id, { ply: 2, move: "D" });
  await ana.queue.add(two.id, { ply: 1, moves: ["C", "F"] });
  assert.equal((await failureOf(ana.queue.flush())).code, "no_answer");
  assert.deepEqual(
    ana.queue.pending(one.id).map(({ play }) => play.ply),
    [1, 2],
  );
  // The page is closed, and opened again where there is a network.
  ana.close();
  network.isDown = false;
  const again = alone(network.url, { storage, channel: null });
  context.after(() => again.close());
  assert.equal(again.queue.pending().length, 3);
  const played: number[] = [];
  again.queue.onChange((event) => event.type === "played" && played.push(event.played.move.ply));
  await until(() => again.queue.pending().length === 0, "all moves are sent");
  assert.deepEqual(played, [1, 2, 2]);
  assert.deepEqual([(await bo.games.get(one.id)).ply, (await bo.games.get(two.id)).ply], [2, 2]);
});

test("what waits is sent when the network is back", async (context) => {
  const { network, ana, bo, goOnline } = await setting(context);
  const game = await begin(ana, bo, GAME);
  network.isDown = true;
  await ana.queue.add(game.id, { ply: 1, move: "A" });
  await ana.queue.flush().catch(() => {});
  goOnline();
  await until(() => ana.queue.pending().length === 0, "the move is sent");
  assert.equal((await bo.games.get(game.id)).ply, 1);
});

test("what waits is tried again without a notice of the network", async (context) => {
  const { network, ana, bo } = await setting(context);
  const game = await begin(ana, bo, GAME);
  network.isDown = true;
  await ana.queue.add(game.id, { ply: 1, move: "A" });
  await ana.queue.flush().catch(() => {});
  network.isDown = false;
  await until(() => ana.queue.pending().length === 0, "the move is sent");
});

test("a move whose answer was lost before a reload is played once", async (context) => {
  const { network, storage, ana, bo } = await setting(context);
  const game = await begin(ana, bo, GAME);
  network.next.push("unanswered", "cut");
  await ana.queue.add(game.id, { ply: 1, move: "A" });
  await ana.queue.flush().catch(() => {});
  ana.close();
  const again = alone(network.url, { storage, channel: null });
  context.after(() => again.close());
  await until(() => again.queue.pending().length === 0, "the move is acknowledged");
  assert.deepEqual([(await bo.games.get(game.id)).ply, again.queue.refused().length], [1, 0]);
});

test("a conflict is reported, and stays until it is dismissed", async (context) => {
  const { network, storage, ana, bo } = await setting(context);
  const [game, other] = [await begin(ana, bo, GAME), await begin(ana, bo, GAME)];
  const tablet = alone(baseUrl);
  await tablet.session.recover(ana.session.recoveryCode() ?? "");
  await tablet.games.play(game.id, { ply: 1, move: "B" });
  await bo.games.play(game.id, { ply: 2, move: "a" });
  network.isDown = true;
  await ana.queue.add(game.id, { ply: 1, move: "C" });
  await ana.queue.add(game.id, { ply: 2, move: "D" });
  await ana.queue.add(other.id, { ply: 1, move: "A" });
  await ana.queue.flush().catch(() => {});
  const events: QueueEvent[] = [];
  ana.queue.onChange((event) => events.push(event));
  network.isDown = false;
  await ana.queue.flush();
  assert.equal(ana.queue.pending().length, 0);
  const refusals = events.flatMap((event) => (event.type === "refused" ? event.moves : []));
  assert.deepEqual(
    refusals.map(({ play }) => play.ply),
    [1, 2],
    "with the move falls what followed it",
  );
  assert.equal((await bo.games.get(other.id)).ply, 1, "other games are not affected");
  // Also a page that was not open when it happened learns of it.
  const again = alone(network.url, { storage, channel: null });
  const [first, second] = again.queue.refused(game.id);
  assert.ok(first && second && first.failure.code === "stale_ply");
  assert.deepEqual(
    first.failure.moves.map(({ move }) => move),
    ["B", "a"],
  );
  assert.equal(first.failure.game?.ply, 2);
  await again.queue.dismiss(first.id);
  await again.queue.dismiss(second.id);
  assert.equal(alone(network.url, { storage, channel: null }).queue.refused().length, 0);
});

test("moves wait for their player", async (context) => {
  const { network, ana, bo } = await setting(context);
  const game = await begin(ana, bo, GAME);
  const code = ana.session.recoveryCode() ?? "";
  network.isDown = true;
  await ana.queue.add(game.id, { ply: 1, move: "A" });
  await ana.queue.flush().catch(() => {});
  await ana.session.signOut({ retry: { attempts: 1 } });
  network.isDown = false;
  await assert.rejects(ana.queue.add(game.id, { ply: 2, move: "A" }), { name: "MancalaError" });
  await ana.session.guest("Eva");
  await ana.queue.flush();
  assert.equal(ana.queue.pending().length, 1, "another player does not send it");
  await ana.session.recover(code);
  await until(() => ana.queue.pending().length === 0, "its player sends it");
});

test("several tabs send each move once", async (context) => {
  const { network, ana, bo } = await setting(context);
  const browser = new Browser();
  const tabs = [1, 2, 3].map(() => browser.tab(network.url, { retry: OFFLINE }));
  context.after(() => tabs.forEach((tab) => tab.close()));
  const [eva] = await Promise.all(tabs.map((tab) => tab.session.guest("Eva")));
  assert.ok(eva && tabs[0]);
  const { id } = await begin(tabs[0], bo, GAME);
  const before = network.count("POST", /\/moves$/);
  await Promise.all(tabs.map((tab, n) => (n === 0 ? tab.queue.add(id, { ply: 1, move: "A" }) : tab.queue.flush())));
  await Promise.all(tabs.map((tab) => tab.queue.flush()));
  await until(() => tabs.every((tab) => tab.queue.pending().length === 0), "all tabs know that it is sent");
  assert.equal(network.count("POST", /\/moves$/) - before, 1);
  assert.equal(ana.queue.pending().length, 0);
});

test("a storage that is full refuses the move to its face", async (context) => {
  const { network } = await setting(context);
  const storage = new MemoryStorage();
  const client = alone(network.url, { storage, channel: null });
  context.after(() => client.close());
  await client.session.guest("Ana");
  storage.setItem = () => assert.fail("the quota is exceeded");
  await assert.rejects(client.queue.add("0199", { ply: 1, move: "A" }), /full or blocked/);
  assert.equal(client.queue.pending().length, 0);
});
