// Who plays on this device.

import { MancalaError, type Player } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { client, SOON } from "../client.ts";
import { t } from "../texts/index.ts";
import { ask } from "./ask.ts";
import { forgetPlayer } from "./kept.ts";
import { say } from "./messages.ts";
import { settings } from "./settings.ts";

/** The player that is signed in, or null. */
export const me = signal<Player | null>(client.session.current()?.player ?? null);

/** Counts the players who have left this device: what a view holds of one is not for the next. */
export const departures = signal(0);

client.session.onChange((session, cause) => {
  const before = me.value;
  me.value = session?.player ?? null;
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
