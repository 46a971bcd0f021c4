//! Ids of games and players, and the slots of games.

use uuid::Uuid;

/// A game's id, a UUIDv7: ids order games by their time of creation. Its last bits are its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(pub Uuid);

/// A player's id, a UUIDv7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(pub Uuid);

/// A share of all games, out of 1,024. The games that a player creates have the player's slot, and what follows a game has that
/// game's. So the games could be split over several databases, and an id alone would say where its game is.
///
/// Games from before slots, and games that an operator imported, have one by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u16);

impl Slot {
    /// How many of the last bits of an id name the slot. A UUIDv7 of this process counts in the bits before its last
    /// 32, so the last ones are random. Ids of one millisecond stay in the order in which they were made.
    pub const BITS: u32 = 10;

    const MASK: u128 = (1 << Self::BITS) - 1;

    const fn of(id: Uuid) -> Self {
        Self((id.as_u128() & Self::MASK) as u16)
    }
}

impl GameId {
    /// The game's slot.
    pub const fn slot(self) -> Slot {
        Slot::of(self.0)
    }

    /// The same id, in another slot.
    #[must_use]
    pub const fn in_slot(self, Slot(slot): Slot) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() & !Slot::MASK | slot as u128))
    }
}

impl PlayerId {
    /// The slot of the games that the player creates.
    pub const fn slot(self) -> Slot {
        Slot::of(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_in_a_slot_differs_in_its_last_ten_bits() {
        let player = PlayerId(Uuid::from_u128(0xabcd_ef12));
        let id = GameId(Uuid::from_u128(u128::MAX));
        let moved = id.in_slot(player.slot());
        assert_eq!((moved.slot(), moved.0.as_u128() & 0x3ff), (player.slot(), 0x312));
        assert_eq!(moved.0.as_u128() >> 10, id.0.as_u128() >> 10);
        assert_eq!(moved.in_slot(id.slot()), id);
        assert_eq!(GameId(Uuid::nil()).in_slot(id.slot()).0.as_u128(), 0x3ff);
    }
}
