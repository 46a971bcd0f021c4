// One game on the page: what the server says of it, what the board shows, and what the player does.

import { type Board, type Game, type GameEvent, isTemporary, MancalaError, type Move, type OfferType, type Side } from "@mancala-server/client";
import { computed, signal } from "@preact/signals";

import { opposite, sideOf } from "../board/shape.ts";
import { marksOf, moveInWords } from "../board/words.ts";
import { client, SOON } from "../client.ts";
import { navigate } from "../router.ts";
import { t, word } from "../texts/index.ts";
import { Hints } from "./hint.ts";
import { forgetGame, isGame, keepGame, keptGame } from "./kept.ts";
import { explain, say, sayFailure } from "./messages.ts";
import { goToFirstMistake } from "./mistake.ts";
import { nameAt } from "./names.ts";
import { OFFERED, OFFERS } from "./offers.ts";
import { Playback } from "./playback.ts";
import { type Line, Previews } from "./preview.ts";
import { queued } from "./queue.ts";
import { me } from "./session.ts";
import type { Store } from "./store.ts";

/** More moves than this are not played back one by one. */
const PLAYBACK_MAX = 8;

/** The pause after a failed connection. */
const AGAIN_MS = 4000;

/** How often a private game is read again while its invitation is looked at. */
const INVITED_MS = 5000;

export class GameStore implements Store {
  /** The game as the server said it last; null until then. */
  readonly game = signal<Game | null>(null);
  /** Why the game cannot be shown. */
  readonly failure = signal<unknown>(null);
  /** What happened last, in words. */
  readonly told = signal("");
  readonly playback = new Playback();
  readonly previews = new Previews();
  readonly hints = new Hints();
  /** Why the pit that was chosen last cannot be played. */
  readonly refusal = signal<{ ply: number; words: string } | null>(null);
  /** Own moves beyond the server's ply whose outcome is known already. */
  readonly #ahead = signal<readonly Line[]>([]);
  readonly #viewer = me.value?.id ?? null;
  readonly #ending = new AbortController();
  readonly #moves = new Map<number, Move>();
  /** Whether a move is being stored, so that it is not in the queue yet. */
  readonly #isAdding = signal(false);
  #forgetQueue = () => {};
  /** Whether the server has said what it knows of the game: what was kept may be old. */
  #isRead = false;
  #chain: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    readonly joinCode: string | null,
  ) {
    const kept = keptGame(id, this.#viewer);
    if (kept) this.#show(kept);
  }

  open(): void {
    const { id } = this;
    this.#forgetQueue = client.queue.onChange((event) => {
      if (event.type === "played" && event.move.gameId === id) this.#played(event.played.game, [...(event.played.earlier_moves ?? []), event.played.move]);
      if (event.type === "refused" && event.moves[0]?.gameId === id) this.#refused();
    });
    this.#refused();
    void this.#run();
  }

  /** Whether only the code of an invitation shows the game: its events are for its players. */
  readonly isInvitation = computed(() => this.game.value?.visibility === "private" && !this.game.value.me?.side);

  /** Own moves that the server has not confirmed. */
  readonly unconfirmed = computed(() => queued.value.filter(({ gameId, playerId }) => gameId === this.id && playerId === this.#viewer));

  /** The side to move, and what may be played now: by the server's word, and by own moves after it. */
  readonly now = computed(() => {
    const game = this.game.value;
    if (!game) return null;
    const last = this.#ahead.value.at(-1);
    const { turn, legal_moves, position, board } = last ?? game;
    const ply = game.ply + this.#ahead.value.length;
    // The stream may tell of a move before its answer has come: what is confirmed by either waits no more.
    const waits = this.#isAdding.value || this.unconfirmed.value.some(({ play }) => play.ply > ply);
    const isMine = turn !== null && me.value !== null && game.seats[turn]?.id === me.value.id && game.status === "active";
    return { turn, position, board, isMine, ply, legal: isMine && !waits ? legal_moves : [] };
  });

  /** Whether the board that is shown is the one that is played on. */
  readonly isStill = computed(() => !this.playback.isMoving.value && this.playback.shown.value?.ply === this.now.value?.ply);

  /** What may be played on the board that is shown. */
  readonly legal = computed(() => {
    return this.isStill.value ? (this.now.value?.legal ?? []) : [];
  });

  /** The hint for the position that is played from now, if it was asked for. */
  readonly hint = computed(() => {
    const [hint, now] = [this.hints.found.value, this.now.value];
    const best = hint?.moves[0];
    return hint && best && now?.isMine && hint.ply === now.ply ? { side: hint.side, ...best } : null;
  });

  /** Ends everything that goes on for the game. */
  close(): void {
    this.#ending.abort();
    this.hints.drop();
    this.#forgetQueue();
  }

  /** Plays a move. It is kept until the server has confirmed it. */
  async play(move: string): Promise<void> {
    const [game, now] = [this.game.value, this.now.value];
    if (!game || !now?.legal.includes(move)) return;
    const ply = now.ply + 1;
    this.hints.drop();
    const known = this.previews.known(now.position, move);
    this.previews.point({ ...game, ...now }, null);
    try {
      this.#isAdding.value = true;
      const adding = client.queue.add(this.id, { ply, move }).finally(() => (this.#isAdding.value = false));
      if (known) {
        this.#ahead.value = [...this.#ahead.value, known];
        this.#enqueue(() => this.#animate({ ...known, ply }, known.board));
      }
      await adding;
    } catch (error) {
      this.#reset();
      sayFailure(error);
    }
  }

  /** Shows where a move would lead. */
  point(move: string | null): void {
    if (move !== null) this.refusal.value = null;
    const { game, now } = this;
    if (game.value && now.value) this.previews.point({ ...game.value, ...now.value }, move);
  }

  /** Goes to the first mistake in the review. */
  async showFirstMistake(): Promise<void> {
    if (this.game.value) await goToFirstMistake(this.game.value, this.#ending.signal);
  }

  /** Tells why a pit cannot be played. */
  async refuse(pit: string): Promise<void> {
    const [game, now] = [this.game.value, this.now.value];
    if (!game?.me?.side || game.status !== "active" || !now?.turn || !this.isStill.value) return;
    if (!now.isMine) return this.#refuse(this.turnOf(now.turn));
    if (now.legal.length === 0) return;
    const isOwn = sideOf(pit) === now.turn;
    // Where pits have directions, the form of the moves is that of the moves that may be played.
    const move = now.legal.some((legal) => /^[a-z][uv]$/i.test(legal)) ? `${pit}U` : pit;
    const reason = isOwn ? await this.previews.whyNot({ ...game, ...now }, move).catch(() => null) : "not_your_pit";
    if (reason !== null && this.now.value === now) this.#refuse(t("board.refused", { pit, reason: word("illegal", reason) }));
  }

  #refuse(words: string): void {
    this.refusal.value = { ply: this.now.value?.ply ?? 0, words };
    this.told.value = words;
  }

  /** Asks for the best move of the present position. */
  async askHint(): Promise<void> {
    try {
      await this.hints.ask(this.id);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Does what changes the game, and shows the game after it. */
  async act(work: () => Promise<Game>): Promise<void> {
    try {
      this.take(await work());
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    const failure = error instanceof MancalaError ? error.failure : undefined;
    if (failure && "game" in failure && failure.game) this.take(failure.game);
    sayFailure(error);
  }

  /** Plays the last move again. */
  async replay(): Promise<void> {
    const { value: game } = this.game;
    if (!game || game.ply === 0 || this.playback.isMoving.value) return;
    const before = await client.games.position(this.id, game.ply - 1, SOON);
    const [move] = await this.#missed(game.ply - 1, 1);
    if (move) this.#enqueue(() => this.playback.play(move, before.board));
  }

  /** Takes over what the server says of the game, unless something newer is known. */
  take(game: Game): void {
    const { value: before } = this.game;
    if (this.#ending.signal.aborted || (before && game.version < before.version)) return;
    const isNewRematch = this.#isRead && !before?.rematch_game_id && game.rematch_game_id;
    if (this.#isRead) for (const type of OFFERS) if (isOffered(game, type) && !isOffered(before, type)) say(t(OFFERED[type]));
    this.#isRead = true;
    this.#show(game);
    // Another player may be signed in meanwhile, for whom another store is made.
    if (this.#viewer === (me.value?.id ?? null)) keepGame(game, this.#viewer);
    this.#enqueue(() => this.#catchUp());
    // The players who are there when a rematch begins go on in it.
    if (isNewRematch && game.me?.side) navigate(`/games/${game.rematch_game_id}`);
  }

  #show(game: Game): void {
    const isFirst = this.playback.shown.value === null;
    this.#ahead.value = this.#ahead.value.slice(Math.max(0, game.ply - (this.game.value?.ply ?? game.ply)));
    if (this.game.value && this.game.value.ply !== game.ply) this.hints.drop();
    this.game.value = game;
    this.failure.value = null;
    if (isFirst) this.playback.jump(game.board, game.ply, marksOf(game.last_move?.effects ?? []));
  }

  // Reads the game and follows it, again and again, until the view is left or the game cannot be seen.
  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const game = await client.games.get(this.id, { signal, ...this.#invitation() });
        this.take(game);
        if (this.isInvitation.value) {
          await new Promise((resolve) => setTimeout(resolve, INVITED_MS));
          continue;
        }
        await client.follow(this.id, (event) => this.#on(event), { signal, after: this.game.value?.version });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof MancalaError) || !isTemporary(error.failure, error.status)) return this.#lost(error);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  #invitation(): { joinCode?: string } {
    return this.joinCode !== null && !this.game.value?.me?.side ? { joinCode: this.joinCode } : {};
  }

  #lost(error: unknown): void {
    // 409: another player has taken the seat of a private game.
    const isGone = error instanceof MancalaError && [403, 404, 409, 422].includes(error.status);
    if (isGone) forgetGame(this.id);
    if (isGone || !this.game.value) this.failure.value = error;
    else say(explain(error), "error");
  }

  async #on(event: GameEvent): Promise<void> {
    const { value: game } = this.game;
    if (!game || event.seq <= game.version) return;
    const { move, board, turn, legal_moves: legal } = event;
    if (event.type === "moved" && move && board && turn !== undefined && legal && isPlain(game, event)) {
      this.#moves.set(move.ply, { ...move, board });
      const { position } = move;
      const me = meAfter(game, turn !== null && game.seats[turn]?.id === this.#viewer);
      const clock = event.clock ?? game.clock;
      this.take({
        ...game,
        ...(me && { me }),
        board,
        turn,
        legal_moves: legal,
        position,
        clock,
        ply: move.ply,
        last_move: move,
        version: event.seq,
        updated_at: event.at,
      });
      return;
    }
    if (move) this.#moves.set(move.ply, board ? { ...move, board } : move);
    // Whoever offered something is told that it was declined.
    const declined = event.type === "offer_declined" && game.offers.find(({ type, player_id }) => type === event.offer && player_id === this.#viewer);
    if (declined) say(t("offer.declined", { name: this.nameOf(opposite(declined.side)) }));
    this.take(await client.games.get(this.id, { signal: this.#ending.signal }));
  }

  #played(game: Game, moves: readonly Move[]): void {
    for (const move of moves) this.#moves.set(move.ply, move);
    this.take(game);
  }

  // Moves that the server refused: the board goes back to the game, and the player is told why.
  #refused(): void {
    for (const { id, playerId, failure } of client.queue.refused(this.id)) {
      if (playerId !== this.#viewer) continue;
      say(explain(new MancalaError(failure, 0, undefined)), "error");
      void client.queue.dismiss(id);
      if ("moves" in failure) for (const move of failure.moves) this.#moves.set(move.ply, move);
      if ("game" in failure && isGame(failure.game)) this.take(failure.game);
    }
    this.#reset();
  }

  #reset(): void {
    const { value: game } = this.game;
    if (!game || this.#ahead.value.length === 0) return;
    this.#ahead.value = [];
    this.playback.jump(game.board, game.ply);
  }

  #enqueue(work: () => Promise<void>): void {
    this.#chain = this.#chain.then(work).catch((error: unknown) => console.warn(error));
  }

  // Plays back what happened between the board that is shown and the game.
  async #catchUp(): Promise<void> {
    const [game, shown] = [this.game.value, this.playback.shown.value];
    if (!game || !shown || this.#ending.signal.aborted) return;
    const behind = game.ply - shown.ply;
    // Own moves are shown before they are confirmed.
    if (behind < 0 && -behind <= this.#ahead.value.length) return;
    if (behind > 0 && behind <= PLAYBACK_MAX) {
      for (const move of await this.#missed(shown.ply, behind)) await this.#animate(move, move.board);
    }
    if (this.game.value === game && this.#ahead.value.length === 0) this.playback.jump(game.board, game.ply, marksOf(this.#moves.get(game.ply)?.effects ?? []));
  }

  async #missed(after: number, count: number): Promise<Move[]> {
    const plies = Array.from({ length: count }, (_, n) => after + 1 + n);
    const last = this.game.value?.last_move;
    if (last && last.effects.length > 0) this.#moves.set(last.ply, this.#moves.get(last.ply) ?? last);
    if (!plies.every((ply) => this.#moves.has(ply))) {
      try {
        for await (const move of client.games.moves(this.id, { ...SOON, after, limit: count, boards: true })) {
          this.#moves.set(move.ply, move);
          if (move.ply >= after + count) break;
        }
      } catch {
        return [];
      }
    }
    return plies.flatMap((ply) => this.#moves.get(ply) ?? []);
  }

  async #animate(move: { ply: number; move: string; side: Side; effects: Move["effects"] }, board: Board | undefined): Promise<void> {
    const { value: shown } = this.playback.shown;
    if (!shown || this.#ending.signal.aborted) return;
    const name = this.nameOf(move.side);
    await this.playback.play({ ply: move.ply, effects: move.effects, ...(board && { board }) }, shown.board);
    this.told.value = `${moveInWords(move, name)} ${this.#turnInWords(move.ply)}`.trim();
  }

  #turnInWords(ply: number): string {
    const [now, game] = [this.now.value, this.game.value];
    if (!now?.turn || now.ply !== ply || !now.isMine) return "";
    return game?.opponent.type === "self" ? this.turnOf(now.turn) : t("game.your-turn");
  }

  /** Whose turn it is, by name if there is one. */
  turnOf(side: Side): string {
    const name = this.game.value && nameAt(this.game.value, side);
    return name ? t("game.turn-of", { name }) : t("game.turn-of-side", { side: t(`side.${side}`) });
  }

  /** The name of the player at a side. */
  nameOf(side: Side): string {
    return (this.game.value && nameAt(this.game.value, side)) ?? t(`side.${side}`);
  }
}

/** Whether the player may accept an offer of this type. */
const isOffered = (game: Game | null, type: OfferType) => game?.me?.actions.includes(`accept_${type}`) ?? false;

// What the player may do after a move of which only the turn is told: the rest of the actions stays as it is.
function meAfter({ me, practice }: Game, isMine: boolean): Game["me"] {
  if (!me) return undefined;
  const others = me.actions.filter((action) => action !== "move" && action !== "hint");
  const turn = isMine ? ["move", ...(practice ? ["hint"] : [])] : [];
  return { ...me, is_my_turn: isMine, actions: [...turn, ...others] };
}

// A move after which nothing changes but what its event says.
function isPlain(game: Game, { seq, move, result }: GameEvent): boolean {
  const isNext = seq === game.version + 1 && move?.ply === game.ply + 1;
  return isNext && !result && game.offers.length === 0 && game.ply > 1 && !["swap", "takeback"].includes(move?.move ?? "");
}
