// Who plays on this device.

import { MancalaError, type Player } from "@mancala-server/client";
import { computed, signal } from "@preact/signals";

import { client, SOON } from "../client.ts";
import { t } from "../texts/index.ts";
import { ask } from "./ask.ts";
import { forgetPlayer } from "./kept.ts";
import { say } from "./messages.ts";
import { settings } from "./settings.ts";

/** What this device keeps: the sign-in, the recovery code that is not noted yet, and the guest that played here before the account. */
const read = () => ({ ...client.session.current(), code: client.session.recoveryCode(), guest: client.session.keptGuest() });

/** What this device keeps of its player. The SDK has the truth, and this is its only copy. */
const kept = signal(read());

/** The player that is signed in, or null. */
export const me = signal<Player | null>(client.session.current()?.player ?? null);

/** The sign-in of this device. */
export const signInId = computed(() => kept.value.signInId);

/** The code that the server showed once, until the player has written it down. */
export const recoveryCode = computed(() => kept.value.code);

/** The guest of this device, whose games the account may take along. */
export const keptGuest = computed(() => kept.value.guest);

/** Counts the players who have left this device: what a view holds of one is not for the next. */
export const departures = signal(0);

client.session.onChange((session, cause) => {
  const before = me.value;
  me.value = session?.player ?? null;
  kept.value = read();
  if (before && before.id !== me.value?.id) forgetAbout(before);
  // The server has ended the session: the player was not the one who did it here.
  if (!session && cause instanceof MancalaError) say(t("session.ended"), "error");
});

// What was kept for a player is not for the next one at this device. Moves that wait are the SDK's: only their player can send them.
function forgetAbout({ id }: Player): void {
  departures.value += 1;
  forgetPlayer();
  for (const move of client.queue.refused()) if (move.playerId === id) void client.queue.dismiss(move.id).catch(() => undefined);
}

/** Changes what this device keeps of its player. */
export async function keep<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } finally {
    kept.value = read();
  }
}

/** The player that is signed in, or else a new guest with the name of the settings. */
export async function ensurePlayer(): Promise<Player> {
  const there = client.session.current();
  if (there) return there.player;
  const name = settings.value.name.trim();
  return client.session.guest(name === "" ? undefined : name, SOON);
}

/** Erases a guest who has done nothing yet, and leaves the device without a player. */
export async function dropGuest(id: string): Promise<void> {
  if (client.session.current()?.player.id !== id) return;
  await ask(client.api.DELETE("/v1/me"));
  await client.session.signOut(SOON);
}
