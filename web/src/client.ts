// The SDK's client for the server that the page came from. Every call of the page goes through it.

import { createClient } from "@mancala-server/client";

import { askWho } from "./state/confirm.ts";
import { watchedFetch } from "./state/network.ts";

export const client = createClient({
  baseUrl: location.origin,
  fetch: (request) => watchedFetch(request),
  onSignInRequired: askWho,
});

/** For what a player waits for: a failure is shown after some seconds, and the player tries again. */
export const SOON = { retry: { attempts: 4, baseMs: 400, maxMs: 2500, timeoutMs: 12_000 } };
