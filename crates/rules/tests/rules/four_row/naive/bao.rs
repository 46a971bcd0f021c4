//! Bao, naively: R24 to R27 and R31.

use super::{Naive, across, is_front, next, ring};

/// How a sowing has come to rest.
#[derive(PartialEq)]
enum Rest {
    Over,
    AtHouse(bool),
    Won,
    Endless,
}

/// What is known of a turn while it is played.
#[expect(clippy::struct_excessive_bools, reason = "a naive form says yes or no to each question")]
struct Turn {
    is_namua: bool,
    is_capturing: bool,
    upward: bool,
    pit: char,
    hand: i32,
    sown: i64,
    lap: u32,
    from_working_house: bool,
}

impl Naive {
    fn works(&self, side: char) -> bool {
        self.owns(side) && self.seeds[&house(side)] >= 6
    }

    fn is_namua(&self) -> bool {
        self.reserve[&self.turn] > 0
    }

    fn front_filled(&self, side: char) -> Vec<char> {
        ring(side)[..8].chars().filter(|pit| self.seeds[pit] > 0).collect()
    }

    /// The front pit of the other side that a word captures first, found by sowing the first lap.
    fn captures(&self, pit: char, upward: bool) -> Option<char> {
        if self.is_namua() {
            let facing = if is_front(pit) { across(pit).0 } else { return None };
            return (self.seeds[&pit] > 0 && self.seeds[&facing] > 0).then_some(facing);
        }
        let mut seeds = self.seeds.clone();
        let hand = seeds.insert(pit, 0).unwrap();
        if !(2..=15).contains(&hand) {
            return None;
        }
        let mut last = pit;
        for _ in 0..hand {
            last = next(last, upward);
            *seeds.get_mut(&last).unwrap() += 1;
        }
        if !is_front(last) || seeds[&last] < 2 {
            return None;
        }
        let facing = across(last).0;
        (seeds[&facing] > 0).then_some(facing)
    }

    /// What all words of the side to move capture first; a blocked pit has no words.
    fn all_captures(&self) -> Vec<char> {
        let pits = ring(self.turn).chars().filter(|pit| self.blocked != Some(*pit));
        pits.flat_map(|pit| [self.captures(pit, true), self.captures(pit, false)]).flatten().collect()
    }

    pub(super) fn bao_refusal(&self, pit: char, rest: &str) -> Option<&'static str> {
        if rest != self.cased("U") && rest != self.cased("V") {
            return Some("wrong_form");
        }
        let upward = rest == self.cased("U");
        if !self.choice.is_empty() {
            if self.choice != format!("{pit}{rest}") {
                return Some("must_continue");
            }
        } else if let Some(reason) = self.refusal_at_start(pit, upward) {
            return Some(reason);
        }
        let mut trial = self.clone();
        let ends = self.is("endless", "illegal") && trial.bao_sow(&format!("{pit}{rest}")).0 == Rest::Endless;
        ends.then_some("endless")
    }

    fn refusal_at_start(&self, pit: char, upward: bool) -> Option<&'static str> {
        let count = self.seeds[&pit];
        let is_kimbi = "ABGH".contains(pit.to_ascii_uppercase());
        if count == 0 {
            return Some("empty_pit");
        }
        if self.is_namua() && !is_front(pit) {
            return Some("front_only");
        }
        if !self.is_namua() && count == 1 {
            return Some("single_seed");
        }
        let captured = self.captures(pit, upward);
        let all = self.all_captures();
        if captured.is_none() && !all.is_empty() {
            return Some("must_capture");
        }
        if captured.is_some() {
            if self.is_namua() && is_kimbi && upward != "AB".contains(pit.to_ascii_uppercase()) {
                return Some("wrong_direction");
            }
            if self.is("takasia", "take")
                && all.iter().any(|one| self.blocked == Some(*one))
                && captured != self.blocked
            {
                return Some("must_take");
            }
            return if self.blocked == Some(pit) { Some("blocked_pit") } else { None };
        }
        self.refusal_of_takata(pit, upward)
    }

    fn refusal_of_takata(&self, pit: char, upward: bool) -> Option<&'static str> {
        let side = self.turn;
        let filled = self.front_filled(side);
        let count = self.seeds[&pit];
        if self.is_namua() {
            if pit == house(side) && self.works(side) && filled.iter().any(|other| *other != pit) {
                return Some("house_kept");
            }
            let is_strict = if self.is("singletons", "no_house") { !self.works(side) } else { !self.owns(side) };
            if count == 1 && is_strict && filled.iter().any(|other| self.seeds[other] > 1) {
                return Some("single_seed");
            }
        } else {
            if self.blocked == Some(pit) {
                return Some("blocked_pit");
            }
            let is_open = |other: &char| self.seeds[other] >= 2 && self.blocked != Some(*other);
            if !is_front(pit) && filled.iter().any(is_open) {
                return Some("front_first");
            }
        }
        let leaves_row = pit.eq_ignore_ascii_case(&'A') && !upward || pit.eq_ignore_ascii_case(&'H') && upward;
        (filled == [pit] && leaves_row).then_some("empties_front")
    }

    pub(super) fn bao_play(&mut self, word: &str) {
        let (rest, hand, blocks) = self.bao_sow(word);
        let mover = self.turn;
        match rest {
            Rest::Won => {
                *self.reserve.get_mut(&mover).unwrap() += hand;
                self.end(Some(mover), "front_empty");
            }
            Rest::Endless => {
                let winner = if self.is("endless", "lose") { Some(self.other()) } else { None };
                self.end(winner, "endless_move");
            }
            Rest::AtHouse(upward) => {
                self.choice = format!("{}{}", house(mover), self.cased(if upward { "U" } else { "V" }));
                if self.plies >= self.number("max_plies") {
                    self.end(None, "ply_limit");
                }
            }
            Rest::Over => {
                self.takasia(blocks);
                self.turn = self.other();
                if self.legal().is_empty() {
                    let winner = self.other();
                    self.end(Some(winner), "no_move");
                } else if self.plies >= self.number("max_plies") {
                    self.end(None, "ply_limit");
                }
            }
        }
    }

    pub(super) fn end(&mut self, winner: Option<char>, reason: &'static str) {
        self.over = Some(winner.unwrap_or('d'));
        self.reason = reason;
        self.choice.clear();
    }

    /// Sows until the seeds lie: how they have come to rest, the hand, and whether it was a takata of the second stage.
    fn bao_sow(&mut self, word: &str) -> (Rest, i32, bool) {
        let going_on = !std::mem::take(&mut self.choice).is_empty();
        if word == "pass" {
            return (Rest::Over, 0, false);
        }
        let pit = word.chars().next().unwrap();
        let upward = word[1..] == self.cased("U");
        let mut turn = Turn {
            is_namua: self.is_namua(),
            is_capturing: going_on || self.captures(pit, upward).is_some(),
            upward,
            pit,
            hand: 0,
            sown: 0,
            lap: 1,
            from_working_house: pit == house(self.turn) && self.works(self.turn),
        };
        if turn.is_namua && !going_on {
            *self.reserve.get_mut(&self.turn.clone()).unwrap() -= 1;
            *self.seeds.get_mut(&pit).unwrap() += 1;
            if turn.is_capturing {
                self.harvest(&mut turn);
                if self.front_filled(self.other()).is_empty() {
                    return (Rest::Won, turn.hand, false);
                }
            } else if turn.from_working_house {
                *self.seeds.get_mut(&pit).unwrap() -= 2;
                turn.hand = 2;
            } else {
                self.take_up(&mut turn);
            }
        } else {
            self.take_up(&mut turn);
        }
        loop {
            while turn.hand > 0 {
                turn.hand -= 1;
                turn.sown += 1;
                turn.pit = next(turn.pit, turn.upward);
                *self.seeds.get_mut(&turn.pit).unwrap() += 1;
            }
            if let Some(rest) = self.after_lap(&mut turn) {
                return (rest, turn.hand, !turn.is_namua && !turn.is_capturing);
            }
            turn.lap += 1;
        }
    }

    fn after_lap(&mut self, turn: &mut Turn) -> Option<Rest> {
        let pit = turn.pit;
        if self.seeds[&pit] == 1 {
            return Some(Rest::Over);
        }
        if turn.is_capturing && is_front(pit) && self.seeds[&across(pit).0] > 0 {
            self.harvest(turn);
            turn.sown = 0;
            return self.front_filled(self.other()).is_empty().then_some(Rest::Won);
        }
        if turn.is_namua && pit == house(self.turn) && self.works(self.turn) {
            return Some(if turn.is_capturing { Rest::AtHouse(turn.upward) } else { Rest::Over });
        }
        if self.blocked == Some(pit) && !turn.is_capturing {
            let goes_on = self.is("takasia_house_lap", "true") && turn.lap == 1 && turn.from_working_house;
            if !goes_on {
                return Some(Rest::Over);
            }
        }
        if turn.sown >= 16 * self.number("circuits") {
            return Some(Rest::Endless);
        }
        self.take_up(turn);
        None
    }

    fn take_up(&mut self, turn: &mut Turn) {
        turn.hand = self.seeds.insert(turn.pit, 0).unwrap();
        if turn.pit == house(self.turn) {
            let mover = self.turn;
            self.houses.retain(|side| side != mover);
        }
    }

    /// Captures across from where the turn is, and goes to the head from which the catch is sown.
    fn harvest(&mut self, turn: &mut Turn) {
        let facing = across(turn.pit).0;
        turn.hand = self.seeds.insert(facing, 0).unwrap();
        let (mover, other) = (self.turn, self.other());
        if facing == house(other) {
            self.houses.retain(|side| side != other);
        }
        if !turn.is_namua && self.is("harvest_ends_house", "true") {
            self.houses.retain(|side| side != mover);
        }
        match turn.pit.to_ascii_uppercase() {
            'A' | 'B' => turn.upward = true,
            'G' | 'H' => turn.upward = false,
            _ => {}
        }
        // The first seed falls in the head, so the pit before it comes first.
        let before = if turn.upward { "P" } else { "I" };
        turn.pit = self.cased(before).chars().next().unwrap();
    }

    fn takasia(&mut self, after_takata: bool) {
        let (mover, other) = (self.turn, self.other());
        let before = self.blocked.take();
        let is_late = self.reserve.values().all(|seeds| *seeds == 0);
        let mut new = None;
        if after_takata && is_late && !self.is("takasia", "off") {
            let mut reply = self.clone();
            reply.turn = other;
            let mut threatened = self.all_captures();
            threatened.dedup();
            threatened.sort_unstable();
            threatened.dedup();
            if let ([pit], true) = (&threatened[..], reply.all_captures().is_empty()) {
                let filled = self.front_filled(other);
                let fuller: Vec<char> = filled.iter().copied().filter(|pit| self.seeds[pit] >= 2).collect();
                let is_free = *pit == house(other) && self.works(other)
                    || filled == [*pit]
                    || fuller == [*pit]
                    || self.seeds[pit] == 1 && self.is("takasia_single", "false");
                new = if is_free { None } else { Some(*pit) };
            }
        }
        let of_mover = before.filter(|pit| ring(mover).contains(*pit) && self.seeds[pit] > 0);
        self.blocked = new.or(if self.is("takasia", "take") { of_mover } else { None });
    }
}

fn house(side: char) -> char {
    if side == 'S' { 'E' } else { 'e' }
}
