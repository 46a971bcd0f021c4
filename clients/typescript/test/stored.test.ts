// What is stored may be of another release, or of a stranger: what cannot be read is dropped, and the client goes on.

import assert from "node:assert/strict";
import test from "node:test";
import { MemoryStorage } from "@mancala-server/client";
import { alone, baseUrl, begin, guest, QUICK, until } from "./support/server.js";

const JUNK = [null, 5, "x", [], {}, true];

/** Every form of a value in which one part, at any depth, is something else. */
function* spoiled(value: unknown): Generator<unknown> {
  yield* JUNK;
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const other of spoiled(part)) {
      const copy = structuredClone(value) as Record<string, unknown>;
      copy[key] = other;
      yield copy;
    }
    const without = structuredClone(value) as Record<string, unknown>;
    delete without[key];
    yield without;
  }
}

/** What a client has stored that is signed in, with a move that waits and one that was refused. */
async function stored(): Promise<[string, string][]> {
  const storage = new MemoryStorage();
  const texts = new Map<string, string>();
  const recording = {
    getItem: (key: string) => storage.getItem(key),
    setItem: (key: string, text: string) => {
      texts.set(key, text);
      storage.setItem(key, text);
    },
    removeItem: (key: string) => storage.removeItem(key),
  };
  const ana = await guest(baseUrl, "Ana", { storage: recording, channel: null });
  const game = await begin(ana, await guest(baseUrl, "Bo"), { variant: "kalah" });
  await ana.queue.add(game.id, { ply: 1, move: "zz" });
  await until(() => ana.queue.refused().length === 1, "the move is refused");
  ana.close();
  const offline = alone(baseUrl, { storage: recording, channel: null, fetch: () => Promise.reject(new Error("offline")), retry: { ...QUICK, attempts: 1 } });
  await offline.queue.add(game.id, { ply: 1, move: "C" });
  offline.close();
  return [...texts];
}

test("a client begins with whatever is stored, and goes on", async () => {
  const entries = await stored();
  const kinds = entries.map(([key]) => key.split(":").at(-1)).sort();
  assert.deepEqual(kinds, ["pending-guest", "queue", "session"]);
  const offline = () => Promise.reject(new Error("offline"));
  let forms = 0;
  for (const [key, text] of entries) {
    const texts = [...spoiled(JSON.parse(text))].map((form) => JSON.stringify(form));
    for (const form of [...texts, "", "{", "undefined"]) {
      const storage = new MemoryStorage();
      storage.setItem(key, form);
      const client = alone(baseUrl, { storage, channel: null, fetch: offline, retry: { ...QUICK, attempts: 1 } });
      const session = client.session.current();
      if (session) assert.equal(typeof session.player.name, "string", form);
      for (const move of [...client.queue.pending(), ...client.queue.refused()]) assert.equal(typeof move.gameId, "string", form);
      for (const { failure } of client.queue.refused()) assert.equal(typeof failure.code, "string", form);
      assert.doesNotThrow(() => [client.session.keptGuest()?.name, client.session.recoveryCode()]);
      client.close();
      forms += 1;
    }
  }
  assert.ok(forms > 100, `${forms} forms`);
});

test("over a session that cannot be read a guest signs in, and the next client knows it", async () => {
  const storage = new MemoryStorage();
  const key = `mancala:${baseUrl}:session`;
  storage.setItem(key, JSON.stringify({ rev: 7, value: { user: "Ana", token: "old" } }));
  storage.setItem(`mancala:${baseUrl}:pending-guest`, JSON.stringify({ key: 7, since: Date.now() }));
  const client = alone(baseUrl, { storage, channel: null });
  assert.equal(client.session.current(), null);
  const { id } = await client.session.guest();
  client.close();
  assert.ok(JSON.parse(storage.getItem(key) ?? "null").rev > 7, "tabs that know the old one take over the new one");
  const next = alone(baseUrl, { storage, channel: null });
  assert.equal(next.session.current()?.player.id, id);
  next.close();
});

test("of a queue the moves are kept that can be read", async () => {
  const storage = new MemoryStorage();
  const move = { id: "1", playerId: "p", gameId: "g", play: { ply: 1, move: "A" }, at: 0 };
  const value = { pending: [move, { ...move, id: "2", play: null }, null], refused: [{ ...move, failure: { code: "validation_failed" } }] };
  storage.setItem(`mancala:${baseUrl}:queue`, JSON.stringify({ rev: 3, value }));
  const client = alone(baseUrl, { storage, channel: null });
  assert.deepEqual(
    client.queue.pending().map(({ id }) => id),
    ["1"],
  );
  assert.deepEqual(client.queue.refused(), []);
  client.close();
});
