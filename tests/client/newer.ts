// Two guests play a small game, have it analysed and try what is not allowed, on a server of today, or of the future.
//
//   node built/newer.js http://127.0.0.1:8080 [newer]   newer: the answers have words, effects and fields that the document does not name

import { argv } from "node:process";
import { setTimeout } from "node:timers/promises";
import createClient, { type Client } from "openapi-fetch";
import { apply, expect, same } from "./board.js";
import type { components, paths } from "./generated/api.js";

type Game = components["schemas"]["Game"];
type Problem = components["schemas"]["Problem"];
type Guest = { id: string; api: Client<paths> };

const [baseUrl, isNewer] = [argv[2] ?? "", argv[3] === "newer"];
const word = (known: string, name: string) => (isNewer ? `newer_${name}` : known);

const [ana, bo] = [await guest("Ana"), await guest("Bo")];
const body = { variant: "kalah", side: "south" as const, options: { pits: 3, seeds: 2 } };
const { id } = given(await ana.api.POST("/v1/games", { body }));
const path = { id };
let game: Game = given(await bo.api.POST("/v1/games/{id}/join", { params: { path } }));
expect(game.opponent.type === word("open", "type"), "the opponent has a type");

const { error: refused } = await ana.api.POST("/v1/games/{id}/moves", { params: { path }, body: { ply: 1, move: "pass" } });
expect(refused?.code === word("illegal_move", "code") && refused.reason === word("no_pass", "reason"), told(refused));

const effects = new Set<string>();
while (game.status === "active") {
  const player = [ana, bo].find(({ id }) => game.turn !== null && game.seats[game.turn]?.id === id);
  const move = game.legal_moves[(game.ply * 7) % game.legal_moves.length];
  expect(player !== undefined && move !== undefined, "an active game has a player to move, and a move");
  const played = given(await player.api.POST("/v1/games/{id}/moves", { params: { path }, body: { ply: game.ply + 1, move } }));
  expect(same(apply(game.board, played.move.effects), played.game.board), "the effects lead elsewhere");
  played.move.effects.forEach((effect) => effects.add(effect.type));
  game = played.game;
}
expect(game.status === word("finished", "status") && game.result !== null, `the game is ${game.status}`);
expect(effects.has("newer_effect") === isNewer, "an unknown effect is an effect as well");
const events = given(await ana.api.GET("/v1/games/{id}/events", { params: { path } }));
expect(typeof events === "object" && events.items.some(({ type }) => type === "newer_event") === isNewer, "an unknown event");

let status = given(await ana.api.POST("/v1/games/{id}/analysis", { params: { path }, body: {} }));
for (const begun = Date.now(); status.analysis === null; ) {
  expect(Date.now() - begun < 120_000, `the analysis is ${status.status}`);
  await setTimeout(200);
  status = given(await ana.api.GET("/v1/games/{id}/analysis", { params: { path } }));
}
expect(status.analysis.plies.length === game.ply, "every ply is judged");
console.log(`${isNewer ? "newer" : "today"}: ${game.ply} plies, ${game.position}`);

async function guest(name: string): Promise<Guest> {
  const { player, access_token } = given(await createClient<paths>({ baseUrl }).POST("/v1/players", { body: { name } }));
  expect(player.kind === word("guest", "kind"), `a guest is of kind ${player.kind}`);
  const headers = { Authorization: `Bearer ${access_token}` };
  return { id: player.id, api: createClient<paths>({ baseUrl, headers }) };
}

function given<T>(answer: { data?: T; error?: Problem | undefined }): T {
  if (answer.data === undefined) throw new Error(told(answer.error));
  return answer.data;
}

function told(problem: Problem | undefined): string {
  return problem === undefined ? "no answer" : `${problem.code}: ${problem.detail}`;
}
