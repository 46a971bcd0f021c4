// The simplest transaction of a move, with fastify and pg: read the row for update, check the move, insert its event, update
// the row, commit. Kalah only. Paths and answers are the service's as far as the bench checks them; the tables are copies of
// the service's. One process a core, as is usual with node.
//
// Settings from the environment: PGHOST, PGUSER and PGDATABASE of the database, WORKERS, and POOL connections for each. The
// first line on standard output is the address. The server ends when its standard input closes.

import cluster from "node:cluster";
import { randomUUID } from "node:crypto";
import Fastify from "fastify";
import jwt from "@fastify/jwt";
import pg from "pg";
import { opening, play, text } from "./kalah.mjs";

const WORKERS = Number(process.env.WORKERS);

if (cluster.isPrimary) {
  let ready = 0;
  for (let n = 0; n < WORKERS; n++) cluster.fork();
  cluster.on("listening", (_, { port }) => {
    if (++ready === WORKERS) console.log(`127.0.0.1:${port}`);
  });
  cluster.on("exit", () => process.exit(1));
  process.stdin.on("end", () => process.exit(0)).resume();
} else {
  const pool = new pg.Pool({ max: Number(process.env.POOL) });
  const app = Fastify();
  await app.register(jwt, { secret: "a secret of the bench that keeps nothing", sign: { expiresIn: "15m" } });
  const caller = (request) => request.jwtVerify();
  const id = { type: "object", required: ["id"], properties: { id: { type: "string", format: "uuid" } } };

  app.post("/v1/players", async (_, reply) => {
    const player = randomUUID();
    reply.code(201);
    return { access_token: await reply.jwtSign({ sub: player }) };
  });

  app.post("/v1/games", { onRequest: caller }, async (request, reply) => {
    const game = randomUUID();
    await pool.query({ name: "create", text: CREATE, values: [game, request.user.sub, text(opening())] });
    reply.code(201);
    return { id: game };
  });

  app.post("/v1/games/:id/join", { onRequest: caller, schema: { params: id } }, async (request) => {
    await pool.query({ name: "join", text: JOIN, values: [request.params.id, request.user.sub] });
    return { id: request.params.id };
  });

  app.post("/v1/games/:id/moves", { onRequest: caller, schema: movesSchema(id) }, async (request, reply) => {
    const { ply, move } = request.body;
    const client = await pool.connect();
    try {
      await client.query("begin");
      const { rows } = await client.query({ name: "read", text: READ, values: [request.params.id] });
      const [answer, status] = await decide(client, rows[0], request.user.sub, request.params.id, ply, move);
      await client.query(status === 201 ? "commit" : "rollback");
      reply.code(status);
      return answer;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      throw error;
    } finally {
      client.release();
    }
  });

  await app.listen({ host: "127.0.0.1", port: 0 });
}

// Returns the answer and its status; a legal move is in the tables by then.
async function decide(client, game, player, id, ply, move) {
  if (!game) return [{ code: "not_found" }, 404];
  const seat = [game.seat_0_player_id, game.seat_1_player_id].indexOf(player);
  if (seat < 0) return [{ code: "not_seated" }, 403];
  if (game.status !== "active") return [{ code: "game_over" }, 409];
  if (ply !== game.ply + 1) return [{ code: "stale_ply" }, 409];
  const next = play(game.position, seat, move);
  if (!next) return [{ code: "illegal_move" }, 422];
  const position = text(next);
  const version = game.version + 1 + (next.over ? 1 : 0);
  const status = next.over ? "finished" : "active";
  const at = new Date();
  await client.query({ name: "event", text: EVENT, values: [id, at, game.version + 1, ply, seat, "moved", move, position] });
  if (next.over) {
    await client.query({ name: "event", text: EVENT, values: [id, at, version, null, null, "finished", null, null] });
  }
  await client.query({ name: "update", text: UPDATE, values: [id, version, at, ply, status, position] });
  const side = seat === 0 ? "south" : "north";
  return [{ move: { ply, side, move, at, position }, game: { id, version, status, ply, position } }, 201];
}

function movesSchema(params) {
  const integer = { type: "integer", minimum: 1 };
  const string = { type: "string" };
  const played = { type: "object", properties: { ply: integer, side: string, move: string, at: string, position: string } };
  const game = { type: "object", properties: { id: string, version: integer, status: string, ply: integer, position: string } };
  const body = { type: "object", required: ["ply", "move"], additionalProperties: false, properties: { ply: integer, move: string } };
  return { params, body, response: { 201: { type: "object", properties: { move: played, game } } } };
}

const CREATE = `insert into fastify_game (id, created_at, variant, preset, options, rules_version, opponent, visibility,
    creator_seat, updated_at, version, ply, seat_0_player_id, seat_0_moved, seat_1_moved, status, position)
  values ($1, now(), 'kalah', 'standard', '', 1, 'open', 'public', 0, now(), 1, 0, $2, false, false, 'open', $3)`;
const JOIN = `update fastify_game set seat_1_player_id = $2, version = 2, status = 'active', started_at = now() where id = $1`;
const READ = `select version, status, ply, position, seat_0_player_id, seat_1_player_id from fastify_game where id = $1 for update`;
const EVENT = `insert into fastify_event (game_id, at, seq, ply, seat, kind, move, position)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`;
const UPDATE = `update fastify_game set version = $2, updated_at = $3, ply = $4, status = $5, position = $6 where id = $1`;
