// The first mistake of a player in a game that is over, as the engine judges it.

import type { Game } from "@mancala-server/client";

import { client, SOON } from "../client.ts";
import { navigate } from "../router.ts";
import { t } from "../texts/index.ts";
import { say } from "./messages.ts";

/** How often the progress of an analysis is read. */
const PROGRESS_MS = 1500;

/** Goes to the ply of the first mistake in the review. A game that is not judged yet is judged first. */
export async function goToFirstMistake(game: Game, signal: AbortSignal): Promise<void> {
  let found = await client.games.analyse(game.id, { ...SOON, signal });
  while (["queued", "running"].includes(found.status)) {
    await new Promise((resolve) => setTimeout(resolve, PROGRESS_MS));
    signal.throwIfAborted();
    found = await client.games.analysis(game.id, { ...SOON, signal });
  }
  if (!found.analysis) return say(t("review.failed"), "error");
  // Of two players at one device, either may have made it.
  const side = game.opponent.type === "self" ? null : game.me?.side;
  const mistake = found.analysis.plies.find((each) => ["mistake", "blunder"].includes(each.class) && (side === null || each.side === side));
  if (mistake) navigate(`/review/${game.id}#ply=${mistake.ply}`);
  else say(t("result.no-mistake"));
}
