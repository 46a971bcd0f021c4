// Sign-in by issuers of OpenID Connect. A module of its own, so that a bundle has it only where it is used.

import { type CallOptions, call } from "./core.js";
import { MancalaError, record, text } from "./failure.js";
import type { Session } from "./session.js";
import { parse } from "./shared.js";
import type { Player } from "./types.js";

export interface SignInOptions extends CallOptions {
  /** What others see of a new player. A player who was here before keeps its name. */
  name?: string;
}

/** What `signInBy` needs. `open` shows the issuer's page, and resolves with the address at which it sent the person back. */
export interface OpenSignIn extends SignInOptions {
  redirectUri: string;
  open: (authorizationUrl: string) => Promise<string | URL>;
}

/** Begins a sign-in, and returns the address of the issuer's page. What completes it is kept in the client's storage, across a reload. */
export async function beginSignIn(session: Session, issuer: string, redirectUri: string, options?: CallOptions): Promise<string> {
  return session.use(async (core) => {
    const body = { redirect_uri: redirectUri };
    const params = { path: { issuer } };
    const begin = ({ signal }: { signal: AbortSignal }) => core.anonymous.POST("/v1/sign-in/{issuer}", { params, body, signal });
    const { data } = await call(core, begin, options);
    await core.storage.setItem(`${core.scope}:sign-in`, JSON.stringify({ issuer, session: data.session }));
    return data.authorization_url;
  });
}

/**
 * Completes the sign-in that has begun, with the address at which the issuer sent the person back. Its tokens become the session's, and a guest that was
 * signed in is kept aside, as by `signIn`. If the issuer or the server is away, the same may be done again.
 */
export async function completeSignIn(session: Session, back: string | URL, options: SignInOptions = {}): Promise<Player> {
  return session.use(async (core, adopt) => {
    const key = `${core.scope}:sign-in`;
    const kept = record(parse(await core.storage.getItem(key)));
    const [issuer, sealed] = [text(kept?.["issuer"]), text(kept?.["session"])];
    const query = new URL(back).searchParams;
    const [code, state, iss, error] = ["code", "state", "iss", "error"].map((name) => query.get(name));
    if (issuer === undefined || sealed === undefined) throw refused("no sign-in has begun here");
    if (!code || !state) {
      await core.storage.removeItem(key);
      throw refused(error ? `the issuer says: ${error}` : "the address has no code");
    }
    const body = { session: sealed, state, code, ...(iss && { iss }), ...(options.name !== undefined && { name: options.name }) };
    const params = { path: { issuer } };
    const complete = ({ signal }: { signal: AbortSignal }) => core.anonymous.POST("/v1/sign-in/{issuer}/complete", { params, body, signal });
    try {
      const { data } = await call(core, complete, options);
      const player = await adopt(data);
      await core.storage.removeItem(key);
      return player;
    } catch (failure) {
      if (failure instanceof MancalaError && failure.status === 401) await core.storage.removeItem(key);
      throw failure;
    }
  });
}

/** Both in one, where the client outlives the issuer's page: in apps, and with a window of its own. */
export async function signInBy(session: Session, issuer: string, options: OpenSignIn): Promise<Player> {
  const back = await options.open(await beginSignIn(session, issuer, options.redirectUri, options));
  return completeSignIn(session, back, options);
}

function refused(detail: string): MancalaError {
  return new MancalaError({ code: "sign_in_refused", detail }, 0, undefined);
}
