// Notifications while the page is closed: from the switch in the settings to what Chromium shows. The push service is the tests' own. All else
// is as elsewhere: the browser's keys, the server's token, and the sealed message, which Chromium itself opens.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { BASE, becomes, call, closeBrowser, eventually, guest, Person } from "./support/browser.ts";
import { PushService } from "./support/push-service.ts";

after(closeBrowser);

/** A device whose browser uses this push service. The server is told its address in place of Google's, with the same token. */
async function arriveWith(service: PushService, locale: string): Promise<Person> {
  const person = await Person.arrive({ locale, permissions: ["notifications"], switches: service.switches });
  await person.context.addInitScript((address) => {
    const { toJSON } = PushSubscription.prototype;
    PushSubscription.prototype.toJSON = function () {
      const json = toJSON.call(this);
      return { ...json, endpoint: address + json.endpoint?.split("/").at(-1) };
    };
  }, service.address);
  return person;
}

/** Switches notifications on or off in the settings, and waits for the server's answer. */
async function toggle(person: Person, name: string, status: number): Promise<void> {
  await person.open("/settings");
  const answer = person.page.waitForResponse((response) => response.url().includes("/v1/me/devices") && response.status() === status);
  await person.page.getByRole("checkbox", { name }).click();
  await answer;
}

const tokenOf = (person: Person) =>
  person.page.evaluate(() => {
    const entry = Object.values(localStorage).find((value: string) => value.includes("access") && value.includes("refresh"));
    return /"access(?:_token|Token)":"([^"]+)"/.exec(entry ?? "")?.[1] ?? "";
  });

const devicesOf = (token: string) =>
  call<{ items: { kind: string; language: string }[] }>("GET", "/v1/me/devices", token).then(({ items }) =>
    items.map(({ kind, language }) => ({ kind, language })),
  );

/** The notifications that Chromium shows. */
const shown = (person: Person) =>
  person.page.evaluate(async () => {
    const notifications = await (await navigator.serviceWorker.ready).getNotifications();
    return notifications.map(({ title, body, tag, data }) => ({ title, body, tag, data: data as unknown }));
  });

/** Touches the notification, as far as a test can: a browser opens windows for real touches only, so the address is returned. */
async function touch(person: Person): Promise<string[]> {
  const worker = person.context.serviceWorkers()[0] ?? (await person.context.waitForEvent("serviceworker"));
  return worker.evaluate(async () => {
    const scope = globalThis as unknown as { registration: ServiceWorkerRegistration; clients: object };
    const opened: string[] = [];
    Object.defineProperty(scope.clients, "openWindow", { configurable: true, value: async (path: string) => void opened.push(path) });
    const [notification] = await scope.registration.getNotifications();
    const event = Object.assign(new Event("notificationclick"), { notification });
    await new Promise((resolve) => {
      Object.assign(event, { waitUntil: (opening: Promise<unknown>) => void opening.then(resolve, resolve) });
      globalThis.dispatchEvent(event);
    });
    return opened;
  });
}

test("Chromium opens what the server seals, and shows the last of each game", async () => {
  const service = await PushService.open();
  const ana = await arriveWith(service, "de-DE");
  await toggle(ana, "Mitteilungen auf diesem Gerät", 201);
  await ana.isAccessible("the settings with notifications");
  await ana.screenshot("settings-notifications");
  const token = await tokenOf(ana);
  assert.deepEqual(await devicesOf(token), [{ kind: "web", language: "de" }]);
  const { id: player } = await call<{ id: string }>("GET", "/v1/me", token);

  const ben = await guest("Ben");
  const { id } = await call<{ id: string }>("POST", "/v1/games", ben.token, {
    variant: "kalah",
    side: "south",
    opponent: { type: "player", player_id: player },
  });
  const tag = id.replaceAll("-", "");
  const message = (body: string, type: string) => [{ title: "Kalah", body, tag, data: { type, game_id: id } }];
  await becomes(() => shown(ana), message("Du bist zu einem Spiel eingeladen.", "game.invited"));
  await call("POST", `/v1/games/${id}/join`, token);
  await call("POST", `/v1/games/${id}/moves`, ben.token, { ply: 1, move: "A" });
  await becomes(() => shown(ana), message("Du bist am Zug.", "game.your_turn"), "a later one takes the place");
  await call("POST", `/v1/games/${id}/moves`, token, { ply: 2, move: "a" });
  await call("POST", `/v1/games/${id}/resign`, ben.token);
  await becomes(() => shown(ana), message("Das Spiel ist aus.", "game.finished"), "a later one takes the place");

  assert.deepEqual(await touch(ana), [`/games/${id}`]);
  assert.deepEqual(await shown(ana), []);
  assert.deepEqual(service.faults, []);
  assert.equal(service.sent.length, 3);
  assert.equal(new Set(service.sent.map(({ headers }) => headers["topic"])).size, 1);
  for (const { claims, headers, body } of service.sent) {
    assert.equal(claims["sub"], "mailto:ops@play.example");
    assert.equal(headers["content-encoding"], "aes128gcm");
    assert.ok(!body.includes("Kalah"), "sealed");
  }
  await ana.leave();
  service.close();
});

test("notifications end with the switch, and with the player", async () => {
  const service = await PushService.open();
  const ana = await arriveWith(service, "en-GB");
  const box = ana.page.getByRole("checkbox", { name: "Notifications on this device" });
  await toggle(ana, "Notifications on this device", 201);
  const token = await tokenOf(ana);
  assert.ok(await box.isChecked());
  // Each start registers it again, with the language of the page.
  const again = ana.page.waitForResponse((response) => response.url().endsWith("/v1/me/devices") && response.status() === 200);
  await ana.page.locator("#language").selectOption("fr");
  await again;
  assert.deepEqual(await devicesOf(token), [{ kind: "web", language: "fr" }]);
  await ana.page.locator("#language").selectOption("en");
  await becomes(() => devicesOf(token), [{ kind: "web", language: "en" }]);
  await toggle(ana, "Notifications on this device", 204);
  assert.deepEqual(await devicesOf(token), []);
  await becomes(async () => service.count, 0);

  await toggle(ana, "Notifications on this device", 201);
  assert.equal(service.count, 1);
  await ana.open("/account");
  const removed = ana.page.waitForResponse((response) => response.request().method() === "DELETE" && response.url().includes("/v1/me/devices/"));
  await ana.button("Sign out").click();
  await ana.page.locator("dialog[open]").getByRole("button", { name: "Sign out" }).click();
  assert.equal((await removed).status(), 204);
  await becomes(async () => service.count, 0);
  await ana.open("/settings");
  await box.waitFor();
  assert.ok(!(await box.isChecked()));
  await ana.leave();
  service.close();
});

test("a new password leaves the notifications on, and a subscription that cannot be ended keeps none from signing out", async () => {
  const service = await PushService.open();
  const ana = await arriveWith(service, "en-GB");
  await toggle(ana, "Notifications on this device", 201);
  await ana.open("/account");
  const register = ana.page.locator("section", { hasText: "You keep all your games" });
  await register.getByLabel("Name").fill(`Ana${Date.now() % 1e9}`);
  await register.getByLabel("Password").fill("correct horse 7 battery");
  const registered = ana.page.waitForResponse((response) => response.request().method() === "POST" && response.url().endsWith("/v1/me/devices"));
  await register.getByRole("button", { name: "Create an account" }).click();
  await ana.hears("Your account is ready.");
  assert.ok((await registered).ok());
  await becomes(async () => devicesOf(await tokenOf(ana)), [{ kind: "web", language: "en" }]);

  await ana.page.evaluate(() => {
    PushSubscription.prototype.unsubscribe = () => Promise.reject(new DOMException("no network", "AbortError"));
  });
  await ana.page.getByRole("button", { name: "Sign out", exact: true }).click();
  await ana.page.locator("dialog[open]").getByRole("button", { name: "Sign out", exact: true }).click();
  await becomes(() => tokenOf(ana), "");
  await ana.leave();
  service.close();
});

test("notifications are offered only where they are possible", async () => {
  const ana = await Person.arrive();
  await ana.open("/settings");
  const box = ana.page.getByRole("checkbox", { name: "Notifications on this device" });
  await box.click();
  await ana.hears("The browser does not allow notifications.");
  await eventually("the switch is off", async () => !(await box.isChecked()) && (await box.isEnabled()));
  const answer = ana.page.waitForResponse(`${BASE}/v1/push`);
  await ana.context.route("**/v1/push", (route) => route.fulfill({ json: { kinds: [], web: null } }));
  await ana.page.reload();
  await answer;
  await ana.page.getByRole("heading", { name: "Settings" }).waitFor();
  assert.equal(await box.count(), 0);
  await ana.leave();
});
