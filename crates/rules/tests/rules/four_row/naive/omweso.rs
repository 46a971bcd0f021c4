//! Omweso, naively: R28 to R31.

use super::{Naive, across, is_front, next};

/// A sowing that is being played.
struct Lap {
    begin: char,
    upward: bool,
    hand: i32,
    sown: i64,
}

impl Naive {
    /// Sows a lap and returns where its last seed has fallen.
    fn sow_lap(&mut self, lap: &mut Lap) -> char {
        let mut pit = lap.begin;
        while lap.hand > 0 {
            lap.hand -= 1;
            lap.sown += 1;
            pit = next(pit, lap.upward);
            *self.seeds.get_mut(&pit).unwrap() += 1;
        }
        pit
    }

    fn takes(&self, last: char) -> bool {
        let own_first_turn = if self.turn == 'S' { 'F' } else { 'f' };
        if self.first_turns.contains(own_first_turn) || !is_front(last) || self.seeds[&last] < 2 {
            return false;
        }
        let (front, back) = across(last);
        self.seeds[&front] > 0 && self.seeds[&back] > 0
    }

    /// Whether seeds captured, or those of the pit, would capture if they were sown downward from a pit.
    fn would_take_downward(&self, begin: char, hand: Option<i32>) -> bool {
        let mut trial = self.clone();
        let hand = hand.unwrap_or_else(|| trial.seeds.insert(begin, 0).unwrap());
        let last = trial.sow_lap(&mut Lap { begin, upward: false, hand, sown: 0 });
        trial.takes(last)
    }

    pub(super) fn omweso_refusal(&self, pit: char, rest: &str) -> Option<&'static str> {
        let backward = rest == self.cased("V");
        if let Some(next) = self.arranging {
            let Ok(count) = rest.parse::<i32>() else { return Some("wrong_form") };
            if pit != next {
                return Some("out_of_order");
            }
            return (count > self.reserve[&self.turn]).then_some("too_many");
        }
        if !rest.is_empty() && !backward {
            return Some("wrong_form");
        }
        if !self.choice.is_empty() {
            return if self.choice.starts_with(pit) { None } else { Some("must_continue") };
        }
        match self.seeds[&pit] {
            0 => return Some("empty_pit"),
            1 => return Some("single_seed"),
            _ => {}
        }
        if backward && (self.is("reverse", "none") || !is_reverse_pit(pit)) {
            return Some("no_reverse");
        }
        (backward && !self.would_take_downward(pit, None)).then_some("reverse_no_capture")
    }

    pub(super) fn omweso_play(&mut self, word: &str) {
        let pit = word.chars().next().unwrap();
        let mover = self.turn;
        if self.arranging.is_some() {
            return self.put_down(pit, word[1..].parse().unwrap());
        }
        let choice = std::mem::take(&mut self.choice);
        if choice.is_empty() {
            self.turn_marks.clear();
        }
        let in_hand: Option<i32> = choice.get(1..).and_then(|number| number.parse().ok());
        let hand = in_hand.unwrap_or_else(|| self.seeds.insert(pit, 0).unwrap());
        let mut lap = Lap { begin: pit, upward: word.len() == 1, hand, sown: 0 };
        loop {
            let last = self.sow_lap(&mut lap);
            if self.seeds[&last] == 1 {
                return self.omweso_turn_over();
            }
            if self.takes(last) {
                let (front, back) = across(last);
                let catch = self.seeds.insert(front, 0).unwrap() + self.seeds.insert(back, 0).unwrap();
                if let Some(reason) = self.wins_by_taking(last) {
                    *self.reserve.get_mut(&mover).unwrap() += catch;
                    return self.omweso_end(Some(mover), reason);
                }
                let may =
                    self.is("reverse", "full") && !lap.upward || self.is("reverse", "any") && is_reverse_pit(lap.begin);
                if may && self.would_take_downward(lap.begin, Some(catch)) {
                    return self.ask(format!("{}{catch}", lap.begin), catch);
                }
                lap = Lap { begin: lap.begin, upward: true, hand: catch, sown: 0 };
                continue;
            }
            if lap.sown >= 16 * self.number("circuits") {
                let winner = if self.is("endless", "lose") { Some(self.other()) } else { None };
                return self.omweso_end(winner, "endless_move");
            }
            let may = self.is("reverse", "full") || self.is("reverse", "any");
            if may && is_reverse_pit(last) && self.would_take_downward(last, None) {
                return self.ask(last.to_string(), 0);
            }
            lap = Lap { begin: last, upward: true, hand: self.seeds.insert(last, 0).unwrap(), sown: lap.sown };
        }
    }

    fn put_down(&mut self, pit: char, count: i32) {
        let mover = self.turn;
        *self.seeds.get_mut(&pit).unwrap() += count;
        *self.reserve.get_mut(&mover).unwrap() -= count;
        if pit.eq_ignore_ascii_case(&'O') {
            let rest = self.reserve.insert(mover, 0).unwrap();
            *self.seeds.get_mut(&next(pit, true)).unwrap() += rest;
        }
        if self.reserve[&mover] > 0 {
            self.arranging = Some(next(pit, true));
        } else {
            self.arranging = (mover == 'S').then_some('a');
            self.turn = self.other();
            if mover == 'N' && self.is("first_turn_captures", "false") {
                self.first_turns = "Ff".into();
            }
        }
        if self.plies >= self.number("max_plies") {
            self.omweso_end(None, "ply_limit");
        }
    }

    /// R31: akakyala first, then two heads.
    fn wins_by_taking(&mut self, last: char) -> Option<&'static str> {
        let (own, foreign) = if self.turn == 'S' { ('K', 'k') } else { ('k', 'K') };
        if self.is("akakyala", "true") {
            let is_first_of_turn = !self.turn_marks.contains('c');
            if is_first_of_turn && self.captured.contains(own) && !self.captured.contains(foreign) {
                return Some("akakyala");
            }
            self.turn_marks.push('c');
            self.captured.push(own);
        }
        if self.is("two_heads", "true") {
            match last.to_ascii_uppercase() {
                'A' => self.turn_marks.push('x'),
                'H' => self.turn_marks.push('y'),
                _ => {}
            }
            if self.turn_marks.contains('x') && self.turn_marks.contains('y') {
                return Some("two_heads");
            }
        }
        None
    }

    fn ask(&mut self, choice: String, hand: i32) {
        self.choice = choice;
        if self.plies >= self.number("max_plies") {
            let mover = self.turn;
            *self.reserve.get_mut(&mover).unwrap() += hand;
            self.omweso_end(None, "ply_limit");
        }
    }

    fn omweso_turn_over(&mut self) {
        self.turn_marks.clear();
        let own_first_turn = if self.turn == 'S' { 'F' } else { 'f' };
        self.first_turns = self.first_turns.replace(own_first_turn, "");
        self.turn = self.other();
        if self.legal().is_empty() {
            let winner = self.other();
            self.omweso_end(Some(winner), "no_move");
        } else if self.plies >= self.number("max_plies") {
            self.omweso_end(None, "ply_limit");
        }
    }

    fn omweso_end(&mut self, winner: Option<char>, reason: &'static str) {
        self.end(winner, reason);
        self.arranging = None;
    }
}

fn is_reverse_pit(pit: char) -> bool {
    "GHIJ".contains(pit.to_ascii_uppercase())
}
