// Who sits where, in words.

import type { Game, Side } from "@mancala-server/client";

/** The name of who sits at a side. None where only the sides tell two players at one device apart. */
export function nameAt({ seats }: Pick<Game, "seats">, side: Side): string | undefined {
  const { south, north } = seats;
  const isOne = south?.id === north?.id;
  const isNamed = (south?.display_name ?? north?.display_name) !== undefined;
  if (isOne && !isNamed) return undefined;
  return seats[side]?.display_name ?? seats[side]?.name;
}
