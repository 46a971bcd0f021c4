//! The text of pictures: titles, descriptions for screen readers, and labels. Knows nothing of where it stands.

use mancala_rules::{AnyPosition, BySide, Effect, House, Pit, Side, Variant};
use mancala_texts::Language;

use crate::{
    font::Room,
    language::{self, Words, fill},
    scene::{PlayerLabel, PlayerMark, Scene, SceneStatus},
};

/// The pit that is a side's house (R24).
const HOUSE: u8 = 4;

/// The players of a picture and its language.
#[derive(Clone, Copy)]
pub struct Speaker<'a> {
    names: &'a BySide<Option<PlayerLabel<'a>>>,
    words: &'static Words,
}

impl<'a> Speaker<'a> {
    /// The speaker of these players, in a language.
    pub fn new(names: &'a BySide<Option<PlayerLabel<'a>>>, language: Language) -> Self {
        Self { names, words: language::words(language) }
    }

    /// The words of the language.
    pub const fn words(self) -> &'static Words {
        self.words
    }

    /// The name of the player at a side with its mark, or else of the side.
    pub fn player(self, side: Side) -> String {
        self.names[side].map_or_else(|| self.side(side).to_owned(), |label| self.marked(label))
    }

    /// The name of a player in a place of so much room. The name is cut, and its mark stays whole.
    pub fn short_player(self, side: Side, room: Room) -> String {
        let Some(PlayerLabel { name, .. }) = self.names[side] else { return self.side(side).to_owned() };
        let mark = self.mark(side);
        format!("{}{mark}", room.beside(&mark).cut(&xml_text(name)))
    }

    /// The mark after the name of the player at a side: " (guest)", or nothing.
    pub fn mark(self, side: Side) -> String {
        self.suffix(self.names[side].and_then(|label| label.mark))
    }

    /// The name of a side.
    const fn side(self, side: Side) -> &'static str {
        match side {
            Side::South => self.words.south,
            Side::North => self.words.north,
        }
    }

    /// "Ana (guest)".
    fn marked(self, label: PlayerLabel) -> String {
        format!("{}{}", xml_text(label.name), self.suffix(label.mark))
    }

    fn suffix(self, mark: Option<PlayerMark>) -> String {
        let word = |mark| match mark {
            PlayerMark::Guest => self.words.guest,
            PlayerMark::Imported => self.words.imported,
            PlayerMark::Hotseat => self.words.hotseat,
        };
        mark.map(|mark| format!(" ({})", word(mark))).unwrap_or_default()
    }

    /// The game and its players: "Kalah", or "Kalah: Ana against Bo".
    pub fn players(self, variant: Variant) -> String {
        if self.names.south.is_none() && self.names.north.is_none() {
            return variant.title().to_owned();
        }
        fill(self.words.players, &[variant.title(), &self.player(Side::South), &self.player(Side::North)])
    }
}

/// "Kalah: Ana against Bo after ply 12".
pub fn title(scene: &Scene, language: Language) -> String {
    let speaker = Speaker::new(&scene.names, language);
    let players = speaker.players(scene.position.options().variant());
    match scene.ply {
        0 => fill(speaker.words.title_at_opening, &[&players]),
        ply => fill(speaker.words.title_after_ply, &[&players, &ply.to_string()]),
    }
}

/// The whole content of the picture, in sentences.
pub fn description(scene: &Scene, bottom: Side, language: Language) -> String {
    let speaker = Speaker::new(&scene.names, language);
    let words = speaker.words;
    let mut sentences =
        vec![row(scene, speaker, bottom, words.at_bottom), row(scene, speaker, bottom.other(), words.at_top)];
    if let Some(round) = scene.position.round() {
        sentences.push(fill(words.round, &[&round.number.to_string()]));
    }
    sentences.extend(scene.position.pending().map(|pending| match pending.hand {
        0 => fill(words.goes_on, &[&pending.pit.to_string()]),
        hand => fill(words.goes_on_with, &[&pending.pit.to_string(), &hand.to_string()]),
    }));
    sentences.extend(
        chosen_pit(scene.position).map(|pit| fill(words.has_chosen, &[&speaker.player(pit.side), &pit.to_string()])),
    );
    sentences.extend(last_move(scene, speaker));
    sentences.push(status(scene, language));
    sentences.join(" ")
}

/// A short line below the board.
pub fn caption(scene: &Scene, language: Language) -> String {
    let words = language::words(language);
    let title = scene.position.options().variant().title();
    let mut parts = vec![title.to_owned()];
    parts.extend(scene.position.round().map(|round| fill(words.in_round, &[&round.number.to_string()])));
    parts.push(match scene.ply {
        0 => words.at_opening.to_owned(),
        ply => fill(words.at_ply, &[&ply.to_string()]),
    });
    parts.extend(scene.last.as_ref().map(|last| fill(words.with_move, &[&last.word])));
    parts.join(" · ")
}

/// The label beside a player's name.
pub fn role(scene: &Scene, side: Side, language: Language) -> &'static str {
    let words = language::words(language);
    match &scene.status {
        SceneStatus::Turn(turn) if *turn == side => words.to_move,
        SceneStatus::Over { winner: Some(winner), .. } if *winner == side => words.won,
        SceneStatus::Over { winner: None, .. } => words.draw,
        SceneStatus::Open if scene.names[side].is_none() => words.free_seat,
        SceneStatus::Aborted => words.aborted,
        SceneStatus::Turn(_) | SceneStatus::Over { .. } | SceneStatus::Open => "",
    }
}

/// The status of the game, as a sentence: "Bo to move."
pub fn status(scene: &Scene, language: Language) -> String {
    let speaker = Speaker::new(&scene.names, language);
    let words = speaker.words;
    match &scene.status {
        SceneStatus::Turn(side) => fill(words.is_to_move, &[&speaker.player(*side)]),
        SceneStatus::Over { winner, reason } => {
            let why = reason.as_ref().map(|reason| format!(" ({})", words.reason(reason))).unwrap_or_default();
            match winner {
                Some(side) => fill(words.has_won, &[&speaker.player(*side), &why]),
                None => fill(words.is_drawn, &[&why]),
            }
        }
        SceneStatus::Open => words.is_open.to_owned(),
        SceneStatus::Aborted => words.is_aborted.to_owned(),
    }
}

/// The words about a seat beside the name of its player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatWords {
    /// The name of the side.
    pub side: &'static str,
    /// The text instead of a name while the seat is free.
    pub free: &'static str,
    /// The mark after the name: " (guest)", or nothing.
    pub mark: String,
}

/// The words beside the name of the player at a side.
#[must_use]
pub fn describe_seat(scene: &Scene, side: Side, language: Language) -> SeatWords {
    let speaker = Speaker::new(&scene.names, language);
    SeatWords { side: speaker.side(side), free: speaker.words.free_seat, mark: speaker.mark(side) }
}

/// A name in which U+FFFD replaces each character that XML cannot contain, escaped or not.
fn xml_text(name: &str) -> String {
    let is_character = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    name.chars().map(|c| if is_character(c) { c } else { '\u{fffd}' }).collect()
}

fn row(scene: &Scene, speaker: Speaker, side: Side, at: &str) -> String {
    let board = scene.position.board();
    let pits = (0..board.pits_per_side()).map(|index| Pit { side, index });
    let pit = |pit: Pit| {
        if scene.position.is_burnt(pit) {
            return fill(speaker.words.burnt, &[&pit.to_string()]);
        }
        if scene.position.tuzdyk(!pit.side) == Some(pit) {
            return fill(speaker.words.tuzdyk, &[&pit.to_string()]);
        }
        let mut text = format!("{pit} {}", board.seeds(pit));
        match house_at(scene.position, pit) {
            Some(House::Working) => text = fill(speaker.words.house, &[&text]),
            Some(House::Idle) => text = fill(speaker.words.idle_house, &[&text]),
            Some(House::Lost) | None => {}
        }
        if scene.position.blocked() == Some(pit) {
            text = fill(speaker.words.blocked, &[&text]);
        }
        text
    };
    let pits: Vec<_> = pits.map(pit).collect();
    let name = speaker.side(side);
    let (text, off_the_pits) = match board.reserve(side) {
        None => (speaker.words.row, board.store(side)),
        Some(reserve) => (speaker.words.rows, reserve),
    };
    let label =
        scene.names[side].map_or_else(|| name.to_owned(), |player| format!("{name}, {}", speaker.marked(player)));
    fill(text, &[&label, at, &pits.join(", "), &off_the_pits.to_string()])
}

/// The house of a side, if it is this pit and still owned.
pub fn house_at(position: &AnyPosition, pit: Pit) -> Option<House> {
    position.house(pit.side).filter(|house| pit.index == HOUSE && house.is_owned())
}

/// In a lockstep opening, the pit that South has chosen and not yet sown.
pub fn chosen_pit(position: &AnyPosition) -> Option<Pit> {
    position.lockstep()?.chosen
}

fn last_move(scene: &Scene, speaker: Speaker) -> Option<String> {
    let last = scene.last.as_ref()?;
    let words = speaker.words;
    let by = last.name.map_or_else(|| speaker.side(last.side).to_owned(), |label| speaker.marked(label));
    let mut parts = vec![fill(words.last_move, &[&last.word, &by])];
    // In a lockstep opening a move sows with the hands of both sides.
    let mut hand = None;
    for effect in last.effects {
        match effect {
            Effect::Capture { seeds, .. } | Effect::Take { seeds, .. } => {
                let from = captured_pits(effect);
                let text = if *seeds == 1 { words.captured_one } else { words.captured };
                let text = fill(text, &[&from.join(", "), &seeds.to_string()]);
                parts.push(match hand {
                    None => text,
                    Some(side) => fill(words.done_by, &[&text, &speaker.player(side)]),
                });
            }
            Effect::Hand { side } => hand = Some(*side),
            Effect::ExtraTurn => parts.push(words.another_turn.to_owned()),
            Effect::RoundOver { score, .. } => {
                parts.push(fill(words.round_over, &[&score.south.to_string(), &score.north.to_string()]));
            }
            Effect::Lift { .. }
            | Effect::Relay { .. }
            | Effect::Sow { .. }
            | Effect::Swap
            | Effect::Pass
            | Effect::Sweep { .. }
            | Effect::Split { .. }
            | Effect::Choose { .. }
            | Effect::Level { .. }
            | Effect::Tuzdyk { .. }
            | Effect::Refill { .. }
            | Effect::Place { .. }
            | Effect::Tax { .. }
            | Effect::Resume { .. }
            | Effect::HouseLost { .. }
            | Effect::Reserve { .. }
            | Effect::Unblock { .. }
            | Effect::Block { .. }
            | Effect::Own(_)
            | Effect::GameOver { .. } => {}
        }
    }
    Some(parts.join(", ") + ".")
}

/// The pits that a capture empties.
fn captured_pits(effect: &Effect) -> Vec<String> {
    match effect {
        Effect::Capture { from, .. } => from.iter().map(ToString::to_string).collect(),
        Effect::Take { from, .. } => from.iter().map(ToString::to_string).collect(),
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LastMove, font::Font};
    use mancala_rules::AnyOptions;

    #[test]
    fn a_mark_stays_when_its_name_is_cut() {
        let font = Font { size: 20, is_bold: false };
        let shown = |name, mark, place| {
            let names = BySide { south: Some(PlayerLabel { name, mark }), north: None };
            let room = Room { font, width: font.width(place) + 0.1 };
            [Side::South, Side::North].map(|side| Speaker::new(&names, Language::De).short_player(side, room))
        };
        let guest = Some(PlayerMark::Guest);
        for (name, mark, place) in [
            ("Ana", guest, "Ana (Gast)"),
            ("Anabella", guest, "Ana… (Gast)"),
            ("ああああ", Some(PlayerMark::Imported), "ああ… (importiert)"),
            ("Anabella", None, "Anab…"),
        ] {
            assert_eq!(shown(name, mark, place), [place, "Nord"]);
        }
        assert_eq!(shown("Anabella", guest, ""), ["… (Gast)", "Nord"]);
    }

    /// The description of a position, after a move if there was one.
    fn described(position: &AnyPosition, last: Option<LastMove>, language: Language) -> String {
        let names = BySide { south: None, north: Some(PlayerLabel { name: "Bo", mark: None }) };
        description(
            &Scene { position, names, ply: position.plies(), last, status: SceneStatus::of(position) },
            Side::South,
            language,
        )
    }

    #[test]
    fn a_house_that_does_not_work_is_told_from_one_that_does() {
        let text = "0,0,0,0,6n,2,2,0,0,0,0,0,0,0,0,0/0,0,0,0,5n,3,2,0,0,0,0,0,0,0,0,0 22-22 S - 0 1S";
        let bao = AnyOptions::parse(Variant::Bao, "standard", "").unwrap();
        let position = AnyPosition::parse(&bao, text).unwrap();
        let said = described(&position, None, Language::En);
        assert!(said.contains(" E 6 house, F 2,") && said.contains(" e 5 idle house, f 3,"), "{said}");
    }

    #[test]
    fn a_lockstep_opening_tells_who_has_chosen_and_who_captured() {
        let congkak = AnyOptions::parse(Variant::Congkak, "standard", "pits=3;seeds=2;opening=lockstep").unwrap();
        let opening = AnyPosition::opening(&congkak);
        assert!(!described(&opening, None, Language::En).contains("chosen"));
        let chosen = AnyPosition::parse(&congkak, "2,2,2/2,2,2 0-0 N lA 1 1S").unwrap();
        let said = described(&chosen, None, Language::En);
        assert!(said.ends_with("store 0. South has chosen A. Bo to move."), "{said}");
        let (position, effects) = chosen.play("a".parse().unwrap()).unwrap();
        for (language, sentence) in [
            (
                Language::En,
                "Last move: a by Bo, 2 seeds captured from A, c by South, 2 seeds captured from a, C by Bo.",
            ),
            (
                Language::De,
                "Letzter Zug: a von Bo, 2 Samen aus A, c geschlagen von Süd, 2 Samen aus a, C geschlagen von Bo.",
            ),
        ] {
            let last = LastMove {
                word: "a".to_owned(),
                side: Side::North,
                name: Some(PlayerLabel { name: "Bo", mark: None }),
                effects: &effects,
            };
            let said = described(&position, Some(last), language);
            assert!(said.contains(sentence), "{said}");
        }
    }

    #[test]
    fn characters_that_xml_cannot_contain_are_replaced() {
        assert_eq!(xml_text("A\u{0}n\u{1b}a\u{ffff}"), "A\u{fffd}n\u{fffd}a\u{fffd}");
    }
}
