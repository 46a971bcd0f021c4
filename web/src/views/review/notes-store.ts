// The player's private notes on a game, by ply, and what is written but not saved.

import type { Note } from "@mancala-server/client";
import { signal } from "@preact/signals";

import { client, SOON } from "../../client.ts";
import { sayFailure } from "../../state/messages.ts";
import { departures, ensurePlayer, me } from "../../state/session.ts";

/** What the server takes. */
export const NOTE_MAX = 4000;

/** Drafts by player, game and ply. They outlive the view, so that a step to another one loses nothing. */
const drafts = new Map<string, string>();

export class Notes {
  readonly texts = signal<ReadonlyMap<number, Note>>(new Map());

  constructor(readonly gameId: string) {}

  async read(signal: AbortSignal): Promise<void> {
    if (!me.value) return;
    try {
      for await (const note of client.games.notes(this.gameId, { ...SOON, signal })) this.#put(note.ply, note);
    } catch (error) {
      if (!signal.aborted) sayFailure(error);
    }
  }

  /** What is written at a ply: not yet saved, or saved. */
  draft(ply: number): string {
    return drafts.get(this.#key(ply)) ?? this.texts.value.get(ply)?.text ?? "";
  }

  write(ply: number, text: string): void {
    drafts.set(this.#key(ply), text);
  }

  /** Whether something is written that is not saved. */
  isChanged(ply: number): boolean {
    return this.draft(ply) !== (this.texts.value.get(ply)?.text ?? "");
  }

  /** Saves what is written at a ply; an empty text deletes the note. */
  async save(ply: number): Promise<void> {
    const text = this.draft(ply);
    await ensurePlayer();
    if (text.trim() === "") {
      await client.games.deleteNote(this.gameId, ply, SOON);
      this.#put(ply, null);
    } else {
      this.#put(ply, await client.games.writeNote(this.gameId, ply, text, SOON));
    }
    // What was written meanwhile is a draft again.
    if (this.draft(ply) === text) drafts.delete(this.#key(ply));
  }

  #key(ply: number): string {
    return `${departures.value} ${this.gameId} ${ply}`;
  }

  #put(ply: number, note: Note | null): void {
    const texts = new Map(this.texts.value);
    if (note) texts.set(ply, note);
    else texts.delete(ply);
    this.texts.value = new Map([...texts].sort(([one], [other]) => one - other));
  }
}
