// Who plays on this device.

import { MancalaError, type Player } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { client, SOON } from "../client.ts";
import { t } from "../texts/index.ts";
import { say } from "./messages.ts";
import { settings } from "./settings.ts";

/** The player that is signed in, or null. */
export const me = signal<Player | null>(client.session.current()?.player ?? null);

client.session.onChange((session, cause) => {
  me.value = session?.player ?? null;
  // The server has ended the session: the player was not the one who did it here.
  if (!session && cause instanceof MancalaError) say(t("session.ended"), "error");
});

/** The player that is signed in, or else a new guest with the name of the settings. */
export async function ensurePlayer(): Promise<Player> {
  const there = client.session.current();
  if (there) return there.player;
  const name = settings.value.name.trim();
  return client.session.guest(name === "" ? undefined : name, SOON);
}
