// What players offer each other, in words: `Record`s, so that a new type of offer does not build without its texts.

import type { OfferType } from "@mancala-server/client";

import type { Key } from "../texts/index.ts";

export const OFFERS: readonly OfferType[] = ["rematch", "draw", "end", "takeback", "pause"];

/** The button that makes an offer. */
export const OFFER: Record<OfferType, Key> = {
  rematch: "offer.rematch",
  draw: "offer.draw",
  end: "offer.end",
  takeback: "offer.takeback",
  pause: "offer.pause",
};

/** An offer of the other player. */
export const OFFERED: Record<OfferType, Key> = {
  rematch: "offered.rematch",
  draw: "offered.draw",
  end: "offered.end",
  takeback: "offered.takeback",
  pause: "offered.pause",
};

/** An own offer. */
export const OFFERING: Record<OfferType, Key> = {
  rematch: "offering.rematch",
  draw: "offering.draw",
  end: "offering.end",
  takeback: "offering.takeback",
  pause: "offering.pause",
};
