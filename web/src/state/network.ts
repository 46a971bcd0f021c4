// Whether the server can be reached, seen from the calls that are made anyway, and what time it is there.

import { signal } from "@preact/signals";

import { keepValue, keptValue } from "./kept.ts";

/** `offline`: no answer comes. `trouble`: answers come, and say that the server fails. */
export type Network = "fine" | "offline" | "trouble";

export const network = signal<Network>(navigator.onLine ? "fine" : "offline");

/** A clock of this device that is off by more than this is corrected by the server's. */
const OFF_MS = 2500;

/** By how much the server's clock is ahead of this device's. It is kept, so that a reload without a network has it too. */
let ahead = keptAhead();

function keptAhead(): number {
  const kept = keptValue<unknown>("ahead");
  return typeof kept === "number" && Number.isFinite(kept) ? kept : 0;
}

function correct(difference: number): void {
  const next = Math.abs(difference) > OFF_MS ? difference : 0;
  if (Math.abs(next - ahead) > OFF_MS) keepValue("ahead", next);
  ahead = next;
}

/** The server's time, as far as its answers tell it. */
export function serverNow(): number {
  return Date.now() + ahead;
}

/** Ticks while something on the page counts down. */
export const now = signal(serverNow());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = serverNow();
}, 1000);

addEventListener("offline", () => (network.value = "offline"));
addEventListener("online", () => (network.value = "fine"));

/** `fetch`, which notes whether an answer came. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    const date = Date.parse(response.headers.get("date") ?? "");
    const difference = date - Date.now();
    if (!Number.isNaN(difference)) correct(difference);
    network.value = [500, 502, 503, 504].includes(response.status) ? "trouble" : "fine";
    return response;
  } catch (error) {
    if (!isAbort(error)) network.value = "offline";
    throw error;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
