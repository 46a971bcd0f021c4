// Two guests play a small game on a server of today, or of the future, through this package.
//
//   node built/newer.js BASE_URL [newer]   newer: the answers have words, effects, events and fields that the document does not name
//
// See tests/client/twice.

import assert from "node:assert/strict";
import { argv } from "node:process";
import { frames, sameBoard } from "@mancala-server/client";
import { alone, failureOf, mover } from "./support/server.js";

const [baseUrl, isNewer] = [argv[2] ?? "", argv[3] === "newer"];
const [ana, bo] = [alone(baseUrl), alone(baseUrl)];
await ana.session.guest("Ana");
await bo.session.guest("Bo");
const { id } = await ana.games.create({ variant: "kalah", side: "south", options: { pits: 3, seeds: 2 } });
let game = await bo.games.join(id);

const failure = await failureOf(ana.games.play(id, { ply: 1, move: "pass" }));
if (isNewer) assert.ok(failure.code === "unknown_code" && failure.serverCode === "newer_code" && failure.detail !== "");
else assert.ok(failure.code === "illegal_move" && failure.reason === "no_pass");

while (game.status === "active") {
  const move = game.legal_moves[(game.ply * 7) % game.legal_moves.length] ?? "";
  const played = await mover(game, ana, bo).games.play(id, { ply: game.ply + 1, move });
  assert.equal(
    played.move.effects.some(({ type }) => type === "newer_effect"),
    isNewer,
  );
  const shown = frames(played.move.effects, game.board);
  assert.ok(sameBoard(shown.at(-1)?.board ?? game.board, played.game.board), "what is known leads to the board");
  game = played.game;
}
assert.equal(game.status, isNewer ? "newer_status" : "finished");

const types: string[] = [];
for await (const { type } of bo.follow(id, { mode: "poll" })) {
  types.push(type);
  if (type === (isNewer ? "newer_event" : "finished")) break;
}
assert.equal(types.filter((type) => type === "moved").length, game.ply);
for await (const mine of ana.games.list({ player: "me" })) assert.equal(mine.id, id);
console.log(`${isNewer ? "newer" : "today"}: ${game.ply} plies, ${game.position}`);
