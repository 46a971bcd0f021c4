// A game that is looked through: its plies, what the engine says of them, and lines that were not played.

import { isTemporary, MancalaError, type AnalysisStatus, type Board, type Game, type Move, type Note, type Schemas, type Side } from "@mancala-server/client";
import { computed, signal } from "@preact/signals";

import { marksOf, moveInWords } from "../board/words.ts";
import { client, SOON } from "../client.ts";
import { t } from "../texts/index.ts";
import { explain, say, sayFailure } from "./messages.ts";
import { Playback } from "./playback.ts";

/** The pauses between two questions whether an analysis is done: short at first, because most take seconds. */
const POLLS_MS = [500, 1000, 2000, 4000];

/** The pause between two plies while the game plays by itself. */
const PLAY_MS = 900;

/** A line from a ply of the game, with what is not in the game. */
export interface Variation {
  from: number;
  start: Schemas["PlayedLine"];
  moves: readonly Schemas["LineMove"][];
  /** How many of its moves are shown. */
  at: number;
}

export class ReviewStore {
  readonly game = signal<Game | null>(null);
  readonly failure = signal<unknown>(null);
  readonly moves = signal<readonly Move[]>([]);
  readonly ply = signal(0);
  readonly variation = signal<Variation | null>(null);
  readonly analysis = signal<AnalysisStatus | null>(null);
  readonly notes = signal<ReadonlyMap<number, string>>(new Map());
  readonly isPlaying = signal(false);
  readonly told = signal("");
  readonly playback = new Playback();
  readonly #ending = new AbortController();
  #start: Schemas["Position"] | null = null;

  constructor(readonly id: string) {
    void this.#load();
  }

  /** The position that is shown: its text, its board, and what could be played. */
  readonly shown = computed<{ position: string; board: Board; turn: Side | null; legal: readonly string[] } | null>(() => {
    const line = this.variation.value;
    if (line) {
      const at = line.moves[line.at - 1] ?? line.start;
      return { position: at.position, board: at.board, turn: at.turn, legal: at.legal_moves };
    }
    const move = this.moves.value[this.ply.value - 1];
    if (move?.board) return { position: move.position, board: move.board, turn: move.turn ?? null, legal: move.legal_moves ?? [] };
    const start = this.game.value && this.#start;
    return start ? { position: start.position, board: start.board, turn: start.turn, legal: start.legal_moves } : null;
  });

  close(): void {
    this.#ending.abort();
    this.isPlaying.value = false;
  }

  /** Shows the board after a ply; one step forward is animated. */
  go(ply: number): void {
    const to = Math.max(0, Math.min(ply, this.moves.value.length));
    const isStep = to === this.ply.value + 1 && !this.variation.value;
    const before = this.shown.value;
    this.variation.value = null;
    this.ply.value = to;
    const move = this.moves.value[to - 1];
    if (isStep && move && before) void this.playback.play(move, before.board);
    else if (this.shown.value) this.playback.jump(this.shown.value.board, to, marksOf(move?.effects ?? []));
    this.told.value = move ? moveInWords(move, this.nameOf(move.side)) : t("review.start");
  }

  /** Plays the game from here on, until it is stopped. */
  async run(): Promise<void> {
    if (this.isPlaying.value) return void (this.isPlaying.value = false);
    if (this.ply.value >= this.moves.value.length) this.go(0);
    this.isPlaying.value = true;
    while (this.isPlaying.value && this.ply.value < this.moves.value.length) {
      const before = this.ply.value;
      this.go(before + 1);
      await new Promise((resolve) => setTimeout(resolve, PLAY_MS));
      while (this.playback.isMoving.value && this.isPlaying.value) await new Promise((resolve) => setTimeout(resolve, 50));
      if (this.ply.value !== before + 1) break;
    }
    this.isPlaying.value = false;
  }

  /** Tries moves that were not played, after the position that is shown. */
  async tryMoves(moves: readonly string[]): Promise<void> {
    const [game, shown, before] = [this.game.value, this.shown.value, this.variation.value];
    if (!game || !shown) return;
    const { variant, preset, options } = game;
    const { data, error, response } = await client.api.POST("/v1/variants/{variant}/play", {
      params: { path: { variant } },
      body: { preset, options, position: shown.position, moves: [...moves] },
    });
    if (!data) return sayFailure(new MancalaError(error as unknown as MancalaError["failure"], response.status, undefined));
    if (this.shown.value !== shown) return;
    const kept = before?.moves.slice(0, before.at) ?? [];
    const line = { from: before?.from ?? this.ply.value, start: before?.start ?? data, moves: [...kept, ...data.moves] };
    this.isPlaying.value = false;
    await this.#showLine({ ...line, at: kept.length + 1 }, shown.board);
  }

  /** Steps within the line. */
  async stepLine(by: number): Promise<void> {
    const { value: line } = this.variation;
    const { value: shown } = this.shown;
    if (!line || !shown) return;
    const at = Math.max(0, Math.min(line.at + by, line.moves.length));
    await this.#showLine({ ...line, at }, at === line.at + 1 ? shown.board : null);
  }

  async #showLine(line: Variation, before: Board | null): Promise<void> {
    this.variation.value = line;
    const move = line.moves[line.at - 1];
    const ply = line.from + line.at;
    if (move) this.told.value = moveInWords(move, this.nameOf(move.side));
    if (move && before) await this.playback.play({ ...move, ply }, before);
    else this.playback.jump((move ?? line.start).board, ply, marksOf(move?.effects ?? []));
  }

  /** Requests an analysis, and waits for it. */
  async analyse(): Promise<void> {
    this.analysis.value = await client.games.analyse(this.id, SOON);
    await this.#watch();
  }

  /** Writes the note on the ply that is shown; an empty one is deleted. */
  async writeNote(text: string): Promise<void> {
    const ply = this.ply.value;
    const notes = new Map(this.notes.value);
    if (text.trim() === "") {
      await client.games.deleteNote(this.id, ply, SOON);
      notes.delete(ply);
    } else {
      await client.games.writeNote(this.id, ply, text, SOON);
      notes.set(ply, text);
    }
    this.notes.value = notes;
    say(t("account.saved"));
  }

  nameOf(side: Side): string {
    const seats = this.game.value?.seats;
    const isOne = seats?.south?.id === seats?.north?.id;
    return (isOne ? undefined : seats?.[side]?.name) ?? t(`side.${side}`);
  }

  async #load(): Promise<void> {
    const { signal } = this.#ending;
    const options = { ...SOON, signal };
    try {
      const game = await client.games.get(this.id, options);
      this.#start = await client.games.position(this.id, 0, options);
      const moves: Move[] = [];
      for await (const move of client.games.moves(this.id, { ...options, limit: 100, boards: true })) moves.push(move);
      this.moves.value = moves;
      this.game.value = game;
      this.playback.jump(this.#start.board, 0);
      this.go(moves.length);
      await Promise.all([this.#loadAnalysis(), this.#loadNotes()]);
    } catch (error) {
      if (signal.aborted) return;
      if (this.game.value) say(explain(error), "error");
      else this.failure.value = error;
    }
  }

  async #loadAnalysis(): Promise<void> {
    try {
      this.analysis.value = await client.games.analysis(this.id, { ...SOON, signal: this.#ending.signal });
    } catch (error) {
      // There is none yet.
      if (error instanceof MancalaError && error.status === 404) return;
      throw error;
    }
    await this.#watch();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ending;
    for (let n = 0; !signal.aborted; n += 1) {
      const { value } = this.analysis;
      if (!value || !["queued", "running"].includes(value.status)) return;
      await new Promise((resolve) => setTimeout(resolve, POLLS_MS[Math.min(n, POLLS_MS.length - 1)]));
      try {
        this.analysis.value = await client.games.analysis(this.id, { ...SOON, signal });
      } catch (error) {
        if (!(error instanceof MancalaError) || !isTemporary(error.failure, error.status)) throw error;
      }
    }
  }

  async #loadNotes(): Promise<void> {
    if (!client.session.current()) return;
    const notes = new Map<number, string>();
    const written: AsyncIterable<Note> = client.games.notes(this.id, { ...SOON, signal: this.#ending.signal });
    for await (const { ply, text } of written) notes.set(ply, text);
    this.notes.value = notes;
  }
}
