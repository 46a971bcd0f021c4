// Moves on their way to the server. Every move goes through the SDK's queue, which survives a reload.

import type { QueuedMove } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { client } from "../client.ts";

/** The moves that the server has not confirmed. */
export const queued = signal<readonly QueuedMove[]>(client.queue.pending());

/** A server that was away for longer than the SDK repeats a move is asked again so often. */
const AGAIN_MS = 10_000;

client.queue.onChange(() => (queued.value = client.queue.pending()));

/** Keeps sending what waits, also where the browser does not notice that the network is back. */
export function startQueue(): void {
  setInterval(() => {
    if (queued.value.length > 0) void flush();
  }, AGAIN_MS);
  addEventListener("focus", () => void flush());
}

async function flush(): Promise<void> {
  try {
    await client.queue.flush();
  } catch {
    // They wait on.
  }
}
