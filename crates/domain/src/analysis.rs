//! The analysis of a game: what each ply was worth, its class, and how well each player played. Knows when a loss is a
//! mistake. Does not know how values are found.

use mancala_rules::{Move, Side};
use time::OffsetDateTime;

use crate::{BySeat, Game, Opponent, PlayerId, Seat, Status};

/// The edition of the analysis: raised when the same game would be judged differently.
pub const ANALYSIS_EDITION: u16 = 4;

/// The most plies that are judged; in a longer game, the last ones. Several times the longest game that people play.
pub const PLIES_ANALYSED_MAX: u32 = 2000;

/// The unit of values and losses is the hundredth of a seed.
pub const POINTS_PER_SEED: i32 = 100;

/// The value of a game, ply by ply.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The last ply that the game had when it was analysed.
    pub ply: u32,
    /// The [`ANALYSIS_EDITION`] of its time.
    pub edition: u16,
    /// When it was analysed.
    pub at: OffsetDateTime,
    /// In the order of play, without takebacks.
    pub plies: Vec<JudgedPly>,
}

/// The value of a ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedPly {
    /// Its number in the game.
    pub number: u32,
    /// The side that moved.
    pub side: Side,
    /// The seat that moved.
    pub seat: Seat,
    /// The played move.
    pub mv: Move,
    /// The value of the position before it, which is the value of its best move.
    pub best: Value,
    /// The best move, and the best play after it as far as the search knows it; empty for an agreed end.
    pub line: Vec<Move>,
    /// The value of the position after it.
    pub value: Value,
    /// How much worse that is for the moving side than the best move, in hundredths of a seed; 0 or more.
    pub loss: i32,
    /// The class of the ply, by its loss.
    pub class: Class,
}

/// The margin at the end of the game by best play: South's seeds less North's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// In hundredths of a seed.
    pub points: i32,
    /// Whether it is proven; otherwise it is an estimate.
    pub is_exact: bool,
}

/// The class of a ply, by its loss. In a finished game the margin changes by two if one seed changes sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The only legal move, or an agreed end. It says nothing about the player.
    Forced,
    /// No move was better.
    Best,
    /// The move lost less than 2 seeds.
    Good,
    /// The move lost less than 4 seeds.
    Inaccuracy,
    /// The move lost less than 8 seeds.
    Mistake,
    /// The move lost 8 seeds or more.
    Blunder,
}

/// The loss at which a move counts `1/e`, about 37 of 100.
const LOSS_OF_E: f64 = 4.0 * POINTS_PER_SEED as f64;

impl Analysis {
    /// Whether it covers the whole game, and is of the present edition.
    pub const fn is_up_to_date(&self, game: &Game) -> bool {
        self.edition >= ANALYSIS_EDITION && self.ply == game.ply()
    }

    /// How well each player played, from 0 to 100: the mean of `100 * exp(-loss / 4 seeds)` over the moves that were
    /// not forced. `None` for a player without such a move.
    ///
    /// The form is that of the accuracy of chess sites, which falls with the loss of a move as well. The four seeds are
    /// our choice.
    pub fn accuracy(&self) -> BySeat<Option<f64>> {
        let of = |seat| {
            let choices = self.plies.iter().filter(|ply| ply.seat == seat && ply.class != Class::Forced);
            let (sum, count) = choices.fold((0.0, 0_u32), |(sum, count), ply| {
                (sum + 100.0 * (-f64::from(ply.loss) / LOSS_OF_E).exp(), count + 1)
            });
            (count > 0).then(|| sum / f64::from(count))
        };
        BySeat { first: of(Seat::First), second: of(Seat::Second) }
    }

    /// Leaves out the plies that do not stand any more. `takebacks` are those of the game in order, each with its number and the
    /// last ply that it left standing.
    pub fn retain_standing(&mut self, takebacks: &[(u32, u32)]) {
        let mut later = takebacks.iter().rev().peekable();
        let mut last_standing = u32::MAX;
        let mut stands = |ply: &JudgedPly| {
            while let Some((_, to_ply)) = later.next_if(|(number, _)| *number > ply.number) {
                last_standing = last_standing.min(*to_ply);
            }
            ply.number <= last_standing
        };
        self.plies = self.plies.drain(..).rev().filter(|ply| stands(ply)).collect();
        self.plies.reverse();
    }

    /// The number of a seat's plies of a class.
    pub fn count(&self, seat: Seat, class: Class) -> usize {
        self.plies.iter().filter(|ply| ply.seat == seat && ply.class == class).count()
    }
}

impl Value {
    /// The same value with the sides exchanged.
    #[must_use]
    pub const fn for_other_side(self) -> Self {
        Self { points: -self.points, ..self }
    }
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 6] =
        [Class::Forced, Class::Best, Class::Good, Class::Inaccuracy, Class::Mistake, Class::Blunder];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Forced => "forced",
            Class::Best => "best",
            Class::Good => "good",
            Class::Inaccuracy => "inaccuracy",
            Class::Mistake => "mistake",
            Class::Blunder => "blunder",
        }
    }

    /// The class of a move that was not forced, by its loss in hundredths of a seed.
    pub const fn of(loss: i32) -> Self {
        match loss {
            ..=0 => Class::Best,
            loss if loss < 2 * POINTS_PER_SEED => Class::Good,
            loss if loss < 4 * POINTS_PER_SEED => Class::Inaccuracy,
            loss if loss < 8 * POINTS_PER_SEED => Class::Mistake,
            _ => Class::Blunder,
        }
    }
}

impl Game {
    /// Whether a player may have the game analysed: it is over, or the player plays both sides or practises. An analysis must
    /// not help a player against another.
    pub fn may_be_analysed_for(&self, player: PlayerId) -> bool {
        let is_alone = (self.terms().opponent == Opponent::Oneself || self.is_practice()) && self.seats(player);
        self.status().is_over() || self.status() == Status::Active && is_alone
    }

    /// Whether two players are playing it against each other now. The computer is one of them, except in practice.
    pub fn is_contested(&self) -> bool {
        self.status() == Status::Active && self.terms().opponent != Opponent::Oneself && !self.is_practice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ply(seat: Seat, loss: i32, class: Class) -> JudgedPly {
        let value = Value { points: 0, is_exact: true };
        let mv = "A".parse().expect("a move");
        JudgedPly { number: 1, side: Side::South, seat, mv, best: value, line: vec![mv], value, loss, class }
    }

    fn analysis(plies: Vec<JudgedPly>) -> Analysis {
        Analysis { ply: 9, edition: ANALYSIS_EDITION, at: OffsetDateTime::UNIX_EPOCH, plies }
    }

    #[test]
    fn accuracy_is_the_mean_of_what_the_losses_leave() {
        assert_eq!(analysis(vec![]).accuracy(), BySeat { first: None, second: None });
        let best = analysis(vec![ply(Seat::First, 0, Class::Best), ply(Seat::Second, 0, Class::Forced)]);
        assert_eq!(best.accuracy(), BySeat { first: Some(100.0), second: None });
        let mixed = analysis(vec![
            ply(Seat::Second, 0, Class::Best),
            ply(Seat::Second, 4 * POINTS_PER_SEED, Class::Mistake),
            ply(Seat::Second, 0, Class::Forced),
        ]);
        let expected = 100.0 * (1.0 + (-1.0_f64).exp()) / 2.0;
        assert!((mixed.accuracy().second.expect("there were choices") - expected).abs() < 1e-9);
        assert_eq!((mixed.count(Seat::Second, Class::Best), mixed.count(Seat::First, Class::Best)), (1, 0));
    }

    #[test]
    fn plies_that_were_taken_back_are_left_out() {
        let standing = |takebacks: &[(u32, u32)]| {
            let numbered = (1..=9).filter(|number| takebacks.iter().all(|(takeback, _)| takeback != number));
            let plies = numbered.map(|number| JudgedPly { number, ..ply(Seat::First, 0, Class::Best) });
            let mut analysis = analysis(plies.collect());
            analysis.retain_standing(takebacks);
            analysis.plies.iter().map(|ply| ply.number).collect::<Vec<_>>()
        };
        assert_eq!(standing(&[]), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(standing(&[(5, 2)]), [1, 2, 6, 7, 8, 9]);
        assert_eq!(standing(&[(5, 2), (8, 6)]), [1, 2, 6, 9]);
        assert_eq!(standing(&[(5, 2), (8, 1)]), [1, 9]);
        // The second takeback came after the analysis.
        assert_eq!(standing(&[(5, 2), (12, 7)]), [1, 2, 6, 7]);
        assert_eq!(standing(&[(12, 0)]), Vec::<u32>::new());
    }

    #[test]
    fn a_loss_has_a_name_by_the_seeds_it_costs() {
        let names = [0, 1, 199, 200, 399, 400, 799, 800, 9600].map(|loss| Class::of(loss).as_str());
        let expected = ["best", "good", "good", "inaccuracy", "inaccuracy", "mistake", "mistake", "blunder", "blunder"];
        assert_eq!(names, expected);
    }
}
