// Games over a network that loses answers: whatever is lost, everything is done once.

import assert from "node:assert/strict";
import test from "node:test";
import type { Board, Client, Game, Side } from "@mancala-server/client";
import { type Fate, Network, random } from "./support/network.js";
import { begin, failureOf, guest, mover, playOn } from "./support/server.js";

const SMALL = { variant: "kalah", options: { pits: 3, seeds: 2 } };

async function two(context: { after(work: () => void): void }, options = {}): Promise<{ network: Network; ana: Client; bo: Client }> {
  const network = await Network.open(options);
  context.after(() => network.close());
  return { network, ana: await guest(network.url, "Ana"), bo: await guest(network.url, "Bo") };
}

for (const variant of ["kalah", "oware", "congkak"]) {
  test(`a game of ${variant} over a network that loses 30 %`, async (context) => {
    const { network, ana, bo } = await two(context, { loss: 0.3, seed: variant.length });
    const game = await begin(ana, bo, { variant });
    const plies: number[] = [];
    const played = await playOn(game, [ana, bo], random(5), ({ ply }) => plies.push(ply));
    assert.equal(played.status, "finished");
    assert.deepEqual(
      plies,
      plies.map((_, n) => n + 1),
      "every ply was played once",
    );
    const history: string[] = [];
    for await (const move of ana.games.moves(game.id, { limit: 100 })) history.push(move.move);
    assert.equal(history.length, played.ply);
    const { passed, lost, unanswered, cut } = network.fates();
    const share = (lost + unanswered + cut) / (passed + lost + unanswered + cut);
    assert.ok(share > 0.15 && share < 0.45, `${Math.round(share * 100)} % were lost`);
    console.log(`${variant}: ${played.ply} plies, ${lost} requests lost, ${unanswered} answers lost, ${cut} cut off`);
  });
}

test("a whole turn is one request, and is played once", async (context) => {
  const { network, ana, bo } = await two(context);
  const game = await begin(ana, bo, { variant: "kalah" });
  const before = network.seen.length;
  network.next.push("unanswered", "cut", "lost");
  const played = await ana.games.play(game.id, { ply: 1, moves: ["C", "F"] });
  assert.equal(network.seen.length - before, 4);
  assert.deepEqual([played.earlier_moves?.map(({ move }) => move), played.move.move], [["C"], "F"]);
  assert.deepEqual([played.game.ply, played.game.turn], [2, "north"]);
});

test("each answer that is lost is asked for again", async (context) => {
  const { network, ana, bo } = await two(context);
  const losing = async (call: () => Promise<Game>, fate: Fate = "unanswered", requests = 2) => {
    network.next.push(fate);
    const before = network.seen.length;
    const game = await call();
    assert.equal(network.seen.length - before, requests, "it was sent again");
    return game;
  };
  const clock = { type: "per_move" as const, move_s: 3600 };
  const { id } = await losing(() => ana.games.create({ ...SMALL, side: "south", clock }));
  const begun = await losing(() => bo.games.join(id), "cut");
  assert.deepEqual([begun.status, begun.version], ["active", 2]);
  for (const answer of ["accept", "declineOffer"] as const) {
    const offered = await losing(() => ana.games.offer(id, "pause"));
    assert.equal(offered.offers.length, 1);
    const answered = await losing(() => bo.games[answer](id, "pause"));
    assert.deepEqual([answered.offers, answered.clock.paused_at !== undefined], [[], answer === "accept"], answer);
    if (answer === "accept") await losing(() => ana.games.withdraw(id, "pause"));
  }
  const offered = await ana.games.offer(id, "draw");
  const refused = await losing(() => bo.games.declineOffer(id, "draw", { version: offered.version }), "unanswered", 3);
  assert.deepEqual(refused.offers, []);
  const again = await ana.games.offer(id, "draw");
  const drawn = await losing(() => bo.games.accept(id, "draw", { version: again.version }));
  assert.equal(drawn.result?.reason, "agreement");
  await losing(() => bo.games.offer(id, "rematch"));
  const rematch = await losing(() => ana.games.accept(id, "rematch"));
  const next = rematch.rematch_game_id ?? "";
  assert.equal((await losing(() => ana.games.resign(next))).result?.reason, "resignation");
  const open = await losing(() => ana.games.seek({ ...SMALL, options: { pits: 3, seeds: 5 } }));
  assert.equal((await losing(() => ana.games.abort(open.id))).status, "aborted");
  const opponent = { type: "player" as const, player_id: bo.session.current()?.player.id ?? "" };
  const invited = await losing(() => ana.games.create({ ...SMALL, opponent }));
  assert.equal((await losing(() => bo.games.decline(invited.id))).status, "aborted");
});

test("two players who seek the same are brought together", async (context) => {
  const { ana, bo } = await two(context, { loss: 0.3, seed: 3 });
  const wanted = { variant: "kalah", options: { pits: 4, seeds: 2 }, clock: { type: "per_move" as const, move_s: 777 } };
  const opened = await ana.games.seek(wanted);
  const joined = await bo.games.seek(wanted);
  assert.deepEqual([joined.id, joined.status], [opened.id, "active"]);
});

test("a game by link is shown to a client with the link, and joined", async (context) => {
  const { ana, bo } = await two(context);
  const game = await ana.games.create({ ...SMALL, opponent: { type: "link" }, visibility: "private" });
  const joinCode = game.join_code ?? "";
  assert.equal((await failureOf(bo.games.get(game.id))).code, "not_found");
  assert.equal((await bo.games.get(game.id, { joinCode })).status, "open");
  const renewed = await ana.games.renewJoinCode(game.id);
  assert.notEqual(renewed.join_code, joinCode);
  assert.equal((await failureOf(bo.games.join(game.id, { joinCode }))).code, "not_found");
  assert.equal((await bo.games.join(game.id, { joinCode: renewed.join_code })).status, "active");
});

test("iterators read all pages, each when it is needed", async (context) => {
  const { network, ana, bo } = await two(context);
  const made = new Set<string>();
  for (let n = 0; n < 7; n += 1) made.add((await begin(ana, bo, SMALL)).id);
  const before = network.seen.length;
  const first = ana.games.list({ player: "me", status: ["active"], limit: 3 });
  await first.next();
  assert.equal(network.seen.length - before, 1, "one page for one game");
  const listed = new Set<string>();
  for await (const game of ana.games.list({ player: "me", status: ["active", "open"], limit: 3 })) listed.add(game.id);
  assert.deepEqual(listed, made);
  assert.equal((await ana.games.getAll([...made])).length, 7);
  const [id = ""] = made;
  const finished = await playOn(await ana.games.get(id), [ana, bo], random(2));
  const boards: (string | undefined)[] = [];
  for await (const { ply, board } of bo.games.moves(id, { limit: 2, boards: true })) boards.push(board && `${ply}`);
  assert.deepEqual(
    boards,
    Array.from({ length: finished.ply }, (_, n) => `${n + 1}`),
  );
  const missed: number[] = [];
  for await (const { ply } of bo.games.moves(id, { after: 2, limit: 2 })) missed.push(ply);
  assert.deepEqual(
    missed,
    Array.from({ length: finished.ply - 2 }, (_, n) => n + 3),
  );
});

test("notes, positions, the summary and analyses", async (context) => {
  const { ana, bo } = await two(context);
  const game = await playOn(await begin(ana, bo, SMALL), [ana, bo], random(9));
  assert.equal((await ana.games.writeNote(game.id, 1, "a strong opening")).text, "a strong opening");
  const notes: string[] = [];
  for await (const note of ana.games.notes(game.id)) notes.push(note.text);
  assert.deepEqual(notes, ["a strong opening"]);
  await ana.games.deleteNote(game.id, 1);
  assert.equal((await ana.games.position(game.id, game.ply)).position, game.position);
  assert.equal((await ana.games.summary()).active, 0);
  const { status } = await ana.games.analyse(game.id);
  assert.ok(["queued", "running", "done"].includes(status), status);
  assert.equal((await bo.games.analysis(game.id)).game_id, game.id);
  assert.equal((await failureOf(bo.games.analyse((await begin(ana, bo, SMALL)).id))).code, "game_not_over");
  const invitations = [];
  for await (const invitation of bo.games.invitations()) invitations.push(invitation);
  assert.deepEqual(invitations, []);
});

test("a call that is limited is sent again after Retry-After", async (context) => {
  const { network, ana } = await two(context);
  let refusals = 2;
  network.intercept = () => {
    const body = JSON.stringify({ code: "rate_limited", detail: "too many calls" });
    return (refusals -= 1) >= 0 ? { status: 429, headers: { "retry-after": "1" }, body } : undefined;
  };
  const begun = Date.now();
  await ana.games.summary();
  assert.ok(Date.now() - begun >= 2000, "it waited for a second, twice");
});

test("a followed game takes one request a turn, and three besides", async (context) => {
  const networks = [await Network.open(), await Network.open()] as const;
  context.after(() => networks.forEach((network) => network.close()));
  const [ana, bo] = [await guest(networks[0].url, "Ana"), await guest(networks[1].url, "Bo")];
  let game = await begin(ana, bo, { variant: "kalah" });
  const boards = new Map([ana, bo].map((client) => [client, game]));
  const ends = [ana, bo].map(async (client) => {
    for await (const event of client.follow(game.id, { after: game.version })) {
      const { board, turn, legal_moves, seq } = event;
      const known = boards.get(client) ?? game;
      boards.set(client, { ...known, version: seq, ...(board && { board }), ...(legal_moves && { legal_moves }), turn: turn ?? null });
      if (event.type === "finished") return;
    }
  });
  const choose = random(11);
  let turns = 0;
  while (game.status === "active") {
    const moves = wholeTurn(game.board, game.turn ?? "south", choose);
    game = (await mover(game, ana, bo).games.play(game.id, { ply: game.ply + 1, moves })).game;
    turns += 1;
  }
  await Promise.all(ends);
  const requests = networks.map((network) => network.seen.length);
  const bytes = networks.reduce((sum, network) => sum + network.bytes, 0);
  console.log(`${turns} turns, ${game.ply} plies; ${requests.join(" + ")} requests of both players, ${bytes} bytes of answers`);
  for (const client of [ana, bo]) assert.deepEqual(boards.get(client)?.board, game.board, "the stream told all");
  assert.ok((requests[0] ?? 0) + (requests[1] ?? 0) <= turns + 2 * 3, "one a turn, and for each player three besides");
});

// The moves of a turn of Kalah, as a player would make them: after a seed in the own store another one.
function wholeTurn(board: Board, side: Side, choose: () => number): string[] {
  const own = board[side].pits.length;
  // The own row, the own store, the other row.
  const ring = [...board[side].pits, 0, ...board[side === "south" ? "north" : "south"].pits];
  const moves: string[] = [];
  for (;;) {
    const full = ring.slice(0, own).flatMap((seeds, pit) => (seeds > 0 ? [pit] : []));
    const pit = full[Math.floor(choose() * full.length)];
    if (pit === undefined) return moves;
    moves.push(String.fromCharCode((side === "south" ? 65 : 97) + pit));
    const seeds = ring[pit] ?? 0;
    ring[pit] = 0;
    for (let n = 1; n <= seeds; n += 1) ring[(pit + n) % ring.length] = (ring[(pit + n) % ring.length] ?? 0) + 1;
    if ((pit + seeds) % ring.length !== own) return moves;
  }
}
