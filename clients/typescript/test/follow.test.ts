// Following games: no event is missed or repeated, whatever the network does.

import assert from "node:assert/strict";
import test from "node:test";
import type { Client, FollowGameOptions, Game, GameEvent, PlayerEvent } from "@mancala-server/client";
import { Network, type NetworkOptions, random } from "./support/network.js";
import { alone, Browser, baseUrl, begin, failureOf, guest, playOn, QUICK, until } from "./support/server.js";

const SMALL = { variant: "kalah", options: { pits: 4, seeds: 3 } };

/** Two guests without losses, and the network of a third client that follows. */
async function setting(context: { after(work: () => void): void }, options: NetworkOptions = {}) {
  const network = await Network.open(options);
  context.after(() => network.close());
  const [ana, bo] = [await guest(baseUrl, "Ana"), await guest(baseUrl, "Bo")];
  return { network, ana, bo, game: await begin(ana, bo, SMALL) };
}

/** All events of a game, as its pages tell them. */
async function eventsOf(client: Client, id: string): Promise<string[]> {
  const { data } = await client.api.GET("/v1/games/{id}/events", { params: { path: { id }, query: { limit: 100 } } });
  assert.ok(data && typeof data === "object");
  return data.items.map(told);
}

function told({ seq, type, move }: GameEvent): string {
  return `${seq} ${type} ${move?.move ?? ""}`;
}

/** Follows a game until it is finished. */
async function follow(client: Client, game: Game, options: FollowGameOptions = {}): Promise<string[]> {
  const events: string[] = [];
  for await (const event of client.follow(game.id, options)) {
    events.push(told(event));
    if (event.type === "finished") break;
  }
  return events;
}

for (const mode of ["stream", "poll", "auto"] as const) {
  test(`a game over a network that loses 30 %, followed by ${mode}`, async (context) => {
    const { network, ana, bo, game } = await setting(context, { loss: 0.3, seed: 17 });
    const spectator = await guest(network.url, "Eva");
    const following = follow(spectator, game, { mode });
    const cutting = setInterval(() => network.cutStreams(), 40);
    context.after(() => clearInterval(cutting));
    await playOn(game, [ana, bo], random(4));
    assert.deepEqual(await following, await eventsOf(ana, game.id));
    const streams = network.seen.filter(({ path }) => path.endsWith("/events")).length;
    const pages = network.count("GET", /\/events\?/);
    console.log(`${mode}: ${streams} streams, ${pages} pages, ${JSON.stringify(network.fates())}`);
    assert.ok(mode === "poll" ? pages > 3 && streams === 0 : streams > 3, "the connection broke, and was made again");
  });
}

test("where streams do not get through, pages that wait replace them", async (context) => {
  const { network, ana, bo, game } = await setting(context, { holdsStreams: true });
  const spectator = await guest(network.url, "Eva", { retry: { ...QUICK, streamMs: 100 } });
  const following = follow(spectator, game, { after: game.version });
  await playOn(game, [ana, bo], random(4));
  assert.deepEqual(await following, (await eventsOf(ana, game.id)).slice(game.version));
  assert.equal(network.seen.filter(({ path }) => path.endsWith("/events")).length, 2, "two streams were tried");
  assert.ok(network.count("GET", /\/events\?limit=100&after=/) > 0);
});

test("a stream that falls silent is given up", async (context) => {
  const { network, ana, bo, game } = await setting(context);
  const spectator = await guest(network.url, "Eva", { retry: { ...QUICK, silenceMs: 150 } });
  const following = follow(spectator, game, { after: game.version, mode: "stream" });
  // The server's comments come every 15 seconds, far later than this client waits.
  await until(() => network.count("GET", /\/events$/) > 2, "the stream is opened again");
  await playOn(game, [ana, bo], random(4));
  assert.deepEqual(await following, (await eventsOf(ana, game.id)).slice(game.version));
});

test("a token that expires during a stream is renewed", { timeout: 60_000 }, async (context) => {
  const { network, ana, bo, game } = await setting(context);
  let later = 0;
  const spectator = await guest(network.url, "Eva", { now: () => Date.now() + later });
  const following = follow(spectator, game, { after: game.version, mode: "stream" });
  await until(() => network.streams.size === 1, "the stream is open");
  later = 16 * 60_000;
  await playOn(game, [ana, bo], random(4));
  await following;
  assert.equal(network.count("POST", /\/tokens$/), 1);
});

test("a stream that knows no signals is given up too", { timeout: 60_000 }, async (context) => {
  const { network, game } = await setting(context);
  let opened = 0;
  const fetchDeaf = (request: Request) => {
    if (!request.url.endsWith("/events")) return fetch(request);
    opened += 1;
    const body = new ReadableStream({ pull: () => new Promise(() => {}), cancel: () => new Promise(() => {}) });
    // A refusal, too, may have no end.
    const status = opened % 2 === 0 ? 503 : 200;
    return Promise.resolve(new Response(body, { status, headers: { "Content-Type": "text/event-stream" } }));
  };
  const spectator = await guest(network.url, "Eva", { retry: { ...QUICK, silenceMs: 150, streamMs: 150 }, fetch: fetchDeaf });
  const controller = new AbortController();
  const following = spectator.follow(game.id, () => {}, { after: game.version, mode: "stream", signal: controller.signal });
  await until(() => opened > 3, "the stream is opened again");
  controller.abort();
  await following;
});

test("following ends where nothing can follow, and with the signal", async (context) => {
  const { ana } = await setting(context);
  for (const mode of ["stream", "poll"] as const) {
    const open = await ana.games.create(SMALL);
    const following = (async () => {
      const types = [];
      for await (const { type } of ana.follow(open.id, { mode })) types.push(type);
      return types;
    })();
    await ana.games.abort(open.id);
    assert.deepEqual(await following, ["created", "aborted"], mode);
  }
  const { id } = await ana.games.create(SMALL);
  const heard: string[] = [];
  const controller = new AbortController();
  const handled = ana.follow(id, ({ type }) => void heard.push(type), { signal: controller.signal });
  await until(() => heard.length === 1, "the first event");
  controller.abort();
  await handled;
  const iterator = ana.follow(id, { after: 1, signal: AbortSignal.timeout(50) });
  await assert.rejects(async () => iterator.next(), { name: "TimeoutError" });
});

test("following fails for a hidden game and for a place not reached", async (context) => {
  const { ana, bo, game } = await setting(context);
  const hidden = await ana.games.create({ ...SMALL, visibility: "private" });
  assert.equal((await failureOf(bo.follow(hidden.id).next())).code, "not_found");
  assert.equal((await failureOf(bo.follow(game.id, { after: 99 }).next())).code, "validation_failed");
  assert.equal((await failureOf(alone(baseUrl).followAll().next())).code, "unauthenticated");
});

test("all tabs share one stream, which outlives the tab that reads it", async (context) => {
  const { network, ana, bo, game } = await setting(context);
  const browser = new Browser();
  const tabs = [1, 2, 3].map(() => browser.tab(network.url));
  context.after(() => tabs.forEach((tab) => tab.close()));
  const [eva] = await Promise.all(tabs.map((tab) => tab.session.guest("Eva")));
  const opponent = { type: "player" as const, player_id: eva?.id ?? "" };
  const heard = tabs.map((): PlayerEvent[] => []);
  const opened = tabs.map(() => 0);
  tabs.forEach((tab, n) => {
    // The tabs that are closed end with an error.
    tab.followAll((event) => void heard[n]?.push(event), { onOpen: () => (opened[n] = (opened[n] ?? 0) + 1) }).catch(() => {});
  });
  await until(() => opened.every((times) => times === 1), "all tabs are open");
  assert.equal(network.count("GET", /\/v1\/me\/events/), 1, "one stream for three tabs");
  const invited: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    invited.push((await ana.games.create({ ...SMALL, opponent })).id);
    const alive = heard.slice(round);
    await until(() => alive.every((events) => events.length === round + 1), `all tabs know of game ${round + 1}`);
    // The tab that reads is closed, at once and without goodbye to the others.
    tabs[round]?.close();
    invited.length = round + 1;
  }
  assert.deepEqual(
    heard[2]?.map(({ game_id }) => game_id),
    invited,
    "no event was missed or repeated",
  );
  assert.equal(network.count("GET", /\/v1\/me\/events/), 3, "each reader opened one stream");
  assert.equal((await bo.games.get(game.id)).status, "active");
});

test("an event that comes before any place opens the feed", async () => {
  // As when something happens while the stream is opened.
  const event = { id: "7-1", game_id: "g", seq: 1, type: "created" };
  const told = `id: ${event.id}\nevent: created\ndata: ${JSON.stringify(event)}\n\n`;
  const stream = () => new Response(told, { headers: { "Content-Type": "text/event-stream" } });
  const isFeed = ({ url }: Request) => url.endsWith("/v1/me/events");
  const bo = await guest(baseUrl, "Bo", { fetch: async (request) => (isFeed(request) ? stream() : fetch(request)) });
  const controller = new AbortController();
  const heard: string[] = [];
  const onOpen = ({ place }: { place: string }) => void heard.push(`open ${place}`);
  const following = bo.followAll(({ type }) => void heard.push(type), { mode: "stream", onOpen, signal: controller.signal });
  await until(() => heard.length >= 2, "the event is told");
  controller.abort();
  await following;
  assert.deepEqual(heard.slice(0, 2), ["open 7-1", "created"]);
});

test("tabs that follow one game share its stream", async (context) => {
  const { network, ana, bo, game } = await setting(context);
  const browser = new Browser();
  const [one, other] = [browser.tab(network.url), browser.tab(network.url)];
  context.after(() => [one, other].forEach((tab) => tab.close()));
  await Promise.all([one, other].map((tab) => tab.session.guest("Eva")));
  const first = follow(one, game, { after: game.version });
  await until(() => network.streams.size === 1, "the stream is open");
  await ana.games.play(game.id, { ply: 1, move: game.legal_moves[0] ?? "" });
  const second: string[] = [];
  other.follow(game.id, (event) => void second.push(told(event))).catch(() => {});
  await until(() => second.length === 3, "the second tab has caught up");
  const streamsBefore = network.count("GET", /\/events$/);
  await playOn(await ana.games.get(game.id), [ana, bo], random(4));
  const events = await eventsOf(ana, game.id);
  await until(() => second.length === events.length, "the second tab knows all");
  assert.deepEqual(second, events);
  assert.deepEqual(await first, events.slice(game.version));
  assert.ok(network.count("GET", /\/events$/) <= 2);
  assert.equal(streamsBefore, 1);
});

test("all games over a network that loses 30 %: each event once, in order", async (context) => {
  const { network } = await setting(context, { loss: 0.3, seed: 23 });
  const [ana, bo] = [await guest(baseUrl, "Ana"), await guest(baseUrl, "Bo")];
  // The same player on another device, whose network loses much.
  const follower = alone(network.url);
  await follower.session.recover(ana.session.recoveryCode() ?? "");
  const games = new Map<string, string[]>();
  let finished = 0;
  let isOpen = false;
  const controller = new AbortController();
  const following = follower.followAll(
    (event) => {
      games.set(event.game_id, [...(games.get(event.game_id) ?? []), told(event)]);
      if (event.type === "finished") finished += 1;
    },
    { onOpen: () => (isOpen = true), signal: controller.signal },
  );
  await until(() => isOpen, "the feed is open");
  const cutting = setInterval(() => network.cutStreams(), 60);
  context.after(() => clearInterval(cutting));
  const begun = await Promise.all([1, 2, 3].map(() => begin(ana, bo, SMALL)));
  await Promise.all(begun.map((game, n) => playOn(game, [ana, bo], random(n))));
  await until(() => finished === 3, "all games are told to their end");
  controller.abort();
  await following;
  for (const { id } of begun) assert.deepEqual(games.get(id), await eventsOf(ana, id));
});

test("a forgotten place is a gap, and the feed begins anew", async (context) => {
  const { ana, bo } = await setting(context);
  const opens: boolean[] = [];
  const heard: string[] = [];
  const controller = new AbortController();
  const after = "AAAA";
  const following = bo.followAll(({ type }) => void heard.push(type), { after, signal: controller.signal, onOpen: ({ isGap }) => opens.push(isGap) });
  await until(() => opens.length > 0, "it is open");
  assert.deepEqual(opens, [true]);
  await begin(ana, bo, SMALL);
  await until(() => heard.length > 0, "an event");
  controller.abort();
  await following;
});

test("following all games ends when the player signs out", async (context) => {
  const { bo } = await setting(context);
  let isOpen = false;
  const following = failureOf(bo.followAll(() => {}, { onOpen: () => (isOpen = true) }));
  await until(() => isOpen, "it is open");
  await bo.session.signOut();
  assert.equal((await following).code, "unauthenticated");
});
