// A game under review: its plies, the ply that is shown, a variation from there, and what the engine says.

import { type AnalysisStatus, type Game, type GameEvent, isTemporary, MancalaError, type Schemas, type Side } from "@mancala-server/client";
import { computed, signal } from "@preact/signals";

import { opposite } from "../../board/shape.ts";
import { marksOf, moveInWords } from "../../board/words.ts";
import { client, SOON } from "../../client.ts";
import { isAlone } from "../../state/create.ts";
import { sayFailure } from "../../state/messages.ts";
import { nameAt } from "../../state/names.ts";
import { Playback } from "../../state/playback.ts";
import { Previews } from "../../state/preview.ts";
import { stepMs } from "../../state/settings.ts";
import type { Store } from "../../state/store.ts";
import { t } from "../../texts/index.ts";
import { isSwapped, openingOf, type Point, playLine, pointOf } from "./line.ts";
import { Notes } from "./notes-store.ts";

/** Moves that were not played, from a ply on. `at` of them are shown. */
export interface Variation {
  from: number;
  points: readonly Point[];
  at: number;
  /** The engine's line, and not one that was tried. */
  isBest: boolean;
}

export type Judged = Schemas["JudgedPly"];

/** The pause between two moves that are played by themselves. */
const PLAY_MS = 700;

/** After the last of several steps the address takes over the ply. */
const NAMING_MS = 300;

/** How often the progress of an analysis is read. */
const PROGRESS_MS = 1500;

/** The pause after a failed connection. */
const AGAIN_MS = 4000;

/** Steps of a variation are told apart from plies of the game. */
const TRIED = 1_000_000;

export class ReviewStore implements Store {
  readonly game = signal<Game | null>(null);
  readonly failure = signal<unknown>(null);
  /** The position after each ply; the first is the opening. */
  readonly points = signal<readonly Point[]>([]);
  readonly ply = signal(0);
  readonly variation = signal<Variation | null>(null);
  readonly isPlaying = signal(false);
  readonly analysis = signal<AnalysisStatus | null>(null);
  /** What was shown last, in words. */
  readonly told = signal("");
  readonly playback = new Playback();
  readonly previews = new Previews();
  readonly notes: Notes;
  readonly #ending = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #naming: ReturnType<typeof setTimeout> | undefined;
  #tries = 0;

  constructor(
    readonly id: string,
    readonly wanted: number | null,
  ) {
    this.notes = new Notes(id);
  }

  open(): void {
    void this.#run();
  }

  /** The last ply that is known. */
  readonly last = computed(() => Math.max(0, this.points.value.length - 1));

  /** The position that is shown. */
  readonly now = computed<Point | null>(() => {
    const { value: tried } = this.variation;
    if (tried && tried.at > 0) return tried.points[tried.at - 1] ?? null;
    return this.points.value[this.ply.value] ?? null;
  });

  /** The engine's judgements by ply. */
  readonly judged = computed<ReadonlyMap<number, Judged>>(() => {
    const plies = this.analysis.value?.analysis?.plies ?? [];
    return new Map(plies.map((each) => [each.ply, each]));
  });

  /** The ply of the game whose judgement is shown: of the engine's line, the one that it replaces. */
  readonly judgedPly = computed(() => this.ply.value + (this.variation.value?.isBest ? 1 : 0));

  /** Whether all plies have arrived. */
  readonly isWhole = computed(() => this.game.value !== null && this.points.value.length > this.game.value.ply);

  close(): void {
    this.pause();
    clearTimeout(this.#naming);
    this.#ending.abort();
  }

  /** Shows a ply of the game, and leaves the variation. */
  go(ply: number, { isAnimated = false } = {}): void {
    const to = Math.min(Math.max(0, ply), this.last.value);
    const before = this.now.value;
    const isNext = this.variation.value === null && to === this.ply.value + 1;
    this.variation.value = null;
    this.ply.value = to;
    this.#show(isAnimated && isNext ? before : null);
  }

  /** The next position: of the variation while there is one, else of the game. */
  forward(isAnimated = true): void {
    const { value: tried } = this.variation;
    if (!tried) return this.go(this.ply.value + 1, { isAnimated });
    if (tried.at >= tried.points.length) return;
    const before = this.now.value;
    this.variation.value = { ...tried, at: tried.at + 1 };
    this.#show(isAnimated ? before : null);
  }

  back(): void {
    const { value: tried } = this.variation;
    if (!tried || tried.at === 0) return this.go(this.ply.value - 1);
    this.variation.value = { ...tried, at: tried.at - 1 };
    this.#show(null);
  }

  /** Shows a step of the variation; 0 is where it begins. */
  step(at: number): void {
    const { value: tried } = this.variation;
    if (!tried) return;
    this.pause();
    this.variation.value = { ...tried, at };
    this.#show(null);
  }

  /** Back to the game, at the ply where the variation began. */
  leave(): void {
    this.go(this.ply.value);
  }

  /** Plays on by itself, to the end of the game or the variation. */
  play(): void {
    const { value: tried } = this.variation;
    if (tried ? tried.at >= tried.points.length : this.ply.value >= this.last.value) this.go(0);
    this.isPlaying.value = true;
    this.#tick();
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.isPlaying.value = false;
  }

  #tick(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        if (this.playback.isMoving.value) return this.#tick();
        this.forward();
        const { value: tried } = this.variation;
        const isOver = tried ? tried.at >= tried.points.length : this.ply.value >= this.last.value;
        if (isOver) this.isPlaying.value = false;
        else this.#tick();
      },
      Math.max(PLAY_MS, stepMs() * 2),
    );
  }

  /** Tries a move in the position that is shown. The game's own next move goes on in the game. */
  async try(move: string): Promise<void> {
    this.pause();
    const { value: tried } = this.variation;
    const next = tried ? tried.points[tried.at] : this.points.value[this.ply.value + 1];
    if (next?.move === move) return this.forward();
    const at = this.now.value;
    if (!at?.legal.includes(move)) return;
    const kept = tried?.points.slice(0, tried.at) ?? [];
    await this.#extend(at, [move], { from: this.ply.value, points: kept, at: kept.length + 1, isBest: false });
  }

  /** Shows the engine's line instead of the ply that is shown, as far as one of its moves. */
  async showBest(judged: Judged, steps: number): Promise<void> {
    this.pause();
    const from = judged.ply - 1;
    const before = this.points.value[from];
    if (before) await this.#extend(before, judged.best_line, { from, points: [], at: steps, isBest: true });
  }

  // Shows a variation with these moves after it. Until they are played, what was shown stays.
  async #extend(at: Point, moves: readonly string[], variation: Variation): Promise<void> {
    const { value: game } = this.game;
    if (!game) return;
    this.#tries += 1;
    const mine = this.#tries;
    const shown = this.now.value;
    try {
      const { points } = await playLine(game, at.position, moves, this.#ending.signal);
      // The player has gone somewhere else meanwhile.
      if (mine !== this.#tries || this.now.value !== shown) return;
      this.ply.value = variation.from;
      this.variation.value = { ...variation, points: [...variation.points, ...points] };
      this.#show(variation.at === variation.points.length + 1 ? at : null);
    } catch (error) {
      if (!this.#ending.signal.aborted) sayFailure(error);
    }
  }

  /** Requests that the engine judges the game. */
  async analyse(): Promise<void> {
    this.analysis.value = await client.games.analyse(this.id, { ...SOON, signal: this.#ending.signal });
    void this.#await();
  }

  // Reads how far the analysis is until it is done. A lost connection only makes it take longer.
  async #await(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted && ["queued", "running"].includes(this.analysis.value?.status ?? "")) {
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_MS));
      try {
        this.analysis.value = await client.games.analysis(this.id, { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof MancalaError && !isTemporary(error.failure, error.status)) {
          this.analysis.value = null;
          return sayFailure(error);
        }
      }
    }
  }

  /** Tries again to read what could not be read. */
  retry(): void {
    this.failure.value = null;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    try {
      this.game.value ??= await client.games.get(this.id, { ...SOON, signal });
      await this.#read();
      void this.notes.read(signal);
      if (this.game.value.analysed_at !== null) void this.#readAnalysis();
      await this.#follow();
    } catch (error) {
      if (!signal.aborted) this.failure.value = error;
    }
  }

  // Reads the plies, page by page, and shows each page at once.
  async #read(): Promise<void> {
    const { signal } = this.#ending;
    if (this.points.value.length === 0) this.points.value = [await openingOf(this.id, signal)];
    const { value: game } = this.game;
    let page: Point[] = [];
    const show = () => {
      this.points.value = [...this.points.value, ...page];
      page = [];
    };
    this.#arrive();
    for await (const move of client.games.moves(this.id, { ...SOON, signal, after: this.last.value, limit: 100, boards: true })) {
      const point = pointOf(move);
      if (point) page.push(point);
      if (page.length === 100) show();
    }
    show();
    if (game) this.#arrive();
  }

  #isThere = false;

  // Shows the ply that the address names, or the end of the game, as soon as it has arrived.
  #arrive(): void {
    if (this.#isThere) return;
    const wanted = this.wanted ?? this.game.value?.ply ?? 0;
    const isHere = wanted <= this.last.value || this.isWhole.value;
    if (this.now.value && !isHere) return this.playback.jump(this.now.value.board, 0);
    this.#isThere = isHere;
    this.go(wanted);
  }

  async #readAnalysis(): Promise<void> {
    const { signal } = this.#ending;
    try {
      this.analysis.value = await client.games.analysis(this.id, { ...SOON, signal });
      void this.#await();
    } catch (error) {
      if (!signal.aborted) sayFailure(error);
    }
  }

  // A running game grows while it is looked at, and an analysis arrives.
  async #follow(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const { value: game } = this.game;
        if (!game || game.status === "aborted") return;
        return await client.follow(this.id, (event) => this.#on(event), { signal, after: game.version });
      } catch (error) {
        if (signal.aborted || !(error instanceof MancalaError) || !isTemporary(error.failure, error.status)) return;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  async #on(event: GameEvent): Promise<void> {
    const { value: game } = this.game;
    if (!game || event.seq <= game.version) return;
    this.game.value = await client.games.get(this.id, { ...SOON, signal: this.#ending.signal });
    if (event.type === "analysed") return this.#readAnalysis();
    if (event.type !== "moved") return;
    const isAtEnd = this.variation.value === null && this.ply.value === this.last.value;
    await this.#read();
    if (isAtEnd && !this.isPlaying.value) this.go(this.last.value, { isAnimated: true });
  }

  // Shows the present position; with the one before it, the move between them is played.
  #show(before: Point | null): void {
    const point = this.now.value;
    if (!point) return;
    const { value: tried } = this.variation;
    const key = tried && tried.at > 0 ? TRIED + tried.from * 1000 + tried.at : this.ply.value;
    this.previews.shown.value = null;
    if (before && stepMs() > 0) void this.playback.play({ ply: key, effects: point.effects, board: point.board }, before.board);
    else this.playback.jump(point.board, key, marksOf(point.effects));
    this.told.value = this.#inWords(point);
    if (!tried) this.#name();
  }

  // The address names the ply, so that it survives a reload. Browsers refuse to change it at every step of a key that is held.
  #name(): void {
    clearTimeout(this.#naming);
    if (!this.#isThere) return;
    this.#naming = setTimeout(() => {
      const hash = `#ply=${this.ply.value}`;
      if (location.hash !== hash) history.replaceState(null, "", location.pathname + hash);
    }, NAMING_MS);
  }

  #inWords(point: Point): string {
    if (point.move === null || point.side === null) return t("review.opening");
    // How the game itself ended, is told beside its last move.
    const effects = this.variation.value?.at ? point.effects : point.effects.filter(({ type }) => type !== "game_over");
    return moveInWords({ move: point.move, effects }, this.nameOf(point.side, point));
  }

  /** The side that sits at the bottom: the player's own. */
  bottom(): Side {
    const { value: game } = this.game;
    return game && game.opponent.type !== "self" ? (game.me?.side ?? "south") : "south";
  }

  /** The name of the player at a side, in the position that is meant: a swap exchanges the seats. */
  nameOf(side: Side, point: Point | null = this.now.value): string {
    const { value: game } = this.game;
    if (!game) return t(`side.${side}`);
    const isOther = point !== null && isSwapped(point.position) !== isSwapped(game.position);
    return nameAt(game, isOther ? opposite(side) : side) ?? t(`side.${side}`);
  }

  /** Whether the player may go on from here: not out of a running game with another player. */
  canGoOn(): boolean {
    const { value: game } = this.game;
    if (!game || !this.now.value?.turn) return false;
    return game.status === "finished" || game.status === "aborted" || isAlone(game);
  }
}
