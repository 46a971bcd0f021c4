// Moves that are made without a network: kept in the storage, and sent when it is back.

import { type CallOptions, type Core, check, reasonOf } from "./core.js";
import { type Failure, isTemporary, list, MancalaError, record } from "./failure.js";
import type { Games } from "./games.js";
import { ignore } from "./platform.js";
import type { Session } from "./session.js";
import { Shared } from "./shared.js";
import type { Play, PlayedMove } from "./types.js";

/** A move that waits to be sent. */
export interface QueuedMove {
  id: string;
  playerId: string;
  gameId: string;
  play: Play;
  /** In milliseconds, by this device's clock. */
  at: number;
}

/** A move that the server refused. It stays until it is dismissed. */
export interface RefusedMove extends QueuedMove {
  /** Why. A conflict has the game as it is, and the moves that were missed. */
  failure: Failure;
}

export type QueueEvent =
  /** Moves were added, sent, refused or dismissed, here or in another tab. */
  | { type: "changed" }
  /** A move was played. */
  | { type: "played"; move: QueuedMove; played: PlayedMove }
  /** A move was refused, and with it those that followed in its game. */
  | { type: "refused"; moves: RefusedMove[] };

interface Stored {
  pending: QueuedMove[];
  refused: RefusedMove[];
}

/** The queue holds at most so many moves that wait: a player cannot have many turns without the others. */
const PENDING_MAX = 1000;

export class Queue {
  readonly #core: Core;
  readonly #session: Session;
  readonly #games: Games;
  readonly #listeners = new Set<(event: QueueEvent) => void>();
  readonly #forget: (() => void)[];
  readonly #shared: Shared<Stored>;
  #flushing: Promise<void> | undefined;
  #isDirty = false;
  readonly #closing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the stored queue is read. At once, unless the storage is asynchronous. */
  readonly ready: Promise<void>;

  constructor(core: Core, session: Session, games: Games) {
    this.#core = core;
    this.#session = session;
    this.#games = games;
    this.#shared = new Shared<Stored>(core, "queue", storedOf, () => this.#emit({ type: "changed" }));
    this.ready = this.#shared.ready;
    const flush = () => {
      if (this.#stored.pending.length > 0) void this.flush().catch(ignore);
    };
    this.#forget = [core.online(flush), session.onChange(flush)];
    void this.ready.then(flush);
  }

  /** Keeps a move, and sends it as soon as that is possible. Resolves when it is stored. */
  async add(gameId: string, play: Play): Promise<QueuedMove> {
    const player = this.#session.current()?.player;
    if (!player) throw new MancalaError({ code: "unauthenticated", detail: "no player is signed in" }, 0, undefined);
    const id = this.#core.uuid() ?? `${this.#core.now()}-${Math.random()}`;
    const move: QueuedMove = { id, playerId: player.id, gameId, play, at: this.#core.now() };
    await this.#update(({ pending, refused }) => {
      if (pending.length >= PENDING_MAX) throw new Error(`${PENDING_MAX} moves wait already`);
      return { pending: [...pending, move], refused };
    });
    void this.flush().catch(ignore);
    return move;
  }

  /** The moves that wait, oldest first. */
  pending(gameId?: string): QueuedMove[] {
    return this.#stored.pending.filter((move) => gameId === undefined || move.gameId === gameId);
  }

  /** The moves that were refused and are not dismissed. */
  refused(gameId?: string): RefusedMove[] {
    return this.#stored.refused.filter((move) => gameId === undefined || move.gameId === gameId);
  }

  /** The player has seen a refusal, or takes back a move that waits. A move that is being sent may be played all the same. */
  async dismiss(id: string): Promise<void> {
    await this.#update(({ pending, refused }) => ({
      pending: pending.filter((move) => move.id !== id),
      refused: refused.filter((move) => move.id !== id),
    }));
  }

  onChange(listener: (event: QueueEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends what waits, in order. Of several tabs one sends. Ends when nothing waits, or there is no answer. */
  flush(options?: CallOptions): Promise<void> {
    // What is added after the last look at the queue is sent by another round.
    this.#isDirty = this.#flushing !== undefined;
    this.#flushing ??= this.ready
      .then(() => this.#core.locks.request(`${this.#core.scope}:queue:flush`, {}, () => this.#send(options)))
      .finally(() => {
        this.#flushing = undefined;
        if (this.#isDirty && !this.#closing.signal.aborted) void this.flush().catch(ignore);
        else this.#schedule();
      });
    return this.#flushing;
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
    for (const forget of this.#forget) forget();
    this.#shared.close();
    this.#listeners.clear();
  }

  get #stored(): Stored {
    return this.#shared.value;
  }

  // Not every loss of the network is followed by a notice that it is back.
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#closing.signal.aborted || this.#stored.pending.length === 0) return;
    this.#timer = setTimeout(() => void this.flush().catch(ignore), this.#core.retry.maxMs);
    // In Node a timer would keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #send(options?: CallOptions): Promise<void> {
    for (;;) {
      check(this.#closing.signal);
      const pending = await this.#shared.exclusive(async () => this.#stored.pending);
      const player = this.#session.current()?.player;
      const move = pending.find(({ playerId }) => playerId === player?.id);
      if (!move) return;
      const sending = this.#sendingOf(move, options?.signal);
      try {
        const played = await this.#games.play(move.gameId, move.play, { ...options, signal: sending.signal });
        await this.#update(({ pending, refused }) => ({ pending: pending.filter(({ id }) => id !== move.id), refused }));
        this.#emit({ type: "played", move, played });
      } catch (error) {
        // Its player has signed out meanwhile: it waits on, and those of the present player come next.
        if (sending.isOver()) continue;
        // It waits on: there was no answer, or the player has to sign in first.
        if (!(error instanceof MancalaError) || isTemporary(error.failure, error.status) || error.status === 401) throw error;
        await this.#refuse(move, error.failure);
      } finally {
        sending.clear();
      }
    }
  }

  // A move goes out with the token of its player, or not at all.
  #sendingOf(move: QueuedMove, signal: AbortSignal | undefined) {
    const controller = new AbortController();
    let isOver = false;
    const forget = this.#session.onChange((session) => {
      if (session?.player.id === move.playerId) return;
      isOver = true;
      controller.abort();
    });
    const abort = () => controller.abort(reasonOf(signal));
    for (const each of [signal, this.#closing.signal]) {
      each?.addEventListener("abort", abort);
      if (each?.aborted) abort();
    }
    const clear = () => {
      forget();
      for (const each of [signal, this.#closing.signal]) each?.removeEventListener("abort", abort);
    };
    return { signal: controller.signal, isOver: () => isOver, clear };
  }

  // What followed in the game was made on a board that never came about.
  async #refuse(move: QueuedMove, failure: Failure): Promise<void> {
    let refused: RefusedMove[] = [];
    await this.#update((stored) => {
      const first = stored.pending.findIndex(({ id }) => id === move.id);
      const falls = ({ gameId, playerId }: QueuedMove, n: number) => n >= first && gameId === move.gameId && playerId === move.playerId;
      refused = stored.pending.filter((each, n) => first >= 0 && falls(each, n)).map((each) => ({ ...each, failure }));
      const pending = stored.pending.filter((each, n) => first < 0 || !falls(each, n));
      return { pending, refused: [...stored.refused, ...refused] };
    });
    if (refused.length > 0) this.#emit({ type: "refused", moves: refused });
  }

  async #update(change: (stored: Stored) => Stored): Promise<void> {
    await this.#shared.exclusive(async () => {
      const before = this.#stored;
      if (await this.#shared.set(change(before))) return;
      // What would not survive a reload is refused.
      await this.#shared.set(before);
      throw new Error("the storage is full or blocked");
    });
    this.#emit({ type: "changed" });
  }

  #emit(event: QueueEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

// What another release or a stranger has stored is left out where it is no move.
function storedOf(value: unknown): Stored {
  const stored = record(value);
  const refused = list(stored?.["refused"]) as RefusedMove[];
  return {
    pending: (list(stored?.["pending"]) as QueuedMove[]).filter(isQueued),
    refused: refused.filter((move) => isQueued(move) && isFailure(move.failure)),
  };
}

function isQueued(value: unknown): boolean {
  const move = record(value);
  const play = record(move?.["play"]);
  const isPlay = Number.isInteger(play?.["ply"]) && (typeof play?.["move"] === "string" || Array.isArray(play?.["moves"]));
  return isPlay && [move?.["id"], move?.["playerId"], move?.["gameId"]].every((field) => typeof field === "string");
}

// The lists of a failure are gone through without asking whether they are there.
function isFailure(value: unknown): boolean {
  const failure = record(value);
  const lists = { illegal_move: "legalMoves", validation_failed: "errors" }[String(failure?.["code"])];
  return typeof failure?.["code"] === "string" && (lists === undefined || Array.isArray(failure[lists])) && Array.isArray(failure["moves"] ?? []);
}
