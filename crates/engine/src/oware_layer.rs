//! Retrograde analysis of the positions of Oware with as many seeds in pits. Knows that they form circles, and no rule.

use mancala_rules::packed::{Game, Oware, Path, Position};

use crate::{
    endgame_index::Index,
    endgame_oware::{Entry, Gain, OwareEndgame, slacks},
    signal::Signal,
};

/// The bits of a word.
const WORD_BITS: usize = u64::BITS as usize;

/// The positions with as many seeds, and the moves from one to another.
struct Layer {
    seeds: u8,
    /// The rows of each position, in the order of the index.
    positions: Vec<[u64; 2]>,
    /// The positions that the moves of each lead to, but for those that capture or end the game.
    next: Edges,
    /// The positions with a move that leads to each.
    previous: Edges,
    /// The moves of each position that capture or end the game, a bit each.
    loud: Vec<u8>,
}

/// A list of positions for each position.
struct Edges {
    /// Where those of each end in `to`.
    ends: Vec<u32>,
    to: Vec<u32>,
}

/// What a player gains in each position: where it is to move, and where the other side is.
struct Solved {
    own: Vec<Gain>,
    other: Vec<Gain>,
}

/// The values of the positions in which one side is to move, while they are found.
struct Values {
    /// Whether the player is to move.
    is_own: bool,
    /// What the player gains for certain, by what is known so far, and its rank.
    seeds: Vec<i8>,
    ranks: Vec<u8>,
    /// The most by a circle.
    circles: Vec<i8>,
    /// The best of the moves of the side to move that capture or end the game, as the player sees it. Where there is no
    /// such move, it is the worst number.
    loud: Vec<i8>,
    /// What the player gains if the position comes again.
    repeated: Vec<i8>,
    /// The positions whose gain may be less than that of their moves: where the gain of one was raised.
    to_raise: Open,
    /// The positions whose circle may be more than those of their moves: where that of one was lowered.
    to_lower: Open,
}

/// A set of positions that are still to be visited, a bit each.
#[derive(Default)]
struct Open {
    words: Vec<u64>,
}

impl OwareEndgame {
    /// The bounds of a game with so many pits a side and so many seeds: as many as fit in `bytes`. `None` if the signal stops it.
    pub fn make(game: &Oware, pits: u8, seeds_max: u8, bytes: usize, signal: &Signal) -> Option<Self> {
        let mut endgame = Self::new(game, pits, seeds_max, bytes);
        for seeds in 0..=endgame.index().seeds_max() {
            let layer = Layer::new(game, endgame.index(), pits, seeds);
            let (slacks, len) = (slacks(game, seeds), layer.positions.len());
            let mut entries = vec![Entry::default(); slacks * len];
            for slack in 0..slacks {
                let other_slack = slacks - 1 - slack;
                let Solved { own, other } = layer.solve([slack, other_slack], &endgame, signal)?;
                for (entry, gain) in entries[slack * len..].iter_mut().zip(own) {
                    entry.own = gain;
                }
                for (entry, gain) in entries[other_slack * len..].iter_mut().zip(other) {
                    entry.other = gain;
                }
            }
            endgame.add(entries);
        }
        Some(endgame)
    }
}

impl Layer {
    /// The positions with `seeds` seeds.
    fn new(game: &Oware, index: &Index, pits: u8, seeds: u8) -> Self {
        let first = index.first(seeds);
        let mut positions = vec![[0; 2]; index.count(seeds)];
        for own in 0..=seeds {
            let others = index.rows(pits, seeds - own);
            for row in index.rows(pits, own) {
                for rows in others.iter().map(|&other| [row, other]) {
                    index.place(rows).into_iter().for_each(|place| positions[place - first] = rows);
                }
            }
        }
        let (mut next, mut loud) = (Edges { ends: Vec::new(), to: Vec::new() }, Vec::new());
        let path = Path::default();
        for &rows in &positions {
            let (position, mut loud_pits) = (Position::of_rows(rows, [0, 0]), 0);
            for pit in game.legal_pits(&position) {
                let after = game.play(&position, pit, &path);
                match index.place(after.rows()).filter(|&place| place >= first && !after.is_over()) {
                    Some(place) => next.to.push(number(place - first)),
                    None => loud_pits |= 1 << pit,
                }
            }
            next.ends.push(number(next.to.len()));
            loud.push(loud_pits);
        }
        Self { seeds, positions, previous: next.reversed(), next, loud }
    }

    /// What a player gains for certain, given what is known with fewer seeds. `slacks` are how many of the seeds the
    /// player may still take, and how many the other side. `None` if the signal stops it.
    ///
    /// For each number of seeds, this finds where a player wins a game with one of two aims. The aims are an end worth
    /// as many, and circles of positions whose repetition is worth as many.
    fn solve(&self, slacks: [usize; 2], known: &OwareEndgame, signal: &Signal) -> Option<Solved> {
        let [mut own, mut other] = [true, false].map(|is_own| self.values(slacks, known, is_own));
        let mut rank = 0_u8;
        loop {
            // Gains by circles, or by what was found before: from more to fewer.
            own.begin_circles();
            other.begin_circles();
            while self.lower(&mut own, &mut other) | self.lower(&mut other, &mut own) {
                if signal.is_stop_after_rest() {
                    return None;
                }
            }
            rank = rank.saturating_add(1);
            if !(self.take_circles(&mut own, &mut other, rank) | self.take_circles(&mut other, &mut own, rank)) {
                return Some(Solved { own: own.gains(), other: other.gains() });
            }
            // Gains by these, or by an end: from fewer to more.
            while self.raise(&mut own, &mut other, &mut rank) | self.raise(&mut other, &mut own, &mut rank) {
                if signal.is_stop_after_rest() {
                    return None;
                }
            }
        }
    }

    /// The values before any gain is known.
    fn values(&self, slacks: [usize; 2], known: &OwareEndgame, is_own: bool) -> Values {
        let slack = if is_own { slacks[0] } else { slacks[1] };
        let (path, worst) = (Path::default(), if is_own { i8::MIN } else { i8::MAX });
        let loud = |(&rows, &loud): (&[u64; 2], &u8)| {
            let position = known.position(rows, self.seeds, slack);
            let pits = (0..8).filter(|pit| loud >> pit & 1 == 1);
            let gains = pits.map(|pit| known.gain_by(&position, &known.game().play(&position, pit, &path), is_own));
            let best = if is_own { gains.max() } else { gains.min() };
            best.and_then(|best| i8::try_from(best).ok()).unwrap_or(worst)
        };
        let repeated = |&rows: &[u64; 2]| {
            let gain = known.gain_by_repetition(&Position::of_rows(rows, [0, 0]), is_own);
            i8::try_from(gain).unwrap_or(i8::MIN)
        };
        let len = self.positions.len();
        Values {
            is_own,
            seeds: vec![i8::MIN; len],
            ranks: vec![0; len],
            circles: Vec::new(),
            loud: self.positions.iter().zip(&self.loud).map(loud).collect(),
            repeated: self.positions.iter().map(repeated).collect(),
            to_raise: Open::all(len),
            to_lower: Open::none(len),
        }
    }

    /// Raises the gains to those of the moves; `rank` is the highest one so far. Returns whether any changed.
    fn raise(&self, values: &mut Values, next: &mut Values, rank: &mut u8) -> bool {
        let (mut is_raised, mut open) = (false, std::mem::take(&mut values.to_raise));
        open.take_each(|at| {
            let moves = self.next.of(at);
            let (before, seeds) = (values.seeds[at], values.best(at, moves, &next.seeds));
            if seeds > before {
                values.seeds[at] = seeds;
                values.ranks[at] = values.rank(at, moves, next);
                *rank = (*rank).max(values.ranks[at]);
                self.open_to_raise(at, next, before, seeds);
                is_raised = true;
            }
        });
        values.to_raise = open;
        is_raised
    }

    /// Lowers the circles to those of the moves. Returns whether any changed.
    fn lower(&self, values: &mut Values, next: &mut Values) -> bool {
        let (mut is_lowered, mut open) = (false, std::mem::take(&mut values.to_lower));
        open.take_each(|at| {
            let (before, best) = (values.circles[at], values.best(at, self.next.of(at), &next.circles));
            let circle = best.min(values.repeated[at]).max(values.seeds[at]);
            if circle < before {
                values.circles[at] = circle;
                self.open_to_lower(at, next, before, circle);
                is_lowered = true;
            }
        });
        values.to_lower = open;
        is_lowered
    }

    /// Raises the gains to those of the circles. Returns whether any changed.
    fn take_circles(&self, values: &mut Values, next: &mut Values, rank: u8) -> bool {
        let mut is_raised = false;
        for at in 0..self.positions.len() {
            let (before, circle) = (values.seeds[at], values.circles[at]);
            if circle > before {
                (values.seeds[at], values.ranks[at]) = (circle, rank);
                self.open_to_raise(at, next, before, circle);
                is_raised = true;
            }
        }
        is_raised
    }

    /// Opens the positions before one whose gain was raised, where theirs may be raised by that. The player needs one
    /// move that is worth more. The other side chooses this one only if it was worth no more before.
    fn open_to_raise(&self, at: usize, values: &mut Values, before: i8, after: i8) {
        for &previous in self.previous.of(at) {
            let seeds = values.seeds[previous as usize];
            let may_rise = if values.is_own { after > seeds } else { before <= seeds };
            if may_rise {
                values.to_raise.insert(previous);
            }
        }
    }

    /// Opens the positions before one whose circle was lowered, where theirs may be lowered by that. Such a circle is
    /// more than this one, and more than the gain of its position. If the player chooses the move, the circle was also
    /// no more than this one before.
    fn open_to_lower(&self, at: usize, values: &mut Values, before: i8, after: i8) {
        for &previous in self.previous.of(at) {
            let place = previous as usize;
            let circle = values.circles[place];
            if after < circle && circle > values.seeds[place] && (!values.is_own || before >= circle) {
                values.to_lower.insert(previous);
            }
        }
    }
}

impl Values {
    /// The gain by the best move of the side to move, as the player sees it.
    fn best(&self, at: usize, moves: &[u32], next: &[i8]) -> i8 {
        let gains = moves.iter().map(|&to| next[to as usize]);
        if self.is_own { gains.fold(self.loud[at], i8::max) } else { gains.fold(self.loud[at], i8::min) }
    }

    /// The rank of a gain: above those of the moves that gain as much and no more. The player needs one of these moves,
    /// while the other side may choose any.
    fn rank(&self, at: usize, moves: &[u32], next: &Self) -> u8 {
        let seeds = self.seeds[at];
        let gains = || moves.iter().map(|&to| (next.seeds[to as usize], next.ranks[to as usize]));
        if self.is_own && (self.loud[at] >= seeds || gains().any(|(more, _)| more > seeds)) {
            return 0;
        }
        let ranks = gains().filter(|&(gain, _)| gain == seeds).map(|(_, rank)| rank);
        let of_moves = if self.is_own { ranks.min() } else { ranks.max() };
        of_moves.map_or(0, |rank| rank.saturating_add(1))
    }

    /// Lets each position be worth its repetition, where that is more than its gain.
    fn begin_circles(&mut self) {
        self.circles = self.seeds.iter().zip(&self.repeated).map(|(&seeds, &repeated)| seeds.max(repeated)).collect();
        for (at, (circle, seeds)) in (0..).zip(self.circles.iter().zip(&self.seeds)) {
            if circle > seeds {
                self.to_lower.insert(at);
            }
        }
    }

    fn gains(self) -> Vec<Gain> {
        self.seeds.into_iter().zip(self.ranks).map(|(seeds, rank)| Gain { seeds, rank }).collect()
    }
}

impl Open {
    /// An empty set for `len` positions.
    fn none(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(WORD_BITS)] }
    }

    /// A full set of `len` positions.
    fn all(len: usize) -> Self {
        let mut open = Self::none(len);
        (0..number(len)).for_each(|at| open.insert(at));
        open
    }

    #[inline]
    fn insert(&mut self, at: u32) {
        self.words[at as usize / WORD_BITS] |= 1 << (at as usize % WORD_BITS);
    }

    /// Visits each position of the set, in order, and empties the set.
    fn take_each(&mut self, mut look: impl FnMut(usize)) {
        for (word, bits) in self.words.iter_mut().enumerate() {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                look(word * WORD_BITS + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
}

impl Edges {
    /// The positions for a position.
    #[inline]
    fn of(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.to[start as usize..self.ends[at] as usize]
    }

    /// For each position, those that it is one of.
    fn reversed(&self) -> Self {
        let mut ends = vec![0; self.ends.len()];
        self.to.iter().for_each(|&to| ends[to as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            // Where those of the position start; filling them moves it to where they end.
            start += std::mem::replace(end, start);
        }
        let mut to = vec![0; self.to.len()];
        for at in 0..self.ends.len() {
            for &next in self.of(at) {
                let end = &mut ends[next as usize];
                to[*end as usize] = number(at);
                *end += 1;
            }
        }
        Self { ends, to }
    }
}

/// The number of a position or a move, of which there are few enough.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
