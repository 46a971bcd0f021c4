//! Which words a language has, and how values come into them. Knows no language.

/// The words of a language. In a text `{0}` is the first value, `{1}` the second.
pub(crate) struct Words {
    /// The name of a side.
    pub(crate) south: &'static str,
    /// The name of the other side.
    pub(crate) north: &'static str,
    /// The mark of a player who is a guest.
    pub(crate) guest: &'static str,
    /// The mark of a player who is known from an imported game only.
    pub(crate) imported: &'static str,
    /// The mark of the second person at one device.
    pub(crate) hotseat: &'static str,
    /// The game and its players.
    pub(crate) players: &'static str,
    /// A title at the opening.
    pub(crate) title_at_opening: &'static str,
    /// A title after a ply.
    pub(crate) title_after_ply: &'static str,
    /// Where a row lies.
    pub(crate) at_bottom: &'static str,
    /// Where the other row lies.
    pub(crate) at_top: &'static str,
    /// A pit that is out of the round.
    pub(crate) burnt: &'static str,
    /// A row: its label, where it lies, its pits, its store.
    pub(crate) row: &'static str,
    /// Two rows of a side: its label, where they lie, its pits, its reserve.
    pub(crate) rows: &'static str,
    /// A pit that is an owned house with enough seeds to work.
    pub(crate) house: &'static str,
    /// A pit that is an owned house with too few seeds to work.
    pub(crate) idle_house: &'static str,
    /// A pit that is blocked.
    pub(crate) blocked: &'static str,
    /// A pit that the other side has won.
    pub(crate) tuzdyk: &'static str,
    /// A choice inside a turn, from the seeds of a pit.
    pub(crate) goes_on: &'static str,
    /// A choice inside a turn, with seeds in the hand.
    pub(crate) goes_on_with: &'static str,
    /// A pit that a player has chosen and not yet sown.
    pub(crate) has_chosen: &'static str,
    /// The round of a match, as a sentence.
    pub(crate) round: &'static str,
    /// The round of a match in the caption.
    pub(crate) in_round: &'static str,
    /// The opening in the caption.
    pub(crate) at_opening: &'static str,
    /// A ply, in the caption and in lists.
    pub(crate) at_ply: &'static str,
    /// The last move in the caption.
    pub(crate) with_move: &'static str,
    /// Beside the name of the player who is to move.
    pub(crate) to_move: &'static str,
    /// Beside the name of the winner.
    pub(crate) won: &'static str,
    /// Beside the names after a draw.
    pub(crate) draw: &'static str,
    /// Beside a seat that is free.
    pub(crate) free_seat: &'static str,
    /// Beside the names of a game without a result.
    pub(crate) aborted: &'static str,
    /// The last move and its player.
    pub(crate) last_move: &'static str,
    /// A single captured seed.
    pub(crate) captured_one: &'static str,
    /// Captured seeds.
    pub(crate) captured: &'static str,
    /// The action of one player in a move of both.
    pub(crate) done_by: &'static str,
    /// The player moves again.
    pub(crate) another_turn: &'static str,
    /// The score of a round that is over.
    pub(crate) round_over: &'static str,
    /// The status of a game in play.
    pub(crate) is_to_move: &'static str,
    /// The status of a game that was won.
    pub(crate) has_won: &'static str,
    /// The status of a drawn game.
    pub(crate) is_drawn: &'static str,
    /// The status of an open game.
    pub(crate) is_open: &'static str,
    /// The status of a game without a result.
    pub(crate) is_aborted: &'static str,
    /// The title of a graph of stores.
    pub(crate) leads: &'static str,
    /// The title of a graph of values.
    pub(crate) values: &'static str,
    /// Which side a part of a graph of stores is good for.
    pub(crate) ahead: &'static str,
    /// Which side a part of a graph of values is good for.
    pub(crate) better: &'static str,
    /// The unit along the graph, short.
    pub(crate) ply: &'static str,
    /// The key of a mark.
    pub(crate) mistake: &'static str,
    /// The key of the other mark.
    pub(crate) blunder: &'static str,
    /// The stores in the end.
    pub(crate) has_seeds: &'static str,
    /// The largest lead of a player.
    pub(crate) was_ahead: &'static str,
    /// A player without a lead.
    pub(crate) was_never_ahead: &'static str,
    /// The explanation of a value.
    pub(crate) value_means: &'static str,
    /// The largest value for a player.
    pub(crate) stood_better: &'static str,
    /// A player who never stood better.
    pub(crate) never_stood_better: &'static str,
    /// Later plies without a value.
    pub(crate) is_not_analysed: &'static str,
    /// How the marks of both players differ.
    pub(crate) marks_mean: &'static str,
    /// A single mistake of a player.
    pub(crate) made_a_mistake: &'static str,
    /// Mistakes of a player.
    pub(crate) made_mistakes: &'static str,
    /// A single blunder of a player.
    pub(crate) made_a_blunder: &'static str,
    /// Blunders of a player.
    pub(crate) made_blunders: &'static str,
    /// After a list that is cut.
    pub(crate) and_more: &'static str,
    /// The sign before a fraction.
    pub(crate) decimal: &'static str,
    /// The reasons for the end of a game, by the words of the API, in parentheses.
    pub(super) reasons: [(&'static str, &'static str); 15],
}

impl Words {
    /// The word for the reason why a game ended. A reason without one is named by the word of the API.
    pub(crate) fn reason(&self, word: &str) -> String {
        let known = self.reasons.iter().find(|(known, _)| *known == word);
        known.map_or_else(|| word.replace('_', " "), |(_, text)| (*text).to_owned())
    }
}

/// A text with values in its places, `{0}` and so on. A value is never searched for places.
pub(crate) fn fill(text: &str, values: &[&str]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut parts = text.split('{');
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (place, rest) = part.split_once('}').unwrap_or((part, ""));
        let value = place.parse::<usize>().ok().and_then(|place| values.get(place));
        filled.push_str(value.copied().unwrap_or_default());
        filled.push_str(rest);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_in_once() {
        assert_eq!(fill("{1} of {0}.", &["{1}", "a"]), "a of {1}.");
        assert_eq!(fill("none", &["a"]), "none");
        assert_eq!(fill("{7}|{x}|{", &["a"]), "||");
    }
}
