// Two guests play a game of each variant to its end, and one with an account invites the other, through a client that was generated from
// the OpenAPI document. Ends with an error if anything is not as the document and docs/api.md say.
//
//   node built/play.js http://127.0.0.1:8080

import { argv } from "node:process";
import createClient, { type Client } from "openapi-fetch";
import { apply, expect, same, type Board } from "./board.js";
import type { components, paths } from "./generated/api.js";

type Game = components["schemas"]["Game"];
// A game of its own, not one that goes on from another.
type NewGame = components["schemas"]["CreateGame"] & { variant: string };
type Move = components["schemas"]["Move"];
type Player = components["schemas"]["Player"];
type Problem = components["schemas"]["Problem"];
type Guest = { player: Player; api: Client<paths> };

const baseUrl = argv[2];
expect(baseUrl !== undefined, "usage: node built/play.js BASE_URL");

const ana = await becomeGuest("Ana");
const bo = await becomeGuest("Bo");
const plans: NewGame[] = [
  { variant: "kalah" },
  { variant: "kalah", options: { capture: "optional" } },
  { variant: "oware", preset: "awari" },
  { variant: "congkak", options: { pits: 4, seeds: 3, rounds: "multi", max_rounds: 3 } },
  { variant: "congkak", options: { pits: 4, seeds: 3, opening: "lockstep" } },
  { variant: "congkak", options: { pits: 4, seeds: 3, rounds: "multi", max_rounds: 3, match_victory: "rounds_won" } },
  { variant: "bao" },
  { variant: "omweso", preset: "tournament" },
  { variant: "toguz_kumalak" },
  { variant: "bestemshe", options: { pits: 3, seeds: 2, repetition: 2, repetition_award: "draw" } },
];
for (const plan of plans) {
  const opened = await create(ana, plan);
  const started = await join(bo, opened.id);
  const finished = await playToTheEnd(started);
  const moves = await readHistory(finished.id);
  checkHistory(started.board, moves, finished);
  checkWhatThePlanIsFor(plan, started, moves, finished);
  await checkEvents(finished, moves);
  await playWithoutAGame(plan, started, moves);
  console.log(`${plan.variant}: ${moves.map((move) => move.move).join(" ")}; ${finished.position}`);
}
await keepAnAccount(bo);

async function becomeGuest(name: string): Promise<Guest> {
  const anonymous = createClient<paths>({ baseUrl: baseUrl ?? "" });
  const { data, error } = await anonymous.POST("/v1/players", { body: { name } });
  expect(data !== undefined, told(error));
  expect(data.player.name === name && data.token_type === "Bearer", "the guest has another name");
  const headers = { Authorization: `Bearer ${data.access_token}` };
  return { player: data.player, api: createClient<paths>({ baseUrl: baseUrl ?? "", headers }) };
}

async function create(creator: Guest, plan: NewGame): Promise<Game> {
  const { data, error, response } = await creator.api.POST("/v1/games", { body: { ...plan, side: "south" } });
  expect(data !== undefined, told(error));
  expect(response.headers.get("Location") === `/v1/games/${data.id}`, "the game is elsewhere");
  expect(data.status === "open" && data.turn === null && data.legal_moves.length === 0, "no side can play yet");
  expect(data.seats.south?.id === creator.player.id && data.seats.north === null, "the creator sits South, alone");
  return data;
}

async function join(guest: Guest, id: string): Promise<Game> {
  const { data, error } = await guest.api.POST("/v1/games/{id}/join", { params: { path: { id } } });
  expect(data !== undefined, told(error));
  expect(data.status === "active" && data.seats.north?.id === guest.player.id, "the guest sits North, and play begins");
  return data;
}

// Plays some legal move after the other, and declines the captures that may be declined. What can go wrong on the way goes wrong once.
async function playToTheEnd(started: Game): Promise<Game> {
  let game = started;
  while (game.status === "active") {
    const [mover, waiter] = whoMovesAndWhoWaits(game);
    const declined = game.legal_moves.find((move) => move.endsWith("~"));
    const choice = declined ?? game.legal_moves[(game.ply * 7) % game.legal_moves.length];
    expect(choice !== undefined, "an active game has a legal move");
    if (game.ply === 2) await tryWhatIsNotAllowed(game, mover, waiter);
    const news = waitForNews(waiter, game);
    const played = await play(mover, game, choice, 201);
    expect((await news).version === played.game.version, "who waits hears of the move");
    if (game.ply === 3) {
      const again = await play(mover, game, choice, 200);
      expect(again.game.version === played.game.version, "a move that is sent again changes nothing");
    }
    expect(same(apply(game.board, played.move.effects), played.game.board), `the effects of ply ${played.move.ply} lead elsewhere`);
    game = played.game;
  }
  return game;
}

function whoMovesAndWhoWaits(game: Game): [Guest, Guest] {
  expect(game.turn !== null, "in an active game it is one side's turn");
  return game.seats[game.turn]?.id === ana.player.id ? [ana, bo] : [bo, ana];
}

async function play(guest: Guest, game: Game, move: string, status: 200 | 201): Promise<{ move: Move; game: Game }> {
  const path = { id: game.id };
  const body = { ply: game.ply + 1, move };
  const { data, error, response } = await guest.api.POST("/v1/games/{id}/moves", { params: { path }, body });
  expect(data !== undefined, told(error));
  expect(response.status === status, `${response.status} instead of ${status}`);
  expect(data.move.ply === body.ply && data.move.move === move && data.move.player_id === guest.player.id, "another move");
  return data;
}

async function tryWhatIsNotAllowed(game: Game, mover: Guest, waiter: Guest): Promise<void> {
  const illegal = await refused(mover, game, game.ply + 1, "pass");
  expect(illegal.code === "illegal_move" && illegal.reason !== undefined, "a move that is not legal");
  expect(String(illegal.legal_moves) === String(game.legal_moves), "the refusal says what is legal");

  const early = await refused(waiter, game, game.ply + 1, "A");
  expect(early.code === "not_your_turn" && early.game?.version === game.version, "a move out of turn");

  const late = await refused(mover, game, game.ply, "swap");
  expect(late.code === "stale_ply" && late.moves?.[0]?.ply === game.ply, "a ply that is in the log");
}

async function refused(guest: Guest, game: Game, ply: number, move: string): Promise<Problem> {
  const params = { path: { id: game.id } };
  const { error } = await guest.api.POST("/v1/games/{id}/moves", { params, body: { ply, move } });
  expect(error !== undefined, `${move} as ply ${ply} was not refused`);
  return error;
}

// Waits for the next change, as docs/api.md says.
async function waitForNews(guest: Guest, game: Game): Promise<Game> {
  const path = { id: game.id };
  const first = await guest.api.GET("/v1/games/{id}", { params: { path } });
  expect(first.data !== undefined, told(first.error));
  const known = first.response.headers.get("ETag");
  expect(known !== null, "a game has an ETag");
  if (first.data.version > game.version) return first.data;
  const header = { "If-None-Match": known, Prefer: "wait=30" };
  const { data, error, response } = await guest.api.GET("/v1/games/{id}", { params: { path, header } });
  expect(response.headers.get("Preference-Applied") === "wait=30", "the server waits");
  expect(data !== undefined, response.status === 304 ? "nothing happened for 30 seconds" : told(error));
  return data;
}

// All pages, small ones.
async function readHistory(id: string): Promise<Move[]> {
  const moves: Move[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = cursor === null ? { limit: 5 } : { limit: 5, cursor };
    const { data, error } = await ana.api.GET("/v1/games/{id}/moves", { params: { path: { id }, query } });
    expect(data !== undefined, told(error));
    moves.push(...data.items);
    cursor = data.next_cursor;
  } while (cursor !== null);
  return moves;
}

// The events page by page; a stream of them is read without the generated client.
async function checkEvents(game: Game, moves: Move[]): Promise<void> {
  const events: components["schemas"]["Event"][] = [];
  while (events.length < game.version) {
    const query = { after: events.length, limit: 7 };
    const { data, error } = await bo.api.GET("/v1/games/{id}/events", { params: { path: { id: game.id }, query } });
    expect(data !== undefined && typeof data !== "string", told(error));
    expect(data.items.length > 0, "a page has events until there are no more");
    events.push(...data.items);
  }
  expect(events.every((event, n) => event.seq === n + 1 && event.game_id === game.id), "the events have no gap");
  const moved = events.flatMap((event) => (event.type === "moved" && event.move ? [event.move] : []));
  expect(JSON.stringify(moved) === JSON.stringify(moves), "the events tell the moves as the history does");
  const last = events.at(-1);
  const result = last?.type === "finished" ? (last.result ?? null) : null;
  expect(JSON.stringify(result) === JSON.stringify(game.result), "the last event is the end of the game");
}

function checkHistory(opening: Board, moves: Move[], game: Game): void {
  expect(moves.length === game.ply && moves.every((move, n) => move.ply === n + 1), "the history has every ply");
  const end = moves.reduce((board, move) => apply(board, move.effects), opening);
  expect(same(end, game.board), "the history leads to another board");
  expect(moves.at(-1)?.position === game.position, "the history ends in another position");
  const { result } = game;
  expect(game.status === "finished" && game.turn === null && result !== null, "the game has a result");
  // In some matches points decide, with four rows neither those nor the score.
  const { south, north } = game.board.points ?? result.score;
  const ahead = south > north ? "south" : south < north ? "north" : null;
  expect(opening.south.reserve !== undefined || result.winner === ahead, "who has more seeds or points wins");
  const winner = result.winner === null ? null : game.seats[result.winner];
  expect(result.winner_player_id === (winner?.id ?? null), "the winner sits where the result says");
}

// The options that bring moves, effects and parts of a board that other games lack.
function checkWhatThePlanIsFor({ options }: NewGame, started: Game, moves: Move[], finished: Game): void {
  const effects = moves.flatMap((move) => move.effects);
  if (options?.["capture"] === "optional") {
    expect(moves.some((move) => move.move.endsWith("~")), "a capture is declined");
  }
  if (options?.["opening"] === "lockstep") {
    expect(started.board.chosen === null, "South chooses first");
    const choice = effects.find((effect) => effect.type === "choose");
    expect(choice?.pit === moves[0]?.move && effects.some((effect) => effect.type === "hand"), "both sow at once");
  }
  if (options?.["match_victory"] === "rounds_won") {
    const { points } = finished.board;
    expect(points !== undefined && points.south + points.north > 0, "rounds are won");
    const last = effects.filter((effect) => effect.type === "round_over").at(-1);
    expect(JSON.stringify(last?.points) === JSON.stringify(points), "the last round tells the points");
  }
}

// What the history tells of a game is what its line of moves is answered with; and a move too many is refused.
async function playWithoutAGame(plan: NewGame, game: Game, history: Move[]): Promise<void> {
  const anonymous = createClient<paths>({ baseUrl: baseUrl ?? "" });
  const params = { path: { variant: plan.variant } };
  const chosen = { preset: plan.preset ?? "standard", options: plan.options ?? {} };
  const moves = history.map((move) => move.move);
  const { data, error } = await anonymous.POST("/v1/variants/{variant}/play", { params, body: { ...chosen, moves } });
  expect(data !== undefined, told(error));
  expect(same(data.board, game.board) && data.moves.length === moves.length, "the line is another one");
  data.moves.forEach((played, n) => {
    const move = history[n];
    expect(played.side === move?.side && played.position === move.position, `move ${n} leads elsewhere`);
    expect(JSON.stringify(played.effects) === JSON.stringify(move.effects), `move ${n} has other effects`);
  });
  expect(data.moves.at(-1)?.result?.score !== undefined, "the line ends as the game does");
  const tooMany = { ...chosen, moves: [...moves, "A"] };
  const wrong = await anonymous.POST("/v1/variants/{variant}/play", { params, body: tooMany });
  expect(wrong.error?.reason === "game_over" && wrong.error.index === moves.length, "nothing is played after the end");

  const shown = await anonymous.GET("/v1/variants/{variant}", { params });
  expect(shown.data !== undefined, told(shown.error));
  const { title, presets, options_schema, preset_schemas, rules } = shown.data;
  expect(presets.every((preset) => preset_schemas[preset.name] !== undefined), "every preset has its schema");
  expect(options_schema["type"] === "object" && rules.startsWith(`# ${title}\n`), "a variant describes itself");
}

// Registers, signs in, gets new tokens, and invites a guest, who declines.
async function keepAnAccount(guest: Guest): Promise<void> {
  const anonymous = createClient<paths>({ baseUrl: baseUrl ?? "" });
  const password = `correct horse ${crypto.randomUUID()}`;
  const name = `Eva ${crypto.randomUUID().slice(0, 8)}`;
  const registered = await anonymous.POST("/v1/players", { body: { name, password } });
  expect(registered.data !== undefined, told(registered.error));
  expect(registered.response.status === 201 && registered.data.player.kind === "account", "an account is made");

  const wrong = await anonymous.POST("/v1/tokens", { body: { grant_type: "password", name, password: `${password}?` } });
  expect(wrong.error?.code === "invalid_credentials", "a wrong password is refused");
  const signedIn = await anonymous.POST("/v1/tokens", { body: { grant_type: "password", name, password } });
  expect(signedIn.data !== undefined, told(signedIn.error));
  expect(signedIn.data.player.id === registered.data.player.id, "who signs in is who registered");
  const { refresh_token } = signedIn.data;
  const refreshed = await anonymous.POST("/v1/tokens", { body: { grant_type: "refresh_token", refresh_token } });
  expect(refreshed.data !== undefined, told(refreshed.error));
  expect(refreshed.data.refresh_token !== refresh_token, "a refresh token is used once");

  const headers = { Authorization: `Bearer ${refreshed.data.access_token}` };
  const eva = { player: refreshed.data.player, api: createClient<paths>({ baseUrl: baseUrl ?? "", headers }) };
  await inviteAndDecline(eva, guest);
  await makeOffers(eva, guest);
}

async function inviteAndDecline(host: Guest, guest: Guest): Promise<void> {
  const opponent = { type: "player" as const, player_id: guest.player.id };
  const invited = await host.api.POST("/v1/games", { body: { variant: "kalah", opponent } });
  expect(invited.data !== undefined, told(invited.error));
  const { id } = invited.data;
  const received = await guest.api.GET("/v1/me/invitations", { params: { query: { direction: "received" } } });
  expect(received.data !== undefined, told(received.error));
  expect(received.data.items.some((game) => game.id === id), "who is invited finds the invitation");
  const declined = await guest.api.POST("/v1/games/{id}/decline", { params: { path: { id } }, body: {} });
  expect(declined.data !== undefined, told(declined.error));
  expect(declined.data.status === "aborted", "a game that was declined is over");
}

// Plays by the clock, takes a turn back, agrees on a draw, and begins a rematch.
async function makeOffers(host: Guest, guest: Guest): Promise<void> {
  const clock = { type: "bank" as const, bank_s: 600, increment_s: 5, max_s: 900 };
  const created = await host.api.POST("/v1/games", { body: { variant: "kalah", side: "south", clock } });
  expect(created.data !== undefined, told(created.error));
  const { id } = created.data;
  const path = { id };
  await guest.api.POST("/v1/games/{id}/join", { params: { path } });
  const moved = await host.api.POST("/v1/games/{id}/moves", { params: { path }, body: { ply: 1, move: "A" } });
  expect(moved.data !== undefined, told(moved.error));
  const { deadline, bank_s } = moved.data.game.clock;
  expect(deadline !== null && bank_s !== undefined && bank_s.south <= 605, "time runs");
  for (const type of ["takeback", "draw", "rematch"] as const) {
    const offered = await host.api.POST("/v1/games/{id}/offers", { params: { path }, body: { type } });
    expect(offered.data !== undefined, told(offered.error));
    expect(offered.data.offers.some((offer) => offer.type === type && offer.side === "south"), `${type} is offered`);
    const params = { path: { id, type } };
    const accepted = await guest.api.POST("/v1/games/{id}/offers/{type}/accept", { params });
    expect(accepted.data !== undefined, told(accepted.error));
    expect(accepted.data.offers.length === 0, `${type} is accepted`);
    if (type === "takeback") expect(accepted.data.ply === 2 && accepted.data.turn === "south", "the turn is taken back");
    if (type === "draw") expect(accepted.data.result?.reason === "agreement", "both agreed");
    if (type === "rematch") expect(accepted.data.rematch_game_id !== null, "it is played again");
  }
}

function told(problem: Problem | undefined): string {
  return problem === undefined ? "no answer" : `${problem.code}: ${problem.detail}`;
}
