// Calls of operations for which the SDK has no method: an answer, or a failure like those of its methods.

import { MancalaError } from "@mancala-server/client";

/** What openapi-fetch answers. */
interface Raw<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer, or the failure as an error. */
export async function ask<T>(call: Promise<Raw<T>>): Promise<T> {
  const { data, error, response } = await answerOf(call);
  if (response.ok) return data as T;
  throw failureOf(error, response);
}

async function answerOf<T>(call: Promise<Raw<T>>): Promise<Raw<T>> {
  try {
    return await call;
  } catch (cause) {
    if (cause instanceof MancalaError || (cause instanceof DOMException && cause.name === "AbortError")) throw cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new MancalaError({ code: "no_answer", detail, cause }, 0, undefined);
  }
}

function failureOf(body: unknown, response: Response): MancalaError {
  const problem = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const { code = "bad_answer", detail = `status ${response.status}`, errors = [], reason = "", legal_moves = [] } = problem;
  const failure = { ...problem, code, detail, errors, reason, legalMoves: legal_moves } as MancalaError["failure"];
  return new MancalaError(failure, response.status, response.headers.get("x-request-id") ?? undefined);
}
