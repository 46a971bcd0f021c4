//! The words of the page of a game that its picture does not have, by language. Knows no game.

use mancala_texts::Language;

/// The words of a language. A number or a text takes the place of `{}`.
#[derive(Debug)]
pub struct PageWords {
    /// Leads to the board of a game that can go on.
    pub to_board: &'static str,
    /// Leads to the review of a finished game.
    pub to_review: &'static str,
    /// The description of the picture.
    pub board: &'static str,
    pub practice: &'static str,
    pub course: &'static str,
    pub moves: &'static str,
    pub for_programs: &'static str,
    so_far: &'static str,
    /// Singular and plural.
    plies: [&'static str; 2],
    seeds: [&'static str; 2],
    /// Whether nothing is counted as one is.
    zero_is_one: bool,
}

impl PageWords {
    pub const fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &Self {
                to_board: "Go to the board",
                to_review: "Review the game",
                board: "The board.",
                practice: "practice",
                course: "The course of the game",
                moves: "moves",
                for_programs: "the game for programs",
                so_far: "{} so far",
                plies: ["{} ply", "{} plies"],
                seeds: ["{} seed", "{} seeds"],
                zero_is_one: false,
            },
            Language::De => &Self {
                to_board: "Zum Brett",
                to_review: "Zur Rückschau",
                board: "Das Brett.",
                practice: "Übung",
                course: "Der Verlauf des Spiels",
                moves: "Züge",
                for_programs: "das Spiel für Programme",
                so_far: "bisher {}",
                plies: ["{} Zug", "{} Züge"],
                seeds: ["{} Samen", "{} Samen"],
                zero_is_one: false,
            },
            Language::Fr => &Self {
                to_board: "Voir le plateau",
                to_review: "Revoir la partie",
                board: "Le plateau.",
                practice: "entraînement",
                course: "Le cours de la partie",
                moves: "coups",
                for_programs: "la partie pour les programmes",
                so_far: "{} jusqu’ici",
                plies: ["{} coup", "{} coups"],
                seeds: ["{} graine", "{} graines"],
                zero_is_one: true,
            },
            Language::Es => &Self {
                to_board: "Ver el tablero",
                to_review: "Repasar la partida",
                board: "El tablero.",
                practice: "práctica",
                course: "El curso de la partida",
                moves: "jugadas",
                for_programs: "la partida para programas",
                so_far: "{} hasta ahora",
                plies: ["{} jugada", "{} jugadas"],
                seeds: ["{} semilla", "{} semillas"],
                zero_is_one: false,
            },
        }
    }

    /// "4 plies".
    pub fn plies(&self, count: u32) -> String {
        self.counted(self.plies, count)
    }

    /// "4 plies so far".
    pub fn plies_so_far(&self, count: u32) -> String {
        self.so_far.replace("{}", &self.plies(count))
    }

    /// "20 seeds".
    pub fn seeds(&self, count: u16) -> String {
        self.counted(self.seeds, u32::from(count))
    }

    fn counted(&self, [one, several]: [&str; 2], count: u32) -> String {
        let is_one = count == 1 || count == 0 && self.zero_is_one;
        (if is_one { one } else { several }).replace("{}", &count.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_from_several_as_the_language_does() {
        for (language, expected) in [
            (Language::En, ["0 plies so far", "1 ply so far", "2 plies so far"]),
            (Language::De, ["bisher 0 Züge", "bisher 1 Zug", "bisher 2 Züge"]),
            (Language::Fr, ["0 coup jusqu’ici", "1 coup jusqu’ici", "2 coups jusqu’ici"]),
            (Language::Es, ["0 jugadas hasta ahora", "1 jugada hasta ahora", "2 jugadas hasta ahora"]),
        ] {
            assert_eq!([0, 1, 2].map(|count| PageWords::of(language).plies_so_far(count)), expected);
        }
    }
}
