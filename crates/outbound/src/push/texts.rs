//! The words of notifications, by language.

use mancala_texts::Language;

/// The news of several games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The player is to move in all of them.
    Turns,
    /// Different things have happened.
    Several,
}

/// The words of a language.
#[derive(Debug)]
pub struct Texts {
    your_turn: &'static str,
    deadline_soon: &'static str,
    invited: &'static str,
    finished: &'static str,
    /// Texts for two games or more, with their number instead of `{}`: all wait for the player, or have news.
    turns: &'static str,
    news: &'static str,
}

impl Texts {
    pub const fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &Self {
                your_turn: "It is your turn.",
                deadline_soon: "It is your turn, and your time is running out.",
                invited: "You are invited to a game.",
                finished: "The game is over.",
                turns: "It is your turn in {} games.",
                news: "There is news in {} games.",
            },
            Language::De => &Self {
                your_turn: "Du bist am Zug.",
                deadline_soon: "Du bist am Zug, und deine Zeit läuft ab.",
                invited: "Du bist zu einem Spiel eingeladen.",
                finished: "Das Spiel ist aus.",
                turns: "Du bist in {} Spielen am Zug.",
                news: "In {} Spielen gibt es Neues.",
            },
            Language::Fr => &Self {
                your_turn: "C’est à vous de jouer.",
                deadline_soon: "C’est à vous de jouer, et votre temps s’épuise.",
                invited: "Vous êtes invité à une partie.",
                finished: "La partie est terminée.",
                turns: "C’est à vous de jouer dans {} parties.",
                news: "Il y a du nouveau dans {} parties.",
            },
            Language::Es => &Self {
                your_turn: "Es tu turno.",
                deadline_soon: "Es tu turno y se te acaba el tiempo.",
                invited: "Te han invitado a una partida.",
                finished: "La partida ha terminado.",
                turns: "Es tu turno en {} partidas.",
                news: "Hay novedades en {} partidas.",
            },
        }
    }

    /// The sentence for a type of notice.
    pub fn of_kind(&self, kind: &str) -> &'static str {
        match kind {
            "game.deadline_soon" => self.deadline_soon,
            "game.invited" => self.invited,
            "game.finished" => self.finished,
            _ => self.your_turn,
        }
    }

    /// The sentence for several games.
    pub fn of_games(&self, games: usize, news: News) -> String {
        let sentence = match news {
            News::Turns => self.turns,
            News::Several => self.news,
        };
        sentence.replace("{}", &games.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_words_of_its_own_and_a_number_of_games() {
        for language in Language::ALL {
            let texts = Texts::of(language);
            for news in [News::Turns, News::Several] {
                assert!(texts.of_games(17, news).contains("17"));
            }
            let others = Language::ALL.into_iter().filter(|other| *other != language);
            for kind in ["game.your_turn", "game.deadline_soon", "game.invited", "game.finished"] {
                assert!(others.clone().all(|other| Texts::of(other).of_kind(kind) != texts.of_kind(kind)), "{kind}");
            }
        }
    }
}
