// Moves as the server writes them, taken apart: a pit, and maybe a direction, a number or a declined capture. What may be played, the server says.

/** A move of a pit. */
export interface Action {
  move: string;
  pit: string;
  /** Whether it is sown in the order of letters. */
  isUpward: boolean;
  /** How many seeds are put down in the pit; null where it is sown. */
  count: number | null;
  /** Whether it leaves the seeds that it could capture. */
  isDeclined: boolean;
}

const FORM = /^([a-z])([uv]|\d{1,2}|~)?$/i;

/** A move of a pit; null for one without a pit, such as `pass`. */
export function actionOf(move: string): Action | null {
  const [, pit, rest = ""] = FORM.exec(move) ?? [];
  if (pit === undefined) return null;
  return { move, pit, isUpward: rest.toUpperCase() !== "V", count: /\d/.test(rest) ? Number(rest) : null, isDeclined: rest === "~" };
}

export function actionsOf(moves: readonly string[]): Action[] {
  return moves.flatMap((move) => actionOf(move) ?? []);
}

/** The pits that moves begin with, each once. */
export function pitsOfMoves(moves: readonly string[]): string[] {
  return [...new Set(actionsOf(moves).map(({ pit }) => pit))];
}

/** The moves that begin with a pit. */
export function movesAt(moves: readonly string[], pit: string): string[] {
  return moves.filter((move) => actionOf(move)?.pit === pit);
}

/** The moves without a pit: to pass, to change seats. */
export function specialOf(moves: readonly string[]): string[] {
  return moves.filter((move) => actionOf(move) === null);
}
