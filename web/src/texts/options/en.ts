// English: names of options and choices. What they are about, the server says.

import type { OptionTexts } from "./index.ts";

const labels = {
  pits: "Pits on each side",
  seeds: "Seeds in each pit",
  sow_stores: "Stores that are sown",
  extra_turn: "Another move",
  capture: "Captures",
  capture_land: "Capture from",
  empty_capture: "Capture without facing seeds",
  end: "End of the game",
  remaining: "Seeds left at the end",
  majority_end: "End at a majority",
  majority_remaining: "Seeds left at a majority",
  pie: "Changing seats",
  grand_slam: "Grand slam",
  must_feed: "Feeding is a duty",
  repetition: "Repetitions",
  repetition_award: "Seeds left at a repetition",
  agree_end: "End by agreement",
  take_own_seed: "Capture the last seed too",
  capture_needs_lap: "Capture only after a lap",
  rounds: "Rounds",
  refill_from: "Refill from",
  round_starter: "Opens the next round",
  max_rounds: "Rounds at most",
};

const values = {
  yes: "yes",
  no: "no",
  "sow_stores.own": "the own one",
  "sow_stores.both": "both",
  "extra_turn.mandatory": "must be made",
  "extra_turn.optional": "may be made",
  "extra_turn.none": "none",
  "capture.opposite": "the facing pit",
  "capture.none": "none",
  "capture_land.own": "the own row",
  "capture_land.opponent": "the other row",
  "capture_land.any": "either row",
  "end.side_empty": "a row is empty",
  "end.no_move": "no move is possible",
  "remaining.side_owner": "to the owner of the row",
  "remaining.emptier": "to the side whose row is empty",
  "remaining.discard": "to neither side",
  "majority_remaining.leave": "stay in the pits",
  "majority_remaining.sweep": "to the owner of the row",
  "grand_slam.no_capture": "captures nothing",
  "grand_slam.capture": "captures",
  "grand_slam.illegal": "is no legal move",
  "grand_slam.avoid": "only if there is no other move",
  "grand_slam.forfeit_rest": "gives the rest to the opponent",
  "grand_slam.leave_landing": "leaves the last pit",
  "grand_slam.leave_first": "leaves the first pit",
  "repetition_award.side_owner": "to the owner of the row",
  "repetition_award.split": "half to each side",
  "rounds.single": "one",
  "rounds.multi": "a match of several",
  "refill_from.store": "the store",
  "refill_from.far": "the far end",
  "round_starter.loser": "the loser",
  "round_starter.winner": "the winner",
  "round_starter.alternate": "each side in turn",
};

export type Labels = Record<keyof typeof labels, string>;
export type Words = Record<keyof typeof values, string>;

export const en: OptionTexts = { labels, values, about: {} };
