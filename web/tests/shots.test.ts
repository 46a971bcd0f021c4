// Fourteen views, compared with their pictures in tests/shots/ pixel by pixel. `npm run shots` takes the pictures anew: look at them before they are committed.
//
// Nothing moves in a picture: the fonts are DejaVu, the time stands still, and lists have the games of this file alone.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import type { Game } from "@mancala-server/client";
import pixelmatch from "pixelmatch";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";

import { becomes, call, closeBrowser, type Device, guest, Person, SHOTS } from "./support/browser.ts";

const FOLDER = fileURLToPath(new URL("../tests/shots/", import.meta.url));

/** Whether the pictures are taken anew. */
const IS_RENEWED = process.env["RENEW"] !== undefined;

/** How far apart two colours are that count as one, from 0 to 1. A picture has 16 steps of each colour, which takes half of it. */
const THRESHOLD = 0.05;

/** The share of pixels that may differ, edges of letters aside: another Chromium rounds them in another way. */
const DIFFERENT_MAX = 0.003;

/** The Chromium of the pictures, for the message of a failure. */
const MADE_WITH = `${FOLDER}chromium.txt`;

const FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

const NOW = new Date("2026-02-03T12:00:00Z");
const AN_HOUR_AGO = new Date(NOW.getTime() - 3_600_000).toISOString();

const PHONE = { viewport: { width: 390, height: 664 } };
const SMALL = { viewport: { width: 320, height: 568 } };
const SIDE = { viewport: { width: 844, height: 390 } };
/** Half as many pixels in each direction are seen as well. */
const DESK = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 0.5 };

interface Shot extends Device {
  path: string;
  /** Whether Ana is signed in. */
  isSigned?: boolean;
  /** What is different each time, and is covered. */
  covered?: string;
}

assert.ok(existsSync(FONT), `the pictures are in DejaVu: install fonts-dejavu-core, which has ${FONT}`);
process.env["FONTCONFIG_FILE"] = `${FOLDER}fonts.conf`;
// Fields for dates are in the language of the browser.
process.env["LANGUAGE"] = "en_US";
after(closeBrowser);

const first = await Person.arrive();
await first.begin("Two players on this device", "Ana");
const token = await first.token();
/** The session of Ana, for further devices. */
const session = await first.page.evaluate(() => Object.fromEntries(Object.entries(localStorage).filter(([key]) => key.startsWith("mancala:"))));
const chromium = first.context.browser()?.version() ?? "";
await first.leave();
const bo = await guest("Bo");

/** A game of Ana, who is South, against Bo, with these moves. */
async function gameOf(variant: string, moves: readonly string[]): Promise<string> {
  const { id, join_code } = await call<Game>("POST", "/v1/games", token, { variant, side: "south", opponent: { type: "link" } });
  await call("POST", `/v1/games/${id}/join`, bo.token, { join_code });
  for (const [n, move] of moves.entries()) {
    const mover = move.charAt(0) === move.charAt(0).toUpperCase() ? token : bo.token;
    await call("POST", `/v1/games/${id}/moves`, mover, { ply: n + 1, move });
  }
  return id;
}

const MOVES = ["E", "c", "a", "A", "c", "B"];
const [kalah, over, bao, omweso, toguz] = await Promise.all([
  gameOf("kalah", MOVES),
  gameOf("kalah", MOVES),
  gameOf("bao", []),
  gameOf("omweso", []),
  gameOf("toguz_kumalak", ["C", "d"]),
]);
await call("POST", `/v1/games/${omweso}/offers`, bo.token, { type: "draw" });
await call("POST", `/v1/games/${over}/resign`, bo.token);
const [running, finished] = await Promise.all([kalah, over].map((id) => call<Game>("GET", `/v1/games/${id}`, token)));

const VIEWS: Record<string, Shot> = {
  "home-desk": { ...DESK, path: "/" },
  "home-dark": { ...PHONE, path: "/", colorScheme: "dark" },
  "home-signed": { ...PHONE, path: "/", isSigned: true },
  "game-desk": { ...DESK, path: `/games/${kalah}`, isSigned: true },
  "game-phone": { ...PHONE, path: `/games/${bao}`, isSigned: true },
  "game-side": { ...SIDE, path: `/games/${toguz}`, isSigned: true },
  "game-offer": { ...SMALL, path: `/games/${omweso}`, isSigned: true },
  "game-over": { ...PHONE, path: `/games/${over}`, isSigned: true },
  review: { ...DESK, path: `/review/${over}#ply=3`, isSigned: true },
  games: { ...PHONE, path: "/games", isSigned: true },
  rules: { ...DESK, path: "/rules/oware" },
  new: { ...PHONE, path: "/new" },
  settings: { ...PHONE, path: "/settings" },
  missing: { ...PHONE, path: "/g/none", expected: /404/, covered: "footer p > code" },
};

/** Stops the time, and answers what depends on the games of other tests. */
async function still(page: Page): Promise<void> {
  await page.clock.setFixedTime(NOW);
  // The page would go by the server's clock.
  await page.addInitScript(() => {
    const { get } = Headers.prototype;
    Headers.prototype.get = function (name) {
      return name === "date" ? null : get.call(this, name);
    };
  });
  const dated = (game: Game | undefined) => JSON.parse(JSON.stringify(game).replace(/"20\d\d-[^"]+Z"/g, `"${AN_HOUR_AGO}"`)) as Game;
  await page.route(/\/v1\/games\?/, (route) => {
    const wanted = new URL(route.request().url()).searchParams.getAll("status").join();
    const games = [running, finished].filter((game) => game && wanted.includes(game.status));
    return route.fulfill({ json: { items: games.map(dated), next_cursor: null } });
  });
}

/** What a view looks like once it is there. */
async function taken({ path, isSigned, covered, ...device }: Shot): Promise<Buffer> {
  const stored = isSigned ? session : {};
  const person = await Person.arrive({ reducedMotion: "reduce", colorScheme: "light", timezoneId: "UTC", serviceWorkers: "block", stored, ...device });
  await still(person.page);
  const page = await person.open(path);
  await page.locator("h1").waitFor();
  await becomes(() => page.getByText("Loading…").count(), 0);
  await becomes(() => page.evaluate(() => [...document.images].every(({ complete, loading }) => complete || loading === "lazy")), true);
  const mask = covered === undefined ? [] : [page.locator(covered)];
  const look = () => page.screenshot({ animations: "disabled", caret: "hide", mask });
  let picture = await look();
  await becomes(async () => {
    const before = picture;
    picture = await look();
    return picture.equals(before);
  }, true);
  await person.leave();
  return picture;
}

/** A picture for the repository: with 16 steps of each colour it is small. */
function coarse({ width, height, data }: PNG): Buffer {
  const picture = new PNG({ width, height });
  picture.data = Buffer.from(data.map((value) => Math.round(value / 17) * 17));
  return PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, deflateStrategy: 0, filterType: 0 });
}

/** Where a picture is left to be looked at. */
function left(name: string, picture: PNG): string {
  mkdirSync(SHOTS, { recursive: true });
  writeFileSync(`${SHOTS}${name}.png`, PNG.sync.write(picture));
  return `${SHOTS}${name}.png`;
}

for (const [name, shot] of Object.entries(VIEWS)) {
  test(`${name} looks as in its picture`, async () => {
    const found = PNG.sync.read(await taken(shot));
    const file = `${FOLDER}${name}.png`;
    if (IS_RENEWED) {
      writeFileSync(file, coarse(found));
      writeFileSync(MADE_WITH, `${chromium}\n`);
    }
    const expected = PNG.sync.read(readFileSync(file));
    const { width, height } = expected;
    assert.deepEqual([found.width, found.height], [width, height]);
    const shown = new PNG({ width, height });
    const share = pixelmatch(expected.data, found.data, shown.data, width, height, { threshold: THRESHOLD }) / (width * height);
    if (share <= DIFFERENT_MAX) return;
    left(`shot-${name}-found`, found);
    const made = readFileSync(MADE_WITH, "utf8").trim();
    assert.fail(
      `${(100 * share).toFixed(2)} % of ${name} differ from tests/shots/${name}.png, made with Chromium ${made}; this is ${chromium}. See ${left(`shot-${name}-different`, shown)}`,
    );
  });
}
