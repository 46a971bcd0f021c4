// Every failure is one of the union, also those that do not come from the server.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { isTemporary, MancalaError } from "@mancala-server/client";
import { type Canned, Network } from "./support/network.js";
import { alone, baseUrl, begin, failureOf, guest } from "./support/server.js";

const ONCE = { retry: { attempts: 1 } };

async function answered(canned: Canned): Promise<MancalaError> {
  const network = await Network.open();
  try {
    network.intercept = () => canned;
    const error: unknown = await alone(network.url)
      .games.get("x", ONCE)
      .catch((error: unknown) => error);
    assert.ok(error instanceof MancalaError);
    return error;
  } finally {
    network.close();
  }
}

test("every code of the document is a failure of its own", async () => {
  const document = JSON.parse(await readFile(new URL("../../../openapi/openapi.json", import.meta.url), "utf8"));
  const codes: string[] = document.components.schemas.Code["x-extensible-enum"];
  assert.ok(codes.length >= 38);
  const network = await Network.open();
  try {
    const client = alone(network.url);
    for (const code of codes) {
      const body = JSON.stringify({ code, detail: "d", status: 409, request_id: "r" });
      network.intercept = () => ({ status: 409, body });
      const failure = await failureOf(client.games.get("x", ONCE));
      assert.equal(failure.code, code);
      // What the union promises is there, even if this answer left it out.
      if (failure.code === "stale_ply") assert.deepEqual(failure.moves, []);
      if (failure.code === "illegal_move") assert.deepEqual(failure.legalMoves, []);
      if (failure.code === "validation_failed") assert.deepEqual(failure.errors, []);
    }
  } finally {
    network.close();
  }
});

test("an invitation too many says from when on there is room", async () => {
  const problem = { code: "too_many_invitations", detail: "d", retry_at: "2026-12-01T00:00:00.000Z", request_id: "r" };
  const { failure } = await answered({ status: 409, body: JSON.stringify(problem) });
  assert.ok(failure.code === "too_many_invitations");
  assert.equal(failure.retryAt, problem.retry_at);
  assert.equal(isTemporary(failure, 409), false);
});

test("an unknown code survives with all that the server said", async () => {
  const body = JSON.stringify({ code: "too_late_at_night", detail: "go to bed", hour: 3, request_id: "r-1" });
  const { failure, status, requestId } = await answered({ status: 409, body });
  assert.ok(failure.code === "unknown_code");
  assert.deepEqual([failure.serverCode, failure.detail, failure.problem["hour"], status, requestId], ["too_late_at_night", "go to bed", 3, 409, "r-1"]);
  assert.equal(isTemporary(failure, 409), false);
  assert.equal(isTemporary(failure, 503), true);
});

test("a page of a proxy is a bad answer, temporary by its status", async () => {
  const page = "<html>Bad gateway</html>";
  const gateway = await answered({ status: 502, headers: { "content-type": "text/html" }, body: page });
  assert.deepEqual([gateway.failure.code, gateway.status, isTemporary(gateway.failure, 502)], ["bad_answer", 502, true]);
  const blocked = await answered({ status: 403, headers: { "content-type": "text/html" }, body: page });
  assert.deepEqual([blocked.failure.code, isTemporary(blocked.failure, 403)], ["bad_answer", false]);
});

test("Retry-After is read in seconds and as a date", async () => {
  const body = JSON.stringify({ code: "rate_limited", detail: "d" });
  const seconds = await answered({ status: 429, headers: { "retry-after": "7" }, body });
  assert.ok(seconds.failure.code === "rate_limited");
  assert.equal(seconds.failure.retryAfterMs, 7000);
  const date = await answered({ status: 503, headers: { "retry-after": new Date(Date.now() + 60_000).toUTCString() }, body: "" });
  assert.ok(date.failure.code === "bad_answer");
  assert.ok((date.failure.retryAfterMs ?? 0) > 50_000);
});

test("no answer is a failure that says why", async () => {
  const failure = await failureOf(alone("http://127.0.0.1:9").games.get("x", ONCE));
  assert.ok(failure.code === "no_answer");
  assert.ok(failure.cause instanceof Error);
});

test("an answer that comes too late is no answer", async () => {
  const network = await Network.open({ holdsStreams: true });
  try {
    let sent = 0;
    const slow = alone(network.url, {
      fetch: (request) => {
        sent += 1;
        return fetch(new Request(request, { headers: { Accept: "text/event-stream" } }));
      },
    });
    const failure = await failureOf(slow.games.get("x", { retry: { attempts: 2, timeoutMs: 50 } }));
    assert.equal(failure.code, "no_answer");
    assert.equal(sent, 2, "it was sent again");
  } finally {
    network.close();
  }
});

test("a fetch that knows no signals is given up in time", { timeout: 10_000 }, async () => {
  const deaf = alone("http://127.0.0.1:9", { fetch: () => new Promise(() => {}) });
  const failure = await failureOf(deaf.games.get("x", { retry: { attempts: 2, timeoutMs: 50 } }));
  assert.equal(failure.code, "no_answer");
  await assert.rejects(deaf.games.get("x", { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
});

test("a signal ends a call with its reason, while it waits too", async () => {
  const signal = AbortSignal.timeout(50);
  const call = alone("http://127.0.0.1:9").games.get("x", { signal, retry: { attempts: 100, baseMs: 60_000, maxMs: 60_000 } });
  await assert.rejects(call, { name: "TimeoutError" });
});

test("the server's refusals of a move have what the client needs", async () => {
  const [ana, bo] = [await guest(baseUrl, "Ana"), await guest(baseUrl, "Bo")];
  const game = await begin(ana, bo, { variant: "kalah", options: { pits: 3, seeds: 2 } });
  const illegal = await failureOf(ana.games.play(game.id, { ply: 1, move: "pass" }));
  assert.ok(illegal.code === "illegal_move");
  assert.deepEqual([illegal.reason, illegal.legalMoves], ["no_pass", game.legal_moves]);
  const early = await failureOf(bo.games.play(game.id, { ply: 1, move: "a" }));
  assert.ok(early.code === "not_your_turn" && early.game?.version === game.version);
  await ana.games.play(game.id, { ply: 1, move: "A" });
  const stale = await failureOf(ana.games.play(game.id, { ply: 1, move: "B" }));
  assert.ok(stale.code === "stale_ply");
  assert.deepEqual(
    stale.moves.map(({ ply, move }) => [ply, move]),
    [[1, "A"]],
  );
  const invalid = await failureOf(ana.games.create({ variant: "chess" }));
  assert.ok(invalid.code === "validation_failed" && invalid.errors[0]?.pointer === "/variant");
  assert.equal((await failureOf(ana.games.join(game.id))).code, "own_game");
  const stranger = await guest(baseUrl, "Eva");
  assert.equal((await failureOf(stranger.games.resign(game.id))).code, "not_seated");
  assert.equal((await failureOf(alone(baseUrl).games.resign(game.id))).code, "unauthenticated");
});
