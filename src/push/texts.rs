//! The words of notifications, by language: those in which there are pictures.

/// A language of notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    En,
    De,
    Fr,
    Es,
}

impl Language {
    pub const ALL: [Self; 4] = [Self::En, Self::De, Self::Fr, Self::Es];

    /// Its tag (RFC 5646), in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Fr => "fr",
            Self::Es => "es",
        }
    }

    /// The language of a tag; English for one that is not known.
    pub fn of(tag: &str) -> Self {
        Self::ALL.into_iter().find(|language| language.as_str() == tag).unwrap_or_default()
    }
}

/// The words of a language.
#[derive(Debug)]
pub struct Texts {
    your_turn: &'static str,
    deadline_soon: &'static str,
    invited: &'static str,
    finished: &'static str,
}

impl Texts {
    pub const fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &Self {
                your_turn: "It is your turn.",
                deadline_soon: "It is your turn, and your time is running out.",
                invited: "You are invited to a game.",
                finished: "The game is over.",
            },
            Language::De => &Self {
                your_turn: "Du bist am Zug.",
                deadline_soon: "Du bist am Zug, und deine Zeit läuft ab.",
                invited: "Du bist zu einem Spiel eingeladen.",
                finished: "Das Spiel ist aus.",
            },
            Language::Fr => &Self {
                your_turn: "C’est à vous de jouer.",
                deadline_soon: "C’est à vous de jouer, et votre temps s’épuise.",
                invited: "Vous êtes invité à une partie.",
                finished: "La partie est terminée.",
            },
            Language::Es => &Self {
                your_turn: "Es tu turno.",
                deadline_soon: "Es tu turno y se te acaba el tiempo.",
                invited: "Te han invitado a una partida.",
                finished: "La partida ha terminado.",
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
}
