// Who the client is: the tokens, where they are kept, and the one place where they are renewed.

import { type CallOptions, type Core, call } from "./core.js";
import { MancalaError, record, text, wantsConfirmation } from "./failure.js";
import { ignore } from "./platform.js";
import { attempt, parse, Shared } from "./shared.js";
import type { Player, Profile, Schemas } from "./types.js";

export interface SessionInfo {
  player: Player;
  /** The id of this sign-in, as `GET /v1/me/sign-ins` lists it. */
  signInId: string;
}

/** Called with every change, also with those of other tabs. `cause` is there if the server ended the session. */
export type SessionListener = (session: SessionInfo | null, cause?: MancalaError) => void;

export interface Grant {
  accessToken: string;
  refreshToken: string;
  player: Player;
}

// What is stored. Times are of this device's clock.
interface Stored extends Grant {
  signInId: string;
  expiresAt: number;
  recoveryCode?: string;
  // The guest that was signed in before, until it is merged or forgotten.
  guest?: { player: Player; refreshToken: string };
}

// A guest that is being made. The key lets a lost answer be asked for again, also after a reload.
interface Pending {
  key: string;
  name?: string;
  since: number;
}

type TokenSet = Schemas["TokenSet"];

/** A token that has less time left is renewed before it is used. */
const MARGIN_MS = 20_000;
/** The server keeps the answers to keys for 24 hours. */
const PENDING_MS = 23 * 3_600_000;

export class Session {
  readonly #core: Core;
  readonly #listeners = new Set<SessionListener>();
  readonly #shared: Shared<Stored | null>;
  // What the listeners know.
  #told = "null";
  #renewing: Promise<Grant | null> | undefined;
  /** Resolves when the stored session is read. At once, unless the storage is asynchronous. */
  readonly ready: Promise<void>;

  constructor(core: Core) {
    this.#core = core;
    this.#shared = new Shared<Stored | null>(core, "session", storedOf, () => this.#tell());
    this.#told = JSON.stringify(this.current());
    this.ready = this.#shared.ready;
  }

  /** The player that is signed in, or null. With asynchronous storage, await `ready` first. */
  current(): SessionInfo | null {
    return this.#stored && { player: this.#stored.player, signInId: this.#stored.signInId };
  }

  /** Calls back on every change; returns what ends that. */
  onChange(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The player that is signed in, or else a new guest. Several tabs that begin together get the same guest. */
  async guest(name?: string, options?: CallOptions): Promise<Player> {
    return this.#exclusive(async () => {
      const there = this.#stored;
      if (there) return there.player;
      const key = this.#pendingKey;
      const old = record(parse(await this.#core.storage.getItem(key)));
      const isOld = old?.["name"] === name && this.#core.now() - Number(old?.["since"]) < PENDING_MS;
      const known = isOld ? text(old?.["key"]) : undefined;
      const uuid = known ?? this.#core.uuid();
      const body = name === undefined ? {} : { name };
      if (uuid !== undefined && known === undefined) {
        const pending: Pending = { key: uuid, ...body, since: this.#core.now() };
        await attempt(() => this.#core.storage.setItem(key, JSON.stringify(pending)));
      }
      const player = await this.#create(body, uuid, options);
      await this.#core.storage.removeItem(key);
      return player;
    });
  }

  /** A new account; a guest that is signed in becomes the account and keeps its games. */
  async register(name: string, password: string, options?: CallOptions): Promise<Player> {
    return this.#exclusive(async () => {
      const stored = this.#stored;
      if (stored?.player.kind !== "guest") return this.#create({ name, password }, this.#core.uuid(), options);
      return this.#upgrade({ name, password }, options);
    });
  }

  /** Signs in to an account. A guest that was signed in is kept aside, see `keptGuest` and `merge`. */
  async signIn(name: string, password: string, options?: CallOptions): Promise<Player> {
    return this.#exclusive(() => this.#grant({ grant_type: "password", name, password }, options));
  }

  /** Becomes the player of a recovery code. */
  async recover(code: string, options?: CallOptions): Promise<Player> {
    return this.#exclusive(() => this.#grant({ grant_type: "recovery_code", recovery_code: code }, options));
  }

  /** @internal For ways to sign in that have modules of their own. `adopt` makes tokens the session's. */
  use<T>(work: (core: Core, adopt: (tokens: TokenSet) => Promise<Player>) => Promise<T>): Promise<T> {
    return this.#exclusive(() => work(this.#core, (tokens) => this.#adopt(tokens)));
  }

  /** The guest that was signed in before the account, as long as it is neither merged nor forgotten. */
  keptGuest(): Player | null {
    return this.#stored?.guest?.player ?? null;
  }

  /** The account takes the guest's games, notes and webhooks along. Without a token, those of the kept guest. */
  async merge(guestToken?: string, options?: CallOptions): Promise<Profile> {
    const token = guestToken ?? this.#stored?.guest?.refreshToken;
    if (token === undefined) throw new MancalaError({ code: "unauthenticated", detail: "no guest was kept" }, 0, undefined);
    const { data } = await call(this.#core, ({ signal }) => this.#core.api.POST("/v1/me/merge", { body: { guest_token: token }, signal }), options);
    if (guestToken === undefined) await this.forgetGuest();
    return data;
  }

  /** Lets the kept guest go. Without its recovery code its games are lost. */
  async forgetGuest(): Promise<void> {
    await this.#exclusive(async () => {
      const stored = this.#stored;
      if (!stored?.guest) return;
      delete stored.guest;
      await this.#store(stored);
    });
  }

  /** The recovery code that the server showed, until `forgetRecoveryCode`: let the player write it down. */
  recoveryCode(): string | null {
    return this.#stored?.recoveryCode ?? null;
  }

  /** A new recovery code; the one before is void. */
  async renewRecoveryCode(options?: CallOptions): Promise<string> {
    const { data } = await call(this.#core, ({ signal }) => this.#core.api.POST("/v1/me/recovery-code", { signal }), options);
    await this.#change((stored) => ({ ...stored, recoveryCode: data.recovery_code }));
    return data.recovery_code;
  }

  /** The player has written the code down. */
  async forgetRecoveryCode(): Promise<void> {
    await this.#change(({ recoveryCode: _, ...stored }) => stored);
  }

  /** Another name. */
  async rename(name: string, options?: CallOptions): Promise<Player> {
    const { data } = await call(this.#core, ({ signal }) => this.#core.api.PATCH("/v1/me", { body: { name }, signal }), options);
    const player = { id: data.id, name: data.name, kind: data.kind };
    await this.#change((stored) => ({ ...stored, player }));
    return player;
  }

  /** Another password of an account. All other devices are signed out. */
  async changePassword(password: string, options?: CallOptions): Promise<void> {
    try {
      await this.#exclusive(() => this.#upgrade({ password }, options));
    } catch (error) {
      if (!wantsConfirmation(error)) throw error;
      const before = this.#stored?.player.id;
      const confirmation = await this.#core.confirm();
      if (confirmation === null || this.#stored?.player.id !== before) throw error;
      const current = confirmation === "signed-in" ? {} : { current_password: confirmation.password };
      await this.#exclusive(() => this.#upgrade({ password, ...current }, options));
    }
  }

  /** Signs out here, or on all devices of an account. A guest comes back by its recovery code only. */
  async signOut(options?: CallOptions & { everywhere?: boolean }): Promise<void> {
    if (options?.everywhere) {
      await call(this.#core, ({ signal }) => this.#core.api.DELETE("/v1/me/sign-ins", { signal }), options).catch(unlessVoid);
    }
    await this.#exclusive(async () => {
      const stored = this.#stored;
      await this.#store(null);
      await this.#core.storage.removeItem(this.#pendingKey);
      if (!stored || options?.everywhere) return;
      const body = { token: stored.refreshToken };
      // Signed out here in any case; without an answer the sign-in stays on the server until it expires.
      await call(this.#core, ({ signal }) => this.#core.anonymous.POST("/v1/tokens/revoke", { body, signal }), options).catch(ignore);
    });
  }

  /** An access token that is valid, or null without a session. For streams and calls that are not made by this client. */
  async token(): Promise<string | null> {
    return (await this.grant())?.accessToken ?? null;
  }

  /** What a call is made with: see `renew`. */
  async grant(): Promise<Grant | null> {
    await this.ready;
    const stored = this.#stored;
    return stored && !this.#isFresh(stored) ? this.renew(stored) : stored;
  }

  /** Another token in place of one that has expired or was refused. Of all tabs one asks the server. */
  renew(used: Grant): Promise<Grant | null> {
    this.#renewing ??= this.#exclusive(() => this.#refresh(used)).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /** Ends the exchange with other tabs. */
  close(): void {
    this.#shared.close();
    this.#listeners.clear();
  }

  get #stored(): Stored | null {
    return this.#shared.value;
  }

  get #pendingKey(): string {
    return `${this.#core.scope}:pending-guest`;
  }

  #isFresh(stored: Stored): boolean {
    return stored.expiresAt - this.#core.now() > MARGIN_MS;
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#shared.exclusive(work);
  }

  async #refresh(used: Grant): Promise<Grant | null> {
    const stored = this.#stored;
    if (!stored) return null;
    // Another tab has done it meanwhile. Access tokens of one second are equal, refresh tokens are not.
    if (stored.refreshToken !== used.refreshToken && this.#isFresh(stored)) return stored;
    const body = { grant_type: "refresh_token" as const, refresh_token: stored.refreshToken };
    try {
      const { data } = await call(this.#core, ({ signal }) => this.#core.anonymous.POST("/v1/tokens", { body, signal }));
      return await this.#take(data, stored);
    } catch (error) {
      if (!(error instanceof MancalaError) || error.status !== 401) throw error;
      // Where locks do not reach all tabs, one of them may have been faster.
      const other = this.#stored;
      if (other && other.refreshToken !== stored.refreshToken) return other;
      await this.#store(null, error);
      return null;
    }
  }

  async #create(body: Schemas["CreatePlayer"], key: string | undefined, options?: CallOptions): Promise<Player> {
    const header = key === undefined ? {} : { "Idempotency-Key": key };
    // Without a key a lost answer would leave a player behind with each repetition.
    const retry = key === undefined ? { ...options?.retry, attempts: 1 } : options?.retry;
    const { data } = await call(this.#core, ({ signal }) => this.#core.anonymous.POST("/v1/players", { params: { header }, body, signal }), {
      ...options,
      retry,
    });
    return (await this.#take(data)).player;
  }

  async #grant(body: Schemas["CreateToken"], options?: CallOptions): Promise<Player> {
    const { data } = await call(this.#core, ({ signal }) => this.#core.anonymous.POST("/v1/tokens", { body, signal }), options);
    return this.#adopt(data);
  }

  async #adopt(tokens: TokenSet): Promise<Player> {
    const before = this.#stored;
    const isGuest = before?.player.kind === "guest" && before.player.id !== tokens.player.id;
    const guest = isGuest ? { player: before.player, refreshToken: before.refreshToken } : before?.guest;
    return (await this.#take(tokens, guest && { guest })).player;
  }

  // A new password voids all tokens, also those with which the call would be repeated: then the new password signs in.
  async #upgrade(body: { name?: string; password: string; current_password?: string }, options?: CallOptions): Promise<Player> {
    const before = this.#stored;
    const name = body.name ?? before?.player.name ?? "";
    const authorization = `Bearer ${(before && !this.#isFresh(before) ? await this.#refresh(before) : before)?.accessToken}`;
    const headers = { Authorization: authorization };
    let isRepeated = false;
    try {
      const { data } = await call(
        this.#core,
        ({ signal, number }) => {
          isRepeated = number > 1;
          return this.#core.anonymous.PATCH("/v1/me", { body, headers, signal });
        },
        options,
      );
      const player = { id: data.id, name: data.name, kind: data.kind };
      if (data.tokens) return (await this.#take(data.tokens, before ?? {})).player;
      if (before) await this.#store({ ...before, player });
      return player;
    } catch (error) {
      if (!isRepeated || !(error instanceof MancalaError) || error.status !== 401) throw error;
      return this.#grant({ grant_type: "password", name, password: body.password }, options);
    }
  }

  // Keeps new tokens before they are used, with what else is kept of the session before.
  async #take(tokens: TokenSet, before: Partial<Stored> = {}): Promise<Stored> {
    const recoveryCode = tokens.recovery_code ?? before.recoveryCode;
    const stored: Stored = {
      player: tokens.player,
      signInId: tokens.sign_in_id,
      accessToken: tokens.access_token,
      expiresAt: this.#core.now() + tokens.expires_in * 1000,
      refreshToken: tokens.refresh_token,
      ...(recoveryCode !== undefined && { recoveryCode }),
      ...(before.guest && { guest: before.guest }),
    };
    await this.#store(stored);
    return stored;
  }

  async #change(change: (stored: Stored) => Stored): Promise<void> {
    await this.#exclusive(async () => {
      const stored = this.#stored;
      if (stored) await this.#store(change(stored));
    });
  }

  async #store(stored: Stored | null, cause?: MancalaError): Promise<void> {
    // If the storage is full or blocked, the session lasts as long as this client: the stored tokens are used up.
    await this.#shared.set(stored);
    this.#tell(cause);
  }

  #tell(cause?: MancalaError): void {
    const session = this.current();
    const text = JSON.stringify(session);
    if (text === this.#told) return;
    this.#told = text;
    for (const listener of this.#listeners) listener(session, cause);
  }
}

function unlessVoid(error: unknown): void {
  if (!(error instanceof MancalaError) || error.status !== 401) throw error;
}

// A session of another form, as another release or a stranger has stored it, is none.
function storedOf(value: unknown): Stored | null {
  const stored = record(value);
  const player = playerOf(stored?.["player"]);
  const [signInId, accessToken, refreshToken] = [text(stored?.["signInId"]), text(stored?.["accessToken"]), text(stored?.["refreshToken"])];
  if (!player || signInId === undefined || accessToken === undefined || refreshToken === undefined) return null;
  const recoveryCode = text(stored?.["recoveryCode"]);
  const guest = record(stored?.["guest"]);
  const [guestPlayer, guestToken] = [playerOf(guest?.["player"]), text(guest?.["refreshToken"])];
  return {
    player,
    signInId,
    accessToken,
    // Without a time the token is renewed first.
    expiresAt: Number(stored?.["expiresAt"]) || 0,
    refreshToken,
    ...(recoveryCode !== undefined && { recoveryCode }),
    ...(guestPlayer && guestToken !== undefined && { guest: { player: guestPlayer, refreshToken: guestToken } }),
  };
}

function playerOf(value: unknown): Player | undefined {
  const player = record(value);
  const isPlayer = [player?.["id"], player?.["name"], player?.["kind"]].every((field) => typeof field === "string");
  return isPlayer ? (player as unknown as Player) : undefined;
}
