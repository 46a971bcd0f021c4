// A browser for the tests: contexts are devices, and every page must stay without errors.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { css } from "./classes.ts";

/** The server that serves the page: `.ci/with-server` says where it is. */
export const BASE = process.env["BASE_URL"] ?? assert.fail("BASE_URL is the address of a server");

const EXECUTABLE = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long a test waits for what it expects: much longer than it takes, because machines are busy. */
export const WAIT_MS = 60_000;

/** Where screenshots are kept: to be looked at, and as artefacts. */
export const SHOTS = fileURLToPath(new URL("../../target/web-screenshots/", import.meta.url));

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Promise<Browser> | undefined;

/** The browser of all tests of a file. One that ends while it starts says nothing of the page: it is started once more. */
function launched(): Promise<Browser> {
  const launch = () => chromium.launch({ executablePath: EXECUTABLE, args: FLAGS, timeout: 2 * WAIT_MS });
  browser ??= launch().catch(launch);
  return browser;
}

/** The browsers of devices that have one for themselves. */
const own: BrowserContext[] = [];

/** A browser of one device. Its profile is deleted when it is closed. */
async function launchFor(switches: readonly string[], options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext("", { executablePath: EXECUTABLE, args: [...FLAGS, ...switches], timeout: 2 * WAIT_MS, ...options });
  own.push(context);
  return context;
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  // A test that has failed leaves it open.
  await Promise.all(own.splice(0).map((context) => context.close()));
  browser = undefined;
}

/** What a device prefers before the page is opened. */
export interface Device extends BrowserContextOptions {
  settings?: Record<string, unknown>;
  /** What else is in its storage. */
  stored?: Record<string, string>;
  /** Errors on the console that the test causes. */
  expected?: RegExp;
  /** Where the server is, for a device behind a network of its own. */
  base?: string;
  /** Switches of a browser that the device has for itself, with a profile that is not private. */
  switches?: readonly string[];
}

/** The ways to begin a game: what opens their settings, and what begins the game then. */
const WAYS = {
  "Play the computer": ["Play the computer", "Start the game"],
  "Invite a friend": ["Play a friend", "Invite a friend"],
  "Two players on this device": ["Play a friend", "Two players on this device"],
  "Find an opponent": ["Find an opponent", "Search now"],
} as const;

export type Way = keyof typeof WAYS;

/** What a page has shown, if only for a moment. */
interface Seen {
  seenMessages?: string[];
  seenHeld?: number;
}

/** A browser of one player. */
export class Person {
  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly errors: string[],
    private readonly expected: RegExp | undefined,
    private readonly base: string,
  ) {}

  static async arrive(device: Device = {}): Promise<Person> {
    const { settings, stored, expected, base = BASE, switches, ...rest } = device;
    const options = { viewport: { width: 1200, height: 900 }, locale: "en-GB", ...rest };
    const context = await (switches ? launchFor(switches, options) : (await launched()).newContext(options));
    context.setDefaultTimeout(WAIT_MS);
    const items = { "mancala.settings": JSON.stringify({ speed: "off", isGuided: true, ...settings }), ...stored };
    await context.addInitScript((all) => {
      // The empty document before the page has no storage.
      if (location.protocol === "about:") return;
      // Once: what the page has removed stays away.
      if (localStorage.getItem("test.stored") !== null) return;
      localStorage.setItem("test.stored", "yes");
      for (const [key, value] of Object.entries(all)) localStorage.setItem(key, value);
    }, items);
    // A slow machine may look only when a message is gone, or a move is over.
    await context.addInitScript((held) => {
      const seen = globalThis as Seen;
      seen.seenMessages = [];
      seen.seenHeld = 0;
      const look = () => {
        seen.seenMessages?.push(...[...document.querySelectorAll('[role="log"] > div > span')].map(({ textContent }) => textContent ?? ""));
        seen.seenHeld = (seen.seenHeld ?? 0) + document.querySelectorAll(held).length;
      };
      new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class"] });
    }, css("{board.held}"));
    const errors: string[] = [];
    const watch = (page: Page) => {
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    };
    context.on("page", watch);
    const page = await context.newPage();
    return new Person(context, page, errors, expected, base);
  }

  /** Leaves, and fails the test if a page had an error that the test did not expect. */
  async leave(): Promise<void> {
    await this.context.close();
    const unexpected = this.errors.filter((error) => !this.expected?.test(error));
    assert.deepEqual(unexpected, [], "errors on the console");
  }

  async open(path: string): Promise<Page> {
    await this.page.goto(this.base + path);
    return this.page;
  }

  /** Waits until a message says this, and be it that it is gone again. */
  async hears(text: string): Promise<void> {
    const heard = () => this.page.evaluate(() => (globalThis as Seen).seenMessages ?? []);
    await eventually(`a message says “${text}”`, async () => (await heard()).some((message) => message.includes(text)));
  }

  /** Waits until seeds are, or were, in a hand. */
  async seesMoving(): Promise<void> {
    await eventually("seeds move", async () => ((await this.page.evaluate(() => (globalThis as Seen).seenHeld)) ?? 0) > 0);
  }

  button(name: string | RegExp) {
    return this.page.getByRole("button", { name });
  }

  /** The button of the first view that begins a game in this way. The settings of the way are open then. */
  async way(button: Way): Promise<Locator> {
    const [start, submit] = WAYS[button];
    const opens = this.page.locator(css("{starts.start}")).getByRole("button", { name: start });
    if ((await opens.getAttribute("aria-expanded")) === "false") await opens.click();
    return this.page.locator(css("{starts.settings}")).getByRole("button", { name: submit });
  }

  /** Begins a game from the first view. */
  async begin(button: Way, name = ""): Promise<string> {
    await this.open("/");
    const begins = await this.way(button);
    if (name !== "") await this.page.getByLabel("Your name (optional)").fill(name);
    await begins.click();
    await this.page.waitForURL(/\/games\//, { waitUntil: "commit" });
    await this.page.locator("[data-ply]").waitFor();
    return new URL(this.page.url()).pathname.split("/")[2] ?? "";
  }

  /** The access token of the player who is signed in. */
  async token(): Promise<string> {
    const stored = await this.page.evaluate(() => Object.values(localStorage).find((value) => value.includes("access") && value.includes("refresh")));
    return /"access(?:_token|Token)":"([^"]+)"/.exec(stored ?? "")?.[1] ?? assert.fail("no session is kept");
  }

  /** The pits that can be played now. */
  legal() {
    return this.page.locator('[data-pit][aria-disabled="false"]');
  }

  /** The state of the game as the page says it. */
  status(): Promise<string | null> {
    return this.page.locator("[data-status]").getAttribute("data-status");
  }

  /** Whether the own moves have arrived: `live`, `sent`, `queued`, `away`. */
  presence() {
    return this.page.locator("[data-presence]");
  }

  async screenshot(name: string, fullPage = false): Promise<void> {
    mkdirSync(SHOTS, { recursive: true });
    await this.page.screenshot({ path: `${SHOTS}${name}.png`, fullPage });
  }

  /** Fails with what axe finds. */
  async isAccessible(where: string): Promise<void> {
    await this.page.evaluate(AXE);
    const found = await this.page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
      const { violations } = await axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
    });
    assert.deepEqual(found, [], `axe on ${where}`);
  }

  /** Fails if the page is wider than its window. */
  async fits(where: string): Promise<void> {
    const [page, window] = await this.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok((page ?? 0) <= (window ?? 0), `${where} is ${page} px wide in a window of ${window} px`);
  }
}

/** Repeats until it is so, or the time is over. */
export async function eventually(what: string, isSo: () => Promise<boolean>, ms = WAIT_MS): Promise<void> {
  const end = Date.now() + ms;
  while (!(await isSo())) {
    assert.ok(Date.now() < end, `not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** Repeats until it is equal, or the time is over. */
export async function becomes<T>(read: () => Promise<T>, expected: T, what?: string): Promise<void> {
  const end = Date.now() + WAIT_MS;
  for (let found = await read(); ; found = await read()) {
    if (isDeepStrictEqual(found, expected)) return;
    if (Date.now() >= end) assert.deepEqual(found, expected, what);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** Plays legal pits for these people until the game is over. */
export async function playToTheEnd(people: readonly Person[], pick: (person: Person) => Promise<void> = click): Promise<number> {
  let moves = 0;
  while (moves < 400) {
    let moved = false;
    for (const person of people) {
      if ((await person.status()) === "finished") return moves;
      if ((await person.legal().count()) === 0) continue;
      await pick(person);
      moves += 1;
      moved = true;
    }
    if (!moved) await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail("the game has no end");
}

async function click(person: Person): Promise<void> {
  const before = await person.page.locator("[data-ply]").getAttribute("data-ply");
  await person.legal().first().click();
  await eventually("the move is shown", () => person.page.evaluate(chooseWay, before));
}

/** Whether a move was made. If its pit asks which way, the first way is chosen. */
function chooseWay(before: string | null): boolean {
  const isMoved = document.querySelector("[data-ply]")?.getAttribute("data-ply") !== before;
  if (!isMoved) document.querySelector<HTMLElement>("[data-choice] [data-move]")?.click();
  return isMoved;
}

/** A call of the API beside the page. */
export async function call<T>(method: string, path: string, token: string | null, body?: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json", ...(token !== null && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(BASE + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return (response.status === 204 ? null : await response.json()) as T;
}

/** A guest who plays by the API. */
export async function guest(name: string): Promise<{ id: string; token: string; refresh: string }> {
  const set = await call<{ player: { id: string }; access_token: string; refresh_token: string }>("POST", "/v1/players", null, { name });
  return { id: set.player.id, token: set.access_token, refresh: set.refresh_token };
}
