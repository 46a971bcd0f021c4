// The page as it is committed plays a game that it does not know: `tests/toy/run` runs this beside a server that has the toy.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const base = process.env.BASE_URL;

async function call(method, path, body, token) {
  const headers = { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

const guest = async (name) => (await call("POST", "/v1/players", { name })).access_token;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
try {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));

  await page.goto(`${base}/`);
  await page.getByRole("radio", { name: "Toy" }).check({ force: true });

  const tokens = { south: await guest("Ana"), north: await guest("Bo") };
  const opened = await call("POST", "/v1/games", { variant: "toy", side: "south", options: { seeds: 4 }, visibility: "public" }, tokens.south);
  let game = await call("POST", `/v1/games/${opened.id}/join`, {}, tokens.north);
  await page.goto(`${base}/games/${opened.id}`);
  await page.getByText("Toy", { exact: true }).first().waitFor();
  while (game.status === "active") {
    const move = game.legal_moves[(game.ply * 7) % game.legal_moves.length];
    const played = await call("POST", `/v1/games/${opened.id}/moves`, { ply: game.ply + 1, move }, tokens[game.turn]);
    game = played.game;
  }
  await page.getByRole("button", { name: "Skip to the end" }).click();
  await page.getByText("won 19").first().waitFor();

  await page.goto(`${base}/review/${opened.id}`);
  await page.getByText("Move 20 of 20").waitFor();
  const told = page.getByText(/Harvest [A-Da-d]\./).first();
  for (let ply = game.ply; ply > 0 && !(await told.isVisible()); ply -= 1) await page.keyboard.press("ArrowLeft");
  await told.waitFor();
  await page.goto(`${base}/rules/toy`);
  await page.getByRole("heading", { name: "Harvest" }).waitFor();
  assert.deepEqual(errors, []);
  console.log("the page shows the toy: in the choice of games, on the board, in a review, and its rules");
} finally {
  await browser.close();
}
