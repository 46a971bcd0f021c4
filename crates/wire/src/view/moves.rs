//! Wire types of moves and their effects.

use std::sync::Arc;

use mancala_domain::{Ply, PlyAction};
use mancala_rules::{Effect, OwnEffect, Place, Side};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    board::{BoardView, PointsView, ScoreView, legal_moves},
    wire::{ALWAYS_JSON, SideWord, Timestamp, TurnView},
};

/// A ply as the history shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Move)]
pub struct MoveView {
    /// Its number in the game, from 1; never used twice.
    #[schema(minimum = 1, example = 6)]
    ply: u32,
    /// The side of the board that moved.
    side: SideWord,
    /// The player who moved.
    player_id: Uuid,
    #[serde(rename = "move")]
    #[schema(example = "D")]
    word: String,
    at: Timestamp,
    /// Time since the ply before; for the first ply, since the game started.
    #[schema(minimum = 0, example = 12400)]
    elapsed_ms: u64,
    /// What happened on the board, in order. A client can animate the move without knowing the rules.
    #[schema(value_type = Vec<EffectView>)]
    effects: Vec<EffectJson>,
    /// The position after it, in text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
    /// With `include=board`: the seeds after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    board: Option<BoardView>,
    /// With `include=board`: the side to move after it; null if it ended the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SideWord>)]
    turn: Option<TurnView>,
    /// With `include=board`: the moves that the side to move might play.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["A", "B", "D", "E", "F"]))]
    legal_moves: Option<Vec<String>>,
}

/// A frame of a move. Clients ignore types that they do not know.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = Effect)]
pub enum EffectView {
    /// All seeds of a pit are taken into the hand.
    Lift {
        #[schema(example = "D")]
        pit: String,
        seeds: u16,
    },
    /// The sowing continues: all seeds of the pit where the last one fell are taken into the hand.
    Relay {
        #[schema(example = "d")]
        pit: String,
        seeds: u16,
    },
    /// A single seed falls: into a pit (its letter), or into `south_store` or `north_store`.
    Sow {
        #[schema(example = "E")]
        to: String,
    },
    /// Seeds are taken from pits into a store.
    Capture {
        #[schema(example = json!(["C", "d"]))]
        from: Vec<String>,
        seeds: u16,
        #[schema(example = "south_store")]
        to: String,
    },
    /// The same side moves again: the last seed fell into its own store, or its turn goes on.
    ExtraTurn,
    /// The players change sides; the board stays.
    Swap,
    /// All plies after `to_ply` are taken back, and the position after it is restored.
    Takeback {
        #[schema(minimum = 0)]
        to_ply: u32,
    },
    /// An extra move is declined, or a turn stops at its choice.
    Pass,
    /// At the end, the seeds left in a side's pits go to a store.
    Sweep {
        side: SideWord,
        seeds: u16,
        #[schema(example = "north_store")]
        to: String,
    },
    /// At the end, the seeds left in all pits are put together and shared evenly between the stores.
    Split {
        /// The seeds that go to each store.
        #[schema(example = 3)]
        seeds: u16,
        /// The pit where an odd seed stays.
        #[schema(required = true, example = "A")]
        odd: Option<String>,
    },
    /// In a lockstep opening, the pit that South will sow. Nothing is sown yet.
    Choose {
        #[schema(example = "C")]
        pit: String,
    },
    /// In a lockstep opening, both hands are in play: the effects that follow are of this side's.
    Hand { side: SideWord },
    /// After a capture of three seeds, the emptied pit belongs to `side` for the rest of the game. Each seed that would
    /// fall there falls in the store of that side.
    Tuzdyk {
        #[schema(example = "c")]
        pit: String,
        side: SideWord,
    },
    /// At the end, the seeds left in all pits go to the stores, so that both hold the same.
    Level {
        /// The seeds that go to South's store.
        #[schema(example = 3)]
        south: u16,
        /// The seeds that go to North's store.
        #[schema(example = 1)]
        north: u16,
        /// The pit where an odd seed stays.
        #[schema(required = true, example = "A")]
        odd: Option<String>,
    },
    /// A round of several is over.
    RoundOver {
        #[schema(minimum = 1, example = 1)]
        round: u32,
        score: ScoreView,
        /// In a match that points decide: the points of each side after the round.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        points: Option<PointsView>,
    },
    /// For a new round, seeds go from a side's store to its pits, the same number to each. The other pits of that row are burnt
    /// until the next refill; they stay empty where the board has no `burnt`.
    Refill {
        side: SideWord,
        #[schema(example = json!(["b", "c", "d", "e", "f", "g"]))]
        pits: Vec<String>,
        #[schema(example = 7)]
        seeds: u16,
    },
    /// Seeds go from the mover's reserve to a pit.
    Place {
        #[schema(example = "F")]
        pit: String,
        seeds: u16,
    },
    /// Some seeds of a house are taken into the hand; the rest stays.
    Tax {
        #[schema(example = "E")]
        pit: String,
        seeds: u16,
    },
    /// The sowing continues with captured seeds in the hand; the first falls next to `pit`.
    Resume {
        #[schema(example = "H")]
        pit: String,
        seeds: u16,
    },
    /// All seeds of pits of the other side are taken into the mover's hand, to be sown.
    Take {
        #[schema(example = json!(["d", "m"]))]
        from: Vec<String>,
        seeds: u16,
    },
    /// A side no longer owns its house.
    HouseLost { side: SideWord },
    /// At an end in the middle of a turn, the seeds in the hand go to the mover's reserve.
    Reserve { side: SideWord, seeds: u16 },
    /// A pit is no longer blocked.
    Unblock {
        #[schema(example = "c")]
        pit: String,
    },
    /// A pit is blocked for the next turn of its side.
    Block {
        #[schema(example = "c")]
        pit: String,
    },
    /// The rules end the game. No pit is blocked any more.
    GameOver {
        #[schema(example = "side_empty")]
        reason: String,
    },
}

/// An effect as JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum EffectJson {
    Shared(EffectView),
    Own(OwnEffectView),
}

/// An effect that only one game knows.
#[derive(Clone, Debug, Serialize)]
pub struct OwnEffectView {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<SideWord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds: Option<u16>,
}

/// A [`MoveView`] as JSON, because an answer to a move contains it twice: in the game and beside it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct MoveJson(pub Arc<RawValue>);

impl MoveJson {
    pub fn of(ply: &Ply) -> Self {
        Self(to_raw_value(&MoveView::of(ply)).expect(ALWAYS_JSON).into())
    }
}

impl MoveView {
    pub fn of(ply: &Ply) -> Self {
        Self {
            ply: ply.number,
            side: ply.side.into(),
            player_id: ply.player.0,
            word: ply.mv.to_string(),
            at: Timestamp(ply.at),
            elapsed_ms: u64::try_from(ply.elapsed.whole_milliseconds()).unwrap_or(0),
            effects: match ply.mv {
                PlyAction::Move(_) => ply.effects.iter().map(EffectJson::of).collect(),
                PlyAction::Takeback { to_ply, .. } => vec![EffectJson::Shared(EffectView::Takeback { to_ply })],
            },
            position: ply.position.to_string(),
            board: None,
            turn: None,
            legal_moves: None,
        }
    }

    /// The ply with the board after it, so that a client shows any ply without the ones before it.
    pub fn with_board(ply: &Ply) -> Self {
        let turn = ply.turn_after();
        Self {
            board: Some(BoardView::of(&ply.position)),
            turn: Some(turn.into()),
            legal_moves: Some(turn.map(|_| legal_moves(&ply.position)).unwrap_or_default()),
            ..Self::of(ply)
        }
    }
}

impl EffectJson {
    pub fn of(effect: &Effect) -> Self {
        let store = |side: &Side| Place::Store(*side).to_string();
        Self::Shared(match effect {
            Effect::Lift { pit, seeds } => EffectView::Lift { pit: pit.to_string(), seeds: *seeds },
            Effect::Relay { pit, seeds } => EffectView::Relay { pit: pit.to_string(), seeds: *seeds },
            Effect::Sow { to } => EffectView::Sow { to: to.to_string() },
            Effect::Capture { from, seeds, to } => EffectView::Capture {
                from: from.iter().map(ToString::to_string).collect(),
                seeds: *seeds,
                to: store(to),
            },
            Effect::ExtraTurn => EffectView::ExtraTurn,
            Effect::Swap => EffectView::Swap,
            Effect::Pass => EffectView::Pass,
            Effect::Sweep { side, seeds, to } => {
                EffectView::Sweep { side: (*side).into(), seeds: *seeds, to: store(to) }
            }
            Effect::Split { seeds, odd } => {
                EffectView::Split { seeds: *seeds, odd: odd.as_ref().map(ToString::to_string) }
            }
            Effect::Choose { pit } => EffectView::Choose { pit: pit.to_string() },
            Effect::Hand { side } => EffectView::Hand { side: (*side).into() },
            Effect::Tuzdyk { pit, side } => EffectView::Tuzdyk { pit: pit.to_string(), side: (*side).into() },
            Effect::Level { south, north, odd } => {
                EffectView::Level { south: *south, north: *north, odd: odd.as_ref().map(ToString::to_string) }
            }
            Effect::RoundOver { round, score, points } => EffectView::RoundOver {
                round: *round,
                score: ScoreView { south: score.south, north: score.north },
                points: points.map(PointsView::of),
            },
            Effect::Refill { side, pits, seeds } => EffectView::Refill {
                side: (*side).into(),
                pits: pits.iter().map(ToString::to_string).collect(),
                seeds: *seeds,
            },
            Effect::GameOver { reason } => EffectView::GameOver { reason: reason.to_string() },
            Effect::Place { pit, seeds } => EffectView::Place { pit: pit.to_string(), seeds: *seeds },
            Effect::Tax { pit, seeds } => EffectView::Tax { pit: pit.to_string(), seeds: *seeds },
            Effect::Resume { pit, seeds } => EffectView::Resume { pit: pit.to_string(), seeds: *seeds },
            Effect::Take { from, seeds } => {
                EffectView::Take { from: from.iter().map(ToString::to_string).collect(), seeds: *seeds }
            }
            Effect::HouseLost { side } => EffectView::HouseLost { side: (*side).into() },
            Effect::Reserve { side, seeds } => EffectView::Reserve { side: (*side).into(), seeds: *seeds },
            Effect::Unblock { pit } => EffectView::Unblock { pit: pit.to_string() },
            Effect::Block { pit } => EffectView::Block { pit: pit.to_string() },
            Effect::Own(effect) => return Self::Own(OwnEffectView::of(effect)),
        })
    }
}

impl OwnEffectView {
    fn of(&OwnEffect { kind, pit, side, seeds }: &OwnEffect) -> Self {
        Self { kind, pit: pit.map(|pit| pit.to_string()), side: side.map(Into::into), seeds }
    }
}

/// A page of a game's history.
// Only the schema: `state::history` writes the JSON of a cached game.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the answer")]
pub struct MovePage {
    items: Vec<MoveView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
