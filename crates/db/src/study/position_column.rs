//! Positions as columns hold them.

use mancala_domain::PositionKey;

/// A key as its column holds it: PostgreSQL's integers are signed.
pub(super) const fn position_column(position: PositionKey) -> i64 {
    position.0.cast_signed()
}
