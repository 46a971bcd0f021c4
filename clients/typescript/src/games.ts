// Everything about games, each call safe to send again.

import { type Attempt, type CallOptions, type Core, call, type Raw } from "./core.js";
import { MancalaError } from "./failure.js";
import { paginate } from "./pages.js";
import type { AnalysisStatus, Game, GameFilter, Move, NewGame, Note, OfferType, Play, PlayedMove, Schemas, Summary } from "./types.js";

/** A creation is sent under a key, so that a repetition creates nothing. Keep the key with the settings to repeat it after a reload. */
export interface CreateOptions extends CallOptions {
  key?: string | undefined;
}

/** `version`: the game's, as the player saw it. At another version the call fails with `precondition_failed`. */
export interface AtVersion extends CallOptions {
  version?: number | undefined;
}

export class Games {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  create(settings: NewGame, options?: CreateOptions): Promise<Game> {
    const params = { header: this.#keyed(options) };
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games", { params, body: settings, signal }), options);
  }

  /** Joins the oldest open game that fits, or opens one. */
  seek(settings: NewGame, options?: CreateOptions): Promise<Game> {
    const params = { header: this.#keyed(options) };
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/seek", { params, body: settings, signal }), options);
  }

  /** `joinCode` shows a game by link before it is joined. */
  get(id: string, options?: CallOptions & { joinCode?: string }): Promise<Game> {
    const query = options?.joinCode === undefined ? {} : { join_code: options.joinCode };
    return this.#call(({ signal }) => this.#core.api.GET("/v1/games/{id}", { params: { path: { id }, query }, signal }), options);
  }

  /** Several games in one call, at most 100. Those that do not exist are left out. */
  async getAll(ids: string[], options?: CallOptions): Promise<Game[]> {
    const query = { ids };
    const page = await this.#call(({ signal }) => this.#core.api.GET("/v1/games", { params: { query }, signal }), options);
    return page.items;
  }

  join(id: string, options?: AtVersion & { joinCode?: string | undefined }): Promise<Game> {
    const body = options?.joinCode === undefined ? {} : { join_code: options.joinCode };
    const params = at(id, options);
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/join", { params, body, signal }), options);
  }

  /** Declines an invitation. */
  decline(id: string, options?: AtVersion): Promise<Game> {
    const params = at(id, options);
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/decline", { params, signal }), options);
  }

  resign(id: string, options?: AtVersion): Promise<Game> {
    const params = at(id, options);
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/resign", { params, signal }), options);
  }

  abort(id: string, options?: AtVersion): Promise<Game> {
    const params = at(id, options);
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/abort", { params, signal }), options);
  }

  /** Another code for a game by link; the one before is void. */
  renewJoinCode(id: string, options?: AtVersion): Promise<Game> {
    const params = at(id, options);
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/join-code", { params, signal }), options);
  }

  /**
   * Plays a move, or the moves of one turn. The number of the ply makes it safe: whatever is lost, it is played once.
   * `stale_ply`, `not_your_turn` and `game_over` have the moves that were missed.
   */
  play(id: string, play: Play, options?: AtVersion): Promise<PlayedMove> {
    const params = at(id, options);
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/moves", { params, body: play, signal }), options);
  }

  offer(id: string, type: OfferType, options?: AtVersion & CreateOptions): Promise<Game> {
    const { path, header } = at(id, options);
    const params = { path, header: { ...header, ...this.#keyed(options) } };
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/offers", { params, body: { type }, signal }), options);
  }

  accept(id: string, type: OfferType, options?: AtVersion): Promise<Game> {
    const params = offered(id, type, options);
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/offers/{type}/accept", { params, signal }), options);
  }

  declineOffer(id: string, type: OfferType, options?: AtVersion): Promise<Game> {
    const params = offered(id, type, options);
    const send = ({ signal }: Attempt) => this.#core.api.POST("/v1/games/{id}/offers/{type}/decline", { params, signal });
    return this.#end(id, type, send, options);
  }

  /** Takes the own offer back; of a pause, lets time run again. */
  withdraw(id: string, type: OfferType, options?: AtVersion): Promise<Game> {
    const params = offered(id, type, options);
    const send = ({ signal }: Attempt) => this.#core.api.POST("/v1/games/{id}/offers/{type}/withdraw", { params, signal });
    return this.#end(id, type, send, options);
  }

  /** Requests an analysis, or says how far it is. */
  analyse(id: string, options?: CallOptions): Promise<AnalysisStatus> {
    const params = { path: { id } };
    return this.#call(({ signal }) => this.#core.api.POST("/v1/games/{id}/analysis", { params, signal }), options);
  }

  analysis(id: string, options?: CallOptions): Promise<AnalysisStatus> {
    const params = { path: { id } };
    return this.#call(({ signal }) => this.#core.api.GET("/v1/games/{id}/analysis", { params, signal }), options);
  }

  /** The board after a ply; 0 is the opening. */
  position(id: string, ply: number, options?: CallOptions): Promise<Schemas["Position"]> {
    const params = { path: { id, ply } };
    return this.#call(({ signal }) => this.#core.api.GET("/v1/games/{id}/positions/{ply}", { params, signal }), options);
  }

  /** Games by filters, the newest first unless `sort` says otherwise. `limit` is the size of a page. */
  list(filter: GameFilter = {}, options?: CallOptions): AsyncGenerator<Game, void, undefined> {
    return paginate((cursor) => {
      const query = { ...filter, ...(cursor !== undefined && { cursor }) };
      return this.#call(({ signal }) => this.#core.api.GET("/v1/games", { params: { query }, signal }), options);
    });
  }

  /** The history, oldest first. `after` a ply: what was missed. `boards`: each with the board after it. */
  moves(id: string, options?: CallOptions & { after?: number; limit?: number; boards?: boolean }): AsyncGenerator<Move, void, undefined> {
    const { after, limit, boards } = options ?? {};
    const base = {
      ...(limit !== undefined && { limit }),
      ...(boards === true && { include: "board" as const }),
    };
    return paginate((cursor) => {
      const place = cursor === undefined ? (after === undefined ? {} : { after }) : { cursor };
      const params = { path: { id }, query: { ...base, ...place } };
      return this.#call(({ signal }) => this.#core.api.GET("/v1/games/{id}/moves", { params, signal }), options);
    });
  }

  /** Games to which the caller is invited, or with `sent` those to which the caller has invited others. */
  invitations(direction: "received" | "sent" = "received", options?: CallOptions): AsyncGenerator<Game, void, undefined> {
    return paginate((cursor) => {
      const query = { direction, ...(cursor !== undefined && { cursor }) };
      return this.#call(({ signal }) => this.#core.api.GET("/v1/me/invitations", { params: { query }, signal }), options);
    });
  }

  /** What waits for the caller, for the number on an app's icon. */
  summary(options?: CallOptions): Promise<Summary> {
    return this.#call(({ signal }) => this.#core.api.GET("/v1/me/summary", { signal }), options);
  }

  /** The caller's private notes on a game. */
  notes(id: string, options?: CallOptions): AsyncGenerator<Note, void, undefined> {
    return paginate((cursor) => {
      const params = { path: { id }, query: cursor === undefined ? {} : { cursor } };
      return this.#call(({ signal }) => this.#core.api.GET("/v1/games/{id}/notes", { params, signal }), options);
    });
  }

  writeNote(id: string, ply: number, text: string, options?: CallOptions): Promise<Note> {
    const params = { path: { id, ply } };
    return this.#call(({ signal }) => this.#core.api.PUT("/v1/games/{id}/notes/{ply}", { params, body: { text }, signal }), options);
  }

  async deleteNote(id: string, ply: number, options?: CallOptions): Promise<void> {
    const params = { path: { id, ply } };
    await this.#call(({ signal }) => this.#core.api.DELETE("/v1/games/{id}/notes/{ply}", { params, signal }), options);
  }

  // The key belongs to the player, so that it need not be secret.
  #keyed(options?: CreateOptions): { "Idempotency-Key"?: string } {
    return { "Idempotency-Key": options?.key ?? this.#core.uuid() ?? `${this.#core.now()}-${Math.random()}-${Math.random()}` };
  }

  async #call<T>(send: (attempt: Attempt) => Promise<Raw<T>>, options?: CallOptions): Promise<T> {
    return (await call(this.#core, send, options)).data;
  }

  // Ends an offer. A repetition finds none if the first request arrived: then the game without it is what was wanted.
  async #end(id: string, type: OfferType, send: (attempt: Attempt) => Promise<Raw<Game>>, options?: CallOptions): Promise<Game> {
    let isRepeated = false;
    try {
      return await this.#call((attempt) => {
        isRepeated = attempt.number > 1;
        return send(attempt);
      }, options);
    } catch (error) {
      if (!isRepeated || !(error instanceof MancalaError)) throw error;
      const { failure } = error;
      if (failure.code !== "no_such_offer" && failure.code !== "precondition_failed") throw error;
      const game = ("game" in failure ? failure.game : undefined) ?? (await this.get(id, options));
      if (game.offers.some((offer) => offer.type === type)) throw error;
      return game;
    }
  }
}

function at(id: string, options?: AtVersion): { path: { id: string }; header: { "If-Match"?: string } } {
  return { path: { id }, header: options?.version === undefined ? {} : { "If-Match": `W/"${options.version}"` } };
}

function offered(id: string, type: OfferType, options?: AtVersion) {
  const { header } = at(id, options);
  return { path: { id, type }, header };
}
