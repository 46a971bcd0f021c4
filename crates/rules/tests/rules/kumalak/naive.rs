//! A naive form of Toguz Kumalak and Bestemshe (R39 to R45), slow and plain: a circle of counts, and all positions as text.

use std::collections::BTreeMap;

/// A game with its whole past.
pub struct Naive {
    options: BTreeMap<String, String>,
    /// South's pits, then North's.
    seeds: Vec<u32>,
    /// Which pits are tuzdyks.
    won: Vec<bool>,
    stores: [u32; 2],
    turn: usize,
    over: bool,
    plies: u32,
    /// The end's reason; empty while the game runs.
    pub reason: String,
    /// The boards since a store changed, each with the side to move.
    past: Vec<String>,
}

impl Naive {
    /// Reads a position that is not over.
    pub fn read(options: BTreeMap<String, String>, text: &str) -> Self {
        let fields: Vec<&str> = text.split(' ').collect();
        let cells: Vec<&str> = fields[0].split(['/', ',']).collect();
        let stores: Vec<u32> = fields[1].split('-').map(|store| store.parse().unwrap()).collect();
        Self {
            options,
            seeds: cells.iter().map(|cell| cell.parse().unwrap_or(0)).collect(),
            won: cells.iter().map(|&cell| cell == "t").collect(),
            stores: [stores[0], stores[1]],
            turn: usize::from(fields[2] == "N"),
            over: fields[3] == "o",
            plies: fields[4].parse().unwrap(),
            reason: String::new(),
            past: vec![],
        }
    }

    pub fn text(&self) -> String {
        let flag = if self.over { 'o' } else { '-' };
        let [south, north] = self.stores;
        let side = ["S", "N"][self.turn];
        format!("{} {south}-{north} {side} {flag} {} 1S", self.rows(), self.plies)
    }

    /// The letters of the pits that may be sown.
    pub fn legal(&self) -> Vec<String> {
        let pits = self.row(self.turn).filter(|&pit| !self.over && self.seeds[pit] > 0);
        pits.map(|pit| self.letter(pit)).collect()
    }

    /// Plays a legal move.
    pub fn play(&mut self, word: &str) {
        self.past.push(self.key());
        let origin = (0..self.seeds.len()).find(|&pit| self.letter(pit) == word).unwrap();
        let before = self.stores;
        let hand = std::mem::take(&mut self.seeds[origin]);
        // A single seed moves on; of several, the first one stays.
        let mut at = if hand == 1 { self.after(origin) } else { origin };
        self.drop(at);
        for _ in 1..hand {
            at = self.after(at);
            self.drop(at);
        }
        if self.side(at) != self.turn && !self.won[at] {
            self.take(at);
        }
        self.plies += 1;
        if self.stores != before {
            self.past.clear();
        }
        self.end();
    }

    fn take(&mut self, pit: usize) {
        let seeds = self.seeds[pit];
        let even = seeds.is_multiple_of(2) && (seeds != 2 || self.option("capture_two") != "false");
        let wins = seeds == 3 && self.may_win(pit);
        if even || wins {
            self.stores[self.turn] += seeds;
            self.seeds[pit] = 0;
            self.won[pit] = wins;
        }
    }

    /// Whether the mover may win this pit of the other row.
    fn may_win(&self, pit: usize) -> bool {
        let pits = self.pits();
        let has_one = self.row(1 - self.turn).any(|other| self.won[other]);
        let barring = self.row(self.turn).find(|&other| self.won[other]);
        let barred = match self.option("tuzdyk_symmetry") {
            "" => return false,
            "facing" => barring.is_some_and(|other| other + pit == 2 * pits - 1),
            _ => barring.is_some_and(|other| other % pits == pit % pits),
        };
        !has_one && !barred && pit % pits != pits - 1
    }

    fn end(&mut self) {
        let total: u32 = self.seeds.iter().sum::<u32>() + self.stores.iter().sum::<u32>();
        let empty = [0, 1].map(|side| self.row(side).all(|pit| self.seeds[pit] == 0));
        if self.option("majority_end") == "true" && self.stores.iter().any(|store| 2 * store > total) {
            let swept = self.option("majority_remaining") == "sweep";
            return self.finish("majority", if swept { "side_owner" } else { "leave" }, total);
        }
        if self.option("end") == "side_empty" && empty.contains(&true) {
            return self.finish("side_empty", "side_owner", total);
        }
        self.turn = 1 - self.turn;
        let times = 1 + self.past.iter().filter(|past| **past == self.key()).count();
        if empty[self.turn] {
            self.finish("no_move", "side_owner", total);
        } else if times >= self.option("repetition").parse().unwrap() || self.past.len() > 1000 {
            let award = self.option("repetition_award").to_owned();
            self.finish("repetition", &award, total);
        }
    }

    fn finish(&mut self, reason: &str, award: &str, total: u32) {
        let rows = [0, 1].map(|side| self.row(side).map(|pit| self.seeds[pit]).sum::<u32>());
        let left = rows[0] + rows[1];
        let gains = match award {
            "leave" => [0, 0],
            "split" => [left / 2, left / 2],
            "draw" => self.stores.map(|store| total / 2 - store),
            _ => rows,
        };
        if award != "leave" {
            self.seeds.fill(0);
            let first = self.row(1 - self.turn).find(|&pit| !self.won[pit]).unwrap();
            self.seeds[first] = left - gains[0] - gains[1];
        }
        self.stores = [self.stores[0] + gains[0], self.stores[1] + gains[1]];
        self.over = true;
        reason.clone_into(&mut self.reason);
    }

    /// Drops a seed, which a won pit passes on to the side across the board.
    fn drop(&mut self, pit: usize) {
        if self.won[pit] {
            self.stores[1 - self.side(pit)] += 1;
        } else {
            self.seeds[pit] += 1;
        }
    }

    fn option(&self, name: &str) -> &str {
        self.options.get(name).map_or("", String::as_str)
    }

    fn key(&self) -> String {
        format!("{} {}", self.rows(), self.turn)
    }

    fn rows(&self) -> String {
        let cell = |pit: usize| if self.won[pit] { "t".to_owned() } else { self.seeds[pit].to_string() };
        [0, 1].map(|side| self.row(side).map(cell).collect::<Vec<_>>().join(",")).join("/")
    }

    fn pits(&self) -> usize {
        self.seeds.len() / 2
    }

    fn row(&self, side: usize) -> std::ops::Range<usize> {
        side * self.pits()..(side + 1) * self.pits()
    }

    fn side(&self, pit: usize) -> usize {
        usize::from(pit >= self.pits())
    }

    fn after(&self, pit: usize) -> usize {
        (pit + 1) % self.seeds.len()
    }

    fn letter(&self, pit: usize) -> String {
        let first = [b'A', b'a'][self.side(pit)];
        char::from(first + u8::try_from(pit % self.pits()).unwrap()).to_string()
    }
}
