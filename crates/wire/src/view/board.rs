//! Wire types of boards and scores, and the notation of legal moves.

use mancala_rules::{AnyPosition, BySide, House, Pending, Pit, Side};
use serde::Serialize;
use utoipa::ToSchema;

/// The seeds on the board.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Board)]
pub struct BoardView {
    south: RowView,
    north: RowView,
    /// For a match: the current round, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    round: Option<u32>,
    /// For a match that points decide: the points of each side so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    points: Option<PointsView>,
    /// Until the first sowing of a lockstep opening, in which both sides choose a pit: that of South, or null while South chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "C")]
    chosen: Option<PitOrNull>,
    /// With four rows, while the side to move has a choice inside its turn: where the sowing goes on. It stays where a game ends
    /// inside the turn; the score then counts the hand for that side.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pending: Option<PendingView>,
}

/// The points of each side in a match: rounds won, or pits that the other side could not fill.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Points)]
pub struct PointsView {
    #[schema(example = 2)]
    south: u16,
    #[schema(example = 1)]
    north: u16,
}

impl PointsView {
    pub const fn of(points: BySide<u16>) -> Self {
        Self { south: points.south, north: points.north }
    }
}

/// A choice inside a turn: a lap has ended in a pit, whose seeds or whose catch may be sown on.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Pending)]
struct PendingView {
    /// The pit from which the sowing goes on.
    #[schema(example = "H")]
    pit: String,
    /// The captured seeds in the hand, which are in no pit and no reserve; 0 if the seeds lie in the pit.
    #[schema(example = 2)]
    seeds: u16,
}

impl PendingView {
    fn of(pending: Pending) -> Self {
        Self { pit: pending.pit.to_string(), seeds: pending.hand }
    }
}

/// The seeds of one side.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Row)]
struct RowView {
    /// In sowing order: the first is pit A. With two rows from that side's own left to right. With four rows the ring of the side: A
    /// to H are its front row, and I to P go back behind it; the variant says at which end A lies.
    #[schema(example = json!([4, 4, 0, 5, 5, 5]))]
    pits: Vec<u16>,
    /// With four rows always 0.
    #[schema(example = 1)]
    store: u16,
    /// With four rows: the seeds of the side that are off the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 22)]
    reserve: Option<u16>,
    /// In a game with houses: whether the side still owns its house, pit E.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    house: Option<bool>,
    /// In a game in which pits can be blocked: the pit of this side that is, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "C")]
    blocked: Option<PitOrNull>,
    /// In a game in which a side can win a pit of the other side: the pit that this side has won, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "c")]
    tuzdyk: Option<PitOrNull>,
    /// For a match that burns pits: the pits that could not be filled and are out of this round.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!([]))]
    burnt: Option<Vec<String>>,
}

/// A pit, or null. A type of its own, because the field may be absent as well.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
struct PitOrNull(Option<String>);

impl PitOrNull {
    fn of(pit: Option<Pit>) -> Self {
        Self(pit.map(|pit| pit.to_string()))
    }
}

/// The seeds in the stores at the end; with four rows those in pits and reserve, which decide nothing.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Score)]
pub struct ScoreView {
    #[schema(example = 25)]
    pub south: u16,
    #[schema(example = 23)]
    pub north: u16,
}

impl BoardView {
    pub fn of(position: &AnyPosition) -> Self {
        let board = position.board();
        let round = position.round();
        let row = |side| {
            let pits = board.pits(side);
            let burnt = || {
                let pits =
                    (0..pits.len()).filter_map(|index| u8::try_from(index).ok()).map(|index| Pit { side, index });
                pits.filter(|pit| position.is_burnt(*pit)).map(|pit| pit.to_string()).collect()
            };
            let blocked = || PitOrNull::of(position.blocked().filter(|pit| pit.side == side));
            let tuzdyk = || PitOrNull::of(position.tuzdyk(side));
            RowView {
                pits: pits.to_vec(),
                store: board.store(side),
                reserve: board.reserve(side),
                house: position.house(side).map(House::is_owned),
                blocked: position.can_block().then(blocked),
                tuzdyk: position.has_tuzdyks().then(tuzdyk),
                burnt: position.can_burn().then(burnt),
            }
        };
        Self {
            south: row(Side::South),
            north: row(Side::North),
            round: round.map(|round| round.number),
            points: round.and_then(|round| round.points).map(PointsView::of),
            chosen: position.lockstep().map(|lockstep| PitOrNull::of(lockstep.chosen)),
            pending: position.pending().map(PendingView::of),
        }
    }
}

/// The legal moves of a position, in text notation.
pub fn legal_moves(position: &AnyPosition) -> Vec<String> {
    position.legal_moves().iter().map(ToString::to_string).collect()
}
