// What this device prefers. It is kept in the browser and sent to no server.

import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
/** How fast seeds move; `auto` is normal, and off for people who prefer reduced motion. */
export type Speed = "auto" | "slow" | "normal" | "fast" | "off";

export interface Settings {
  theme: Theme;
  speed: Speed;
  /** Off until it is asked for. */
  sound: boolean;
  /** A tag of a language, or null for the browser's choice. */
  language: string | null;
  /** The name for a new guest, and what was played last. */
  name: string;
  variant: string;
  level: number;
  practice: boolean;
  /** What the touch of a finger on a pit does: plays it, or shows where it leads, and a second touch plays. */
  tap: "play" | "show";
  /** Whether the guide of the first game was read or left. */
  isGuided: boolean;
}

const DEFAULTS: Settings = {
  theme: "auto",
  speed: "auto",
  sound: false,
  language: null,
  name: "",
  variant: "kalah",
  level: 2,
  practice: false,
  tap: "play",
  isGuided: false,
};

const KEY = "mancala.settings";

const ALLOWED: { [Name in keyof Settings]: (value: unknown) => boolean } = {
  theme: (value) => ["auto", "light", "dark"].includes(value as string),
  speed: (value) => ["auto", "slow", "normal", "fast", "off"].includes(value as string),
  sound: (value) => typeof value === "boolean",
  language: (value) => value === null || typeof value === "string",
  name: (value) => typeof value === "string" && value.length <= 64,
  variant: (value) => typeof value === "string",
  level: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 8,
  practice: (value) => typeof value === "boolean",
  tap: (value) => ["play", "show"].includes(value as string),
  isGuided: (value) => typeof value === "boolean",
};

/** What was stored, whichever release has stored it: fields that are missing or strange have their defaults. */
export function readSettings(text: string | null): Settings {
  let stored: unknown = null;
  try {
    stored = JSON.parse(text ?? "null");
  } catch {
    // As if nothing was stored.
  }
  const fields = typeof stored === "object" && stored !== null ? (stored as Record<string, unknown>) : {};
  const known = Object.entries(fields).filter(([name, value]) => Object.hasOwn(ALLOWED, name) && ALLOWED[name as keyof Settings](value));
  return { ...DEFAULTS, ...Object.fromEntries(known) };
}

function load(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const settings = signal(readSettings(load()));

/** Changes some settings, and keeps them. */
export function set(change: Partial<Settings>): void {
  settings.value = { ...settings.value, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(settings.value));
  } catch {
    // A browser that keeps nothing still plays.
  }
}

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** What a step of the animation takes, in milliseconds; 0 for none. */
export function stepMs(): number {
  const { speed } = settings.value;
  if (speed === "auto") return reduced.matches ? 0 : 240;
  return { slow: 480, normal: 240, fast: 110, off: 0 }[speed];
}

/** Shows the chosen colours; without a choice those of the system. */
export function followTheme(): void {
  effect(() => {
    const { theme } = settings.value;
    if (theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  });
}
