// Names for the types that applications use most. All of them come from the OpenAPI document: see schema.ts.

import type { components, operations, paths } from "./schema.js";

export type { components, operations, paths };

export type Schemas = components["schemas"];

export type Board = Schemas["Board"];
export type Row = Schemas["Row"];
export type Side = Schemas["Side"];
export type Effect = Schemas["Effect"];
export type Game = Schemas["Game"];
export type Move = Schemas["Move"];
export type PlayedMove = Schemas["PlayedMove"];
export type Player = Schemas["Player"];
export type Profile = Schemas["Profile"];
export type Offer = Schemas["Offer"];
export type OfferType = Schemas["OfferChoice"];
export type Result = Schemas["Result"];
export type Clock = Schemas["Clock"];
export type Note = Schemas["Note"];
export type AnalysisStatus = Schemas["AnalysisStatus"];
export type Summary = Schemas["Summary"];
export type Problem = Schemas["Problem"];
export type FieldError = Schemas["FieldError"];
/** An event of one game. */
export type GameEvent = Schemas["Event"];
/** An event of any of the caller's games. Its `id` is its place in the stream of all games. */
export type PlayerEvent = Schemas["PlayerEvent"];
/** The settings of a new game. */
export type NewGame = Schemas["CreateGame"];
/** The filters of a list of games. Pages are followed by the iterator, so there is no cursor. */
export type GameFilter = Omit<NonNullable<operations["list_games"]["parameters"]["query"]>, "cursor" | "ids">;
/** One move, or the moves of one turn, with the number of the first ply. */
export type Play = { ply: number; move: string } | { ply: number; moves: string[] };
