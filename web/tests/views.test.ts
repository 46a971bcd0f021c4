// Every view: names that are hard to show, games that cannot be shown, colours, widths, languages, accessibility.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";

import { de } from "../src/texts/de.ts";
import { es } from "../src/texts/es.ts";
import { fr } from "../src/texts/fr.ts";
import { BASE, becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";
import { css } from "./support/classes.ts";

after(closeBrowser);

const VIEWS = ["/", "/lobby", "/games", "/account", "/settings"];

const NAMES = ["<b onclick=x>Ana</b>&amp;", "👩🏽‍🚀".repeat(4) + "🦀".repeat(16), "שרה ‏Bo", "W".repeat(32)];

test("names with markup, emoji and right-to-left letters stay names on every view", async () => {
  for (const name of NAMES) {
    const ana = await Person.arrive({ viewport: { width: 320, height: 640 } });
    const created = await fetch(`${BASE}/v1/players`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name }) });
    if (!created.ok) {
      // A name that the server refuses: the page says so.
      await ana.open("/");
      const begins = await ana.way("Play the computer");
      await ana.page.getByLabel("Your name (optional)").fill(name);
      await begins.click();
      await ana.hears("That was not accepted");
      await ana.context.close();
      continue;
    }
    await ana.open("/");
    // A game that no other test seeks.
    await ana.page.locator('label:has([name="variant"])', { hasText: "Oware" }).click();
    const begins = await ana.way("Find an opponent");
    await ana.page.locator(css("{starts.settings} fieldset label"), { hasText: "3 days" }).click();
    await ana.page.getByLabel("Your name (optional)").fill(name);
    await begins.click();
    await ana.page.waitForURL(/\/games\//, { waitUntil: "commit" });
    await ana.page.locator("[data-ply]").waitFor();
    await ana.fits(`the game of ${name}`);
    for (const view of VIEWS) {
      await ana.open(view);
      await eventually("the name is shown", async () => (await ana.page.locator('header a[href="/account"]').textContent()) === name);
      assert.equal(await ana.page.locator("b, [onclick]").count(), 0, `${view} shows markup`);
      await ana.fits(`${view} with ${name}`);
    }
    const bo = await Person.arrive({ viewport: { width: 320, height: 640 } });
    await bo.open("/lobby");
    await bo.page.locator(css("{rows.gameRow} {ui.name}"), { hasText: name }).first().waitFor();
    assert.equal(await bo.page.locator("b, [onclick]").count(), 0);
    await bo.fits("the lobby");
    await bo.leave();
    await ana.page.goto(`${BASE}/`);
    await ana.page.locator(css("a{rows.gameRow}")).first().click();
    await ana.button("More").click();
    await ana.button("Abort the game").click();
    await ana.page.getByRole("dialog", { name: "Abort the game?" }).getByRole("button", { name: "Abort the game" }).click();
    await eventually("it is aborted", async () => (await ana.status()) === "aborted");
    await ana.leave();
  }
});

test("an address of no game, of a private one or of none at all says so", async () => {
  const bo = await guest("Bo");
  const secret = await call<{ id: string }>("POST", "/v1/games", bo.token, { variant: "kalah", visibility: "private" });
  const ana = await Person.arrive({ expected: /404|422|400/ });
  for (const path of [`/games/${secret.id}`, "/games/0199a000-0000-7000-8000-000000000000", "/games/nonsense", "/games/%F0%9F%A6%80"]) {
    await ana.open(path);
    await ana.page.getByRole("heading", { name: "This game cannot be shown" }).waitFor();
    await ana.isAccessible(path);
    await ana.page.getByRole("link", { name: "Home" }).click();
    await ana.button("Play the computer").waitFor();
  }
  await ana.leave();
});

test("a player who was erased is shown as deleted, and the game stays", async () => {
  const ana = await Person.arrive();
  const id = await ana.begin("Invite a friend", "Ana");
  const code = (await ana.page.getByRole("textbox", { name: "Invitation link" }).inputValue()).split("#join=")[1];
  const bo = await guest("Bo");
  await call("POST", `/v1/games/${id}/join`, bo.token, { join_code: code });
  await call("DELETE", "/v1/me", bo.token);
  await eventually("the game is over", async () => (await ana.status()) === "finished");
  await ana.page.reload();
  await ana.page.getByText("(deleted)").waitFor();
  await ana.leave();
});

test("a spectator sees the game as it goes on, and cannot move", async () => {
  const ana = await Person.arrive();
  const id = await ana.begin("Two players on this device", "Ana");
  const cleo = await Person.arrive();
  await cleo.open(`/games/${id}`);
  await cleo.page.locator("[data-ply]").waitFor();
  await ana.page.locator('[data-pit="C"]').click();
  await eventually("the spectator sees the move", async () => (await cleo.page.locator("[data-ply]").getAttribute("data-ply")) === "1");
  assert.equal(await cleo.legal().count(), 0);
  assert.equal(await cleo.button("Resign").count(), 0);
  await ana.leave();
  await cleo.leave();
});

test("an account is made, signed in to elsewhere, exported and erased", async () => {
  const name = `Ana${Date.now() % 1e9}`;
  const password = "correct horse 7 battery";
  const ana = await Person.arrive({ acceptDownloads: true });
  const id = await ana.begin("Two players on this device", "Ana");
  await ana.open("/account");
  await ana.page.getByText(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/).waitFor();
  const register = ana.page.locator("section", { hasText: "You keep all your games" });
  await register.getByLabel("Name").fill(name);
  await register.getByLabel("Password").fill(password);
  await register.getByRole("button", { name: "Create an account" }).click();
  await ana.hears("Your account is ready.");
  await ana.isAccessible("an account");
  await ana.screenshot("account", true);
  const download = ana.page.waitForEvent("download");
  await ana.button("Download my data").click();
  assert.equal((await download).suggestedFilename(), "mancala.json");

  const tablet = await Person.arrive({ expected: /401/ });
  await tablet.open("/account");
  const signIn = tablet.page.locator("form", { has: tablet.page.getByRole("button", { name: "Sign in" }) });
  await signIn.getByLabel("Name").fill(name);
  await signIn.getByLabel("Password").fill("wrong password");
  await signIn.getByRole("button").click();
  await tablet.hears("Wrong name, password or code");
  await signIn.getByLabel("Password").fill(password);
  await signIn.getByRole("button").click();
  await tablet.page.getByText("Another device").waitFor();
  await tablet.open("/");
  await tablet.page.locator(`main a[href="/games/${id}"]`).waitFor();
  await tablet.open("/account");
  await tablet.button("Erase my account").click();
  await tablet.page.getByRole("dialog").getByRole("button", { name: "Erase my account" }).click();
  await tablet.hears("Your data has been erased.");
  await tablet.leave();
  await ana.context.close();
});

test("a guest who signs in takes the games along at once", async () => {
  const name = `Ana${Date.now() % 1e9}`;
  const password = "correct horse 7 battery";
  await call("POST", "/v1/players", null, { name, password });
  const ana = await Person.arrive();
  const id = await ana.begin("Two players on this device", "Guest Ana");
  await ana.open("/account");
  const signIn = ana.page.locator("form", { has: ana.button("Sign in") });
  await signIn.getByLabel("Name").fill(name);
  await signIn.getByLabel("Password").fill(password);
  await signIn.getByRole("button").click();
  await ana.page.getByRole("heading", { name: "Games of this device’s guest" }).waitFor();
  await ana.isAccessible("the offer to take the games along");
  await ana.button("Keep these games").click();
  await ana.hears("The games are in your account now.");
  await becomes(() => ana.page.getByRole("heading", { name: "Games of this device’s guest" }).count(), 0);
  await ana.open("/");
  await ana.page.locator(`main a[href="/games/${id}"]`).waitFor();
  await ana.leave();
});

test("what takes an account over asks for the password, and goes on with it", async () => {
  const ana = await Person.arrive({ expected: /40[13]/ });
  const password = "correct horse 7 battery";
  await ana.open("/account");
  const register = ana.page.locator("form", { has: ana.page.getByRole("button", { name: "Create an account" }) });
  await register.getByLabel("Name").fill(`Ana${Date.now() % 1e9}`);
  await register.getByLabel("Password").fill(password);
  await register.getByRole("button").click();
  const code = ana.page.locator(css("{account.code}"));
  await code.waitFor();
  const before = await code.textContent();
  await ana.button("I have written it down").click();
  // The server takes the sign-in for an old one, unless the password is there.
  await ana.page.route("**/v1/me/recovery-code", async (route) => {
    const refusal = { code: "recent_sign_in_required", detail: "sign in again" };
    if (route.request().postData()?.includes("current_password")) await route.continue();
    else await route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify(refusal) });
  });
  const dialog = ana.page.getByRole("dialog", { name: "Confirm that it is you" });
  await ana.button("Create a new code").click();
  await dialog.waitFor();
  await ana.isAccessible("the question for the password");
  await ana.screenshot("confirm");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await ana.hears("Sign in again first");
  await ana.button("Create a new code").click();
  await dialog.getByLabel("Password").fill("wrong password");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await ana.hears("Wrong name, password or code");
  await ana.button("Create a new code").click();
  await dialog.getByLabel("Password").fill(password);
  await dialog.getByLabel("Password").press("Enter");
  await code.waitFor();
  assert.notEqual(await code.textContent(), before);
  await ana.leave();
});

test("a guest comes back by its recovery code", async () => {
  const ana = await Person.arrive();
  const id = await ana.begin("Two players on this device", "Ana");
  await ana.open("/account");
  const code = (await ana.page.locator(css("{account.code}")).textContent()) ?? "";
  const phone = await Person.arrive();
  await phone.open("/account");
  await phone.page.getByLabel("Recovery code").fill(code.toLowerCase().replaceAll("-", " "));
  await phone.button("Use a recovery code").click();
  await eventually("the name is shown", async () => (await phone.page.locator('header a[href="/account"]').textContent()) === "Ana");
  await phone.open(`/games/${id}`);
  await phone.legal().first().waitFor();
  await ana.leave();
  await phone.leave();
});

for (const [name, device] of Object.entries({
  light: { colorScheme: "light" as const },
  dark: { colorScheme: "dark" as const },
  narrow: { viewport: { width: 320, height: 640 } },
  "narrow-dark": { viewport: { width: 320, height: 640 }, colorScheme: "dark" as const },
  rtl: { settings: { language: "ar-XB" } },
  "rtl-narrow": { settings: { language: "ar-XB" }, viewport: { width: 320, height: 640 } },
})) {
  test(`the views are readable: ${name}`, async () => {
    const ana = await Person.arrive({ reducedMotion: "reduce", expected: /404/, ...device });
    const player = await guest("Ana");
    const { id } = await call<{ id: string }>("POST", "/v1/games", player.token, { variant: "kalah", side: "south", opponent: { type: "self" } });
    for (const [ply, move] of [
      [1, "E"],
      [2, "c"],
      [3, "a"],
      [4, "A"],
    ])
      await call("POST", `/v1/games/${id}/moves`, player.token, { ply, move });
    for (const view of [...VIEWS, `/games/${id}`, `/g/${id}`, "/problems/stale_ply", "/g/missing"]) {
      await ana.open(view);
      await ana.page.locator("h1").waitFor();
      await eventually("it is loaded", async () => (await ana.page.locator(css("{ui.quiet}"), { hasText: /Loading|Lø/ }).count()) === 0);
      await ana.fits(view);
      await ana.isAccessible(`${view} (${name})`);
      await ana.screenshot(`${view === "/g/missing" ? "missing" : view.split("/")[1] || "home"}-${name}`, true);
    }
    await ana.leave();
  });
}

test("each way to begin a game is as wide as the others, whichever is open", async () => {
  for (const width of [1200, 320]) {
    const ana = await Person.arrive({ viewport: { width, height: 900 } });
    await ana.open("/");
    const edges = (selector: string) =>
      ana.page.locator(selector).evaluateAll((all) => all.map((each) => [each.getBoundingClientRect().left, each.getBoundingClientRect().right]));
    await ana.button("Play the computer").waitFor();
    const [above] = await edges('[aria-labelledby="starts-title"]');
    for (const way of ["Play the computer", "Two players on this device", "Find an opponent"] as const) {
      await ana.way(way);
      for (const start of await edges(css("{starts.start}"))) assert.deepEqual(start, above, `at ${width} pixels`);
    }
    assert.equal(
      await ana.page
        .locator(css("{starts.settings}"))
        .first()
        .evaluate((way) => getComputedStyle(way).textAlign),
      "start",
    );
    await ana.leave();
  }
});

test("the language is the browser's, or the one that was chosen", async () => {
  for (const [locale, word] of [
    ["de-AT", "Jetzt spielen"],
    ["fr-CA", "Jouer"],
    ["es-MX", "Jugar"],
    ["ja-JP", "Play now"],
  ] as const) {
    const ana = await Person.arrive({ locale });
    await ana.open("/");
    await ana.page.getByRole("heading", { name: word }).waitFor();
    await becomes(() => ana.page.evaluate(() => document.documentElement.lang), locale === "ja-JP" ? "en" : locale.slice(0, 2));
    await ana.leave();
  }
  const ana = await Person.arrive({ locale: "de-DE" });
  await ana.open("/settings");
  await ana.page.locator("#language").selectOption("es");
  await ana.page.getByRole("heading", { name: "Ajustes" }).waitFor();
  await ana.page.reload();
  await ana.page.getByRole("heading", { name: "Ajustes" }).waitFor();
  await ana.leave();
});

test("each built catalogue has the texts of its source", async () => {
  const files = readdirSync(fileURLToPath(new URL("../dist/assets/", import.meta.url)));
  const ana = await Person.arrive();
  await ana.open("/");
  await ana.page.locator("h1").waitFor();
  for (const [language, texts] of Object.entries({ de, es, fr })) {
    const built: unknown[] = [];
    for (const file of files.filter((name) => name.startsWith(`${language}-`))) {
      built.push(...(await ana.page.evaluate(async (path) => Object.values((await import(path)) as object), `/assets/${file}`)));
    }
    assert.ok(
      built.some((each) => isDeepStrictEqual(each, texts)),
      language,
    );
  }
  await ana.leave();
});

test("pictures are asked for in the language of the page", async () => {
  const ana = await Person.arrive({ locale: "de-DE" });
  const pictures = () =>
    ana.page.locator(css("{ui.picture}")).evaluateAll((all) => all.map((each) => new URL((each as HTMLImageElement).src).searchParams.get("lang")));
  await ana.open("/rules");
  await becomes(async () => [...new Set(await pictures())], ["de"]);
  await eventually("the picture is there", () =>
    ana.page
      .locator(css("{ui.picture}"))
      .first()
      .evaluate((each) => (each as HTMLImageElement).naturalWidth > 0),
  );
  await eventually("all are there", async () => (await pictures()).length > 1);
  assert.deepEqual([...new Set(await pictures())], ["de"]);
  await ana.leave();
  const pseudo = await Person.arrive({ settings: { language: "ar-XB" } });
  await pseudo.open("/rules");
  await eventually("a language that the server knows", () =>
    pseudo.page
      .locator(css("{ui.picture}"))
      .first()
      .evaluate((each) => (each as HTMLImageElement).naturalWidth > 0),
  );
  await pseudo.leave();
});

test("a refusal is told in the language of the page alone", async () => {
  const ana = await Person.arrive({ locale: "de-DE", expected: /422|403|409/ });
  await ana.open("/");
  const answer = ana.page.waitForResponse((response) => response.url().endsWith("/v1/players") && response.status() === 422);
  await ana.button("Gegen den Computer").click();
  await ana.page.getByLabel("Dein Name (freiwillig)").fill("x\u202ey");
  await ana.button("Spiel beginnen").click();
  const { errors } = (await (await answer).json()) as { errors: { detail: string }[] };
  await ana.hears("Das wurde nicht angenommen");
  const told = await ana.page.locator('[role="log"] > div').allTextContents();
  for (const { detail } of errors) assert.ok(!told.join().includes(detail), told.join());
  await ana.page.getByLabel("Dein Name (freiwillig)").fill("");
  for (const [status, code, words] of [
    [403, "forbidden", "Das ist nicht erlaubt."],
    [409, "too_many_games", "Mehr Spiele gehen nicht"],
  ] as const) {
    await ana.context.route("**/v1/games", (route) => route.fulfill({ status, json: { code, detail: "in plain English" } }), { times: 1 });
    await ana.button("Spiel beginnen").click();
    await ana.hears(words);
  }
  assert.ok(!(await ana.page.locator('[role="log"]').textContent())?.includes("English"));
  await ana.leave();
});

test("the rules for passwords are told in the language of the page", async () => {
  for (const [language, texts] of Object.entries({ de, es, fr })) {
    const ana = await Person.arrive({ settings: { language }, expected: /422/ });
    await ana.open("/account");
    await ana.page.locator("#new-name").fill(`Ana${Date.now() % 1e9}`);
    // One of the most common ones.
    await ana.page.locator("#new-password").fill("password1");
    await ana.page.locator("#new-password").press("Enter");
    await ana.hears(texts["invalid.password"] as string);
    await ana.isAccessible(`a refused password in ${language}`);
    await ana.leave();
  }
});
