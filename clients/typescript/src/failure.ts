// What can go wrong, as one discriminated union.

import type { FieldError, Game, Move } from "./types.js";

type Of<Code extends string, Fields = unknown> = { code: Code; detail: string } & Fields;

/**
 * Why a call failed. Decide by `code`; `detail` is for people.
 *
 * All codes but the last three are the server's, and are explained in the table "Failures" of its API documentation.
 */
export type Failure =
  /** The game has gone on, or is over. `moves` are the plies from the sent one on: show them, and take over `game`. */
  | Of<"stale_ply" | "not_your_turn" | "game_over" | "game_not_started", { game?: Game; moves: Move[] }>
  | Of<"illegal_move", { reason: string; legalMoves: string[]; index?: number; position?: string }>
  | Of<"validation_failed", { errors: FieldError[] }>
  | Of<"seat_taken" | "own_game" | "no_such_offer" | "offer_pending" | "offer_not_possible", { game?: Game }>
  /** From `retryAt` on, in RFC 3339, the same request may succeed: hours later, so nothing sends it again by itself. */
  | Of<"too_many_invitations", { retryAt?: string }>
  /** Temporary. The same request may be sent again after `retryAfterMs`. */
  | Of<"rate_limited" | "unavailable" | "issuer_unavailable" | "internal", { retryAfterMs?: number }>
  | Of<
      | "malformed_request"
      | "unauthenticated"
      | "invalid_token"
      | "refresh_token_reused"
      | "invalid_credentials"
      | "sign_in_refused"
      | "recent_sign_in_required"
      | "forbidden"
      | "player_suspended"
      | "not_seated"
      | "not_found"
      | "method_not_allowed"
      | "not_acceptable"
      | "name_taken"
      | "identity_taken"
      | "last_way_in"
      | "no_record"
      | "game_not_over"
      | "too_many_analyses"
      | "too_many_webhooks"
      | "push_not_offered"
      | "too_many_devices"
      | "too_many_notes"
      | "too_many_blocks"
      | "too_many_mutes"
      | "too_many_friends"
      | "too_many_imports"
      | "too_many_games"
      | "too_many_open_games"
      | "webhook_disabled"
      | "webhook_not_verified"
      | "email_not_configured"
      | "invalid_link"
      | "precondition_failed"
      | "payload_too_large"
      | "unsupported_media_type"
      | "idempotency_key_reused"
    >
  /** A code that is newer than this package: `serverCode`, with all that the server said. */
  | Of<"unknown_code", { serverCode: string; problem: Readonly<Record<string, unknown>> }>
  /** The answer was not the server's: a page of a proxy, or nothing. */
  | Of<"bad_answer", { retryAfterMs?: number }>
  /** No answer came, in any attempt. The request may have been carried out. */
  | Of<"no_answer", { cause: unknown }>;

/** A failed call. */
export class MancalaError extends Error {
  override readonly name = "MancalaError";

  constructor(
    readonly failure: Failure,
    /** The HTTP status, or 0 without an answer. */
    readonly status: number,
    /** By this id the server's log finds the request. */
    readonly requestId: string | undefined,
  ) {
    super(`${failure.code}: ${failure.detail}`);
  }
}

/** Whether the server wants to know who the player is, beyond the token. */
export function wantsConfirmation(error: unknown): boolean {
  return error instanceof MancalaError && error.failure.code === "recent_sign_in_required";
}

/** Whether a failure is temporary, so that the same request may succeed later. */
export function isTemporary(failure: Failure, status: number): boolean {
  switch (failure.code) {
    case "no_answer":
    case "rate_limited":
    case "unavailable":
    case "issuer_unavailable":
    case "internal":
      return true;
    case "bad_answer":
    case "unknown_code":
      return status >= 500 || status === 429 || status === 408 || (status >= 200 && status < 300);
    default:
      return false;
  }
}

/** The error of an answer whose status says that the call failed. */
export function errorOf(response: Response, body: unknown): MancalaError {
  const problem = record(body);
  const requestId = text(problem?.["request_id"]) ?? response.headers.get("x-request-id") ?? undefined;
  return new MancalaError(failureOf(response, problem), response.status, requestId);
}

/** The error of a call that got no answer. */
export function noAnswer(cause: unknown): MancalaError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new MancalaError({ code: "no_answer", detail, cause }, 0, undefined);
}

// An answer is judged by what it holds: a server of another version may leave out what the union has.
function failureOf(response: Response, problem: Record<string, unknown> | undefined): Failure {
  const code = text(problem?.["code"]);
  const detail = text(problem?.["detail"]) ?? `status ${response.status}`;
  const wait = retryAfter(response.headers.get("Retry-After"));
  const later = wait === undefined ? {} : { retryAfterMs: wait };
  if (problem === undefined || code === undefined) return { code: "bad_answer", detail, ...later };
  const game = record(problem["game"]) as Game | undefined;
  const shown = game === undefined ? {} : { game };
  switch (code) {
    case "stale_ply":
    case "not_your_turn":
    case "game_over":
    case "game_not_started":
      return { code, detail, ...shown, moves: list(problem["moves"]) as Move[] };
    case "illegal_move": {
      const [index, position] = [problem["index"], text(problem["position"])];
      return {
        code,
        detail,
        reason: text(problem["reason"]) ?? "",
        legalMoves: list(problem["legal_moves"]) as string[],
        ...(typeof index === "number" && { index }),
        ...(position !== undefined && { position }),
      };
    }
    case "validation_failed":
      return { code, detail, errors: list(problem["errors"]) as FieldError[] };
    case "seat_taken":
    case "own_game":
    case "no_such_offer":
    case "offer_pending":
    case "offer_not_possible":
      return { code, detail, ...shown };
    case "too_many_invitations": {
      const retryAt = text(problem["retry_at"]);
      return { code, detail, ...(retryAt !== undefined && { retryAt }) };
    }
    case "rate_limited":
    case "unavailable":
    case "issuer_unavailable":
    case "internal":
      return { code, detail, ...later };
    default:
      return isPlain(code) ? { code, detail } : { code: "unknown_code", detail, serverCode: code, problem };
  }
}

type Plain = Extract<Failure, { code: "not_found" }>["code"];

const PLAIN: Record<Plain, true> = {
  malformed_request: true,
  unauthenticated: true,
  invalid_token: true,
  refresh_token_reused: true,
  invalid_credentials: true,
  sign_in_refused: true,
  recent_sign_in_required: true,
  forbidden: true,
  player_suspended: true,
  not_seated: true,
  not_found: true,
  method_not_allowed: true,
  not_acceptable: true,
  name_taken: true,
  identity_taken: true,
  last_way_in: true,
  no_record: true,
  game_not_over: true,
  too_many_analyses: true,
  too_many_webhooks: true,
  push_not_offered: true,
  too_many_devices: true,
  too_many_notes: true,
  too_many_blocks: true,
  too_many_mutes: true,
  too_many_friends: true,
  too_many_imports: true,
  too_many_games: true,
  too_many_open_games: true,
  webhook_disabled: true,
  webhook_not_verified: true,
  email_not_configured: true,
  invalid_link: true,
  precondition_failed: true,
  payload_too_large: true,
  unsupported_media_type: true,
  idempotency_key_reused: true,
};

function isPlain(code: string): code is Plain {
  return (PLAIN as Record<string, unknown>)[code] === true;
}

/** The header `Retry-After` in milliseconds: seconds, or a date as proxies send it. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** The fields of an object; undefined if it is none. */
export function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** A text; undefined if it is none. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The items of a list; none if it is none. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
