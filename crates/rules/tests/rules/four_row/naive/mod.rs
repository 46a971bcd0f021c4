//! A second, naive form of the rules, written from their text alone. Pits are letters in a map, words and positions are
//! texts, and every question is answered by trying. It shares no code with the crate.

mod bao;
mod omweso;

use std::collections::BTreeMap;

const SOUTH: &str = "ABCDEFGHIJKLMNOP";
const NORTH: &str = "abcdefghijklmnop";

/// The front rows and back rows as they lie on the table, column by column from South's left.
const COLUMNS: [&str; 8] = ["ihAP", "jgBO", "kfCN", "leDM", "mdEL", "ncFK", "obGJ", "paHI"];

#[derive(Clone)]
pub struct Naive {
    options: BTreeMap<&'static str, String>,
    seeds: BTreeMap<char, i32>,
    reserve: BTreeMap<char, i32>,
    /// The sides that own a house.
    houses: String,
    blocked: Option<char>,
    turn: char,
    arranging: Option<char>,
    /// The flag `e` without the letter `e`.
    choice: String,
    /// The letters out of `c`, `x`, `y` that are up.
    turn_marks: String,
    /// The letters out of `K`, `k` that are up.
    captured: String,
    /// The letters out of `F`, `f` that are up.
    first_turns: String,
    /// The letter after `o`.
    over: Option<char>,
    pub reason: &'static str,
    plies: i64,
}

impl Naive {
    pub fn read(options: BTreeMap<&'static str, String>, text: &str) -> Self {
        let fields: Vec<&str> = text.split(' ').collect();
        let mut game = Self {
            options,
            seeds: BTreeMap::new(),
            reserve: BTreeMap::new(),
            houses: String::new(),
            blocked: None,
            turn: fields[2].chars().next().unwrap(),
            arranging: None,
            choice: String::new(),
            turn_marks: String::new(),
            captured: String::new(),
            first_turns: String::new(),
            over: None,
            reason: "",
            plies: fields[4].parse().unwrap(),
        };
        for (row, letters) in fields[0].split('/').zip([SOUTH, NORTH]) {
            for (count, letter) in row.split(',').zip(letters.chars()) {
                let digits = count.trim_end_matches(['n', 't']);
                game.seeds.insert(letter, digits.parse().unwrap());
                if count.contains('n') {
                    game.houses.push(if letter == 'E' { 'S' } else { 'N' });
                }
                if count.contains('t') {
                    game.blocked = Some(letter);
                }
            }
        }
        for (count, side) in fields[1].split('-').zip(['S', 'N']) {
            game.reserve.insert(side, count.parse().unwrap());
        }
        match fields[3] {
            "F" | "f" | "Ff" => game.first_turns = fields[3].into(),
            flags => game.read_flags(flags),
        }
        game
    }

    fn read_flags(&mut self, flags: &str) {
        if let Some(winner) = flags.strip_prefix('o') {
            self.over = winner.chars().next();
            return;
        }
        let marks = flags.find(['c', 'x', 'y', 'K', 'k']).filter(|_| !flags.starts_with('e'));
        let mut head = &flags[..marks.unwrap_or(flags.len())];
        let mut tail = &flags[head.len()..];
        if let Some(choice) = flags.strip_prefix('e') {
            // The pit may have the letter of a mark, so the first letter is left out.
            let end = choice[1..].find(['c', 'x', 'y', 'K', 'k']).map_or(choice.len(), |at| at + 1);
            self.choice = choice[..end].into();
            (head, tail) = ("", &choice[end..]);
        } else if flags.starts_with('s') {
            (head, tail) = (&flags[..2], &flags[2..]);
        }
        self.arranging = head.strip_prefix('s').and_then(|pit| pit.chars().next());
        self.turn_marks = tail.chars().filter(|mark| "cxy".contains(*mark)).collect();
        self.captured = tail.chars().filter(|mark| "Kk".contains(*mark)).collect();
    }

    pub fn text(&self) -> String {
        let row = |letters: &str| {
            let pits: Vec<String> = letters.chars().map(|letter| self.pit_text(letter)).collect();
            pits.join(",")
        };
        let mut flags = String::new();
        if let Some(winner) = self.over {
            flags = format!("o{winner}");
        } else {
            if let Some(pit) = self.arranging {
                flags = format!("s{pit}");
            }
            if !self.choice.is_empty() {
                flags = format!("e{}", self.choice);
            }
            for (mark, of) in [('c', &self.turn_marks), ('x', &self.turn_marks), ('y', &self.turn_marks)] {
                if of.contains(mark) {
                    flags.push(mark);
                }
            }
            for mark in ['K', 'k'] {
                if self.captured.contains(mark) {
                    flags.push(mark);
                }
            }
            for mark in ['F', 'f'] {
                if self.first_turns.contains(mark) {
                    flags.push(mark);
                }
            }
            if flags.is_empty() {
                flags.push('-');
            }
        }
        let (south, north) = (self.reserve[&'S'], self.reserve[&'N']);
        format!("{}/{} {south}-{north} {} {flags} {} 1S", row(SOUTH), row(NORTH), self.turn, self.plies)
    }

    fn pit_text(&self, letter: char) -> String {
        let mut text = self.seeds[&letter].to_string();
        if letter == 'E' && self.owns('S') || letter == 'e' && self.owns('N') {
            text.push('n');
        }
        if self.blocked == Some(letter) && self.over.is_none() {
            text.push('t');
        }
        text
    }

    pub fn legal(&self) -> Vec<String> {
        self.words().into_iter().filter(|word| self.refusal(word).is_none()).collect()
    }

    /// Every word with a letter of the side to move, and those without one, in the order of lists.
    fn words(&self) -> Vec<String> {
        let mut words = vec![];
        for letter in ring(self.turn).chars() {
            words.push(letter.to_string());
            for direction in ["U", "V"] {
                words.push(format!("{letter}{}", self.cased(direction)));
            }
            if self.arranging.is_some() {
                words.extend((0..=40).map(|count| format!("{letter}{count}")));
            }
        }
        words.push("pass".to_owned());
        words
    }

    /// Why a word is refused, by R32.
    pub fn refusal(&self, word: &str) -> Option<&'static str> {
        let is_bao = self.options.contains_key("takasia");
        if self.over.is_some() {
            return Some("game_over");
        }
        match word {
            "pass" => return if is_bao && !self.choice.is_empty() { None } else { Some("no_pass") },
            "swap" => return Some("no_swap"),
            "agree" => return Some("no_agree"),
            _ => {}
        }
        let pit = word.chars().next().unwrap();
        if !ring(self.turn).contains(pit) {
            return Some("not_your_pit");
        }
        if is_bao { self.bao_refusal(pit, &word[1..]) } else { self.omweso_refusal(pit, &word[1..]) }
    }

    pub fn play(&mut self, word: &str) {
        self.plies += 1;
        if self.options.contains_key("takasia") { self.bao_play(word) } else { self.omweso_play(word) }
    }

    fn is(&self, option: &str, value: &str) -> bool {
        self.options[option] == value
    }

    fn number(&self, option: &str) -> i64 {
        self.options[option].parse().unwrap()
    }

    fn cased(&self, text: &str) -> String {
        if self.turn == 'S' { text.to_uppercase() } else { text.to_lowercase() }
    }

    fn other(&self) -> char {
        if self.turn == 'S' { 'N' } else { 'S' }
    }

    fn owns(&self, side: char) -> bool {
        self.houses.contains(side)
    }
}

fn ring(side: char) -> &'static str {
    if side == 'S' { SOUTH } else { NORTH }
}

fn is_front(pit: char) -> bool {
    "ABCDEFGH".contains(pit.to_ascii_uppercase())
}

/// The front pit and the back pit of the other side in the column of a front pit.
fn across(pit: char) -> (char, char) {
    let column: Vec<char> = COLUMNS.iter().find(|column| column.contains(pit)).unwrap().chars().collect();
    if pit == column[2] { (column[1], column[0]) } else { (column[2], column[3]) }
}

fn next(pit: char, upward: bool) -> char {
    let letters = ring(if pit.is_ascii_uppercase() { 'S' } else { 'N' });
    let at = letters.find(pit).unwrap();
    let next = if upward { (at + 1) % 16 } else { (at + 15) % 16 };
    letters[next..].chars().next().unwrap()
}
