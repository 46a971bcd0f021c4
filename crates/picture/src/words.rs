//! The text of pictures: titles, descriptions for screen readers, and labels. Knows nothing of where it stands.

use mancala_rules::{BySide, Effect, Pit, Side, Variant};

use crate::scene::{PlayerLabel, Scene, SceneStatus};

/// The name of the player at a side with its mark, or else of the side.
pub fn player_name(names: &BySide<Option<PlayerLabel>>, side: Side) -> String {
    names[side].map_or_else(|| side_name(side).to_owned(), marked)
}

/// The same in so many letters. The name is cut, and its mark stays.
pub fn short_name(names: &BySide<Option<PlayerLabel>>, side: Side, letters: usize) -> String {
    let Some(PlayerLabel { name, mark }) = names[side] else { return side_name(side).to_owned() };
    let mark = suffix(mark);
    format!("{}{mark}", cut(&xml_text(name), letters.saturating_sub(mark.chars().count())))
}

/// "Ana (guest)".
fn marked(label: PlayerLabel) -> String {
    format!("{}{}", xml_text(label.name), suffix(label.mark))
}

fn suffix(mark: Option<&str>) -> String {
    mark.map(|mark| format!(" ({mark})")).unwrap_or_default()
}

/// The name of a side.
pub const fn side_name(side: Side) -> &'static str {
    match side {
        Side::South => "South",
        Side::North => "North",
    }
}

/// The game and its players: "Kalah", or "Kalah: Ana against Bo".
pub fn players(variant: Variant, names: &BySide<Option<PlayerLabel>>) -> String {
    if names.south.is_none() && names.north.is_none() {
        return variant.title().to_owned();
    }
    format!("{}: {} against {}", variant.title(), player_name(names, Side::South), player_name(names, Side::North))
}

/// "Kalah: Ana against Bo after ply 12".
pub fn title(scene: &Scene) -> String {
    let players = players(scene.position.options().variant(), &scene.names);
    match scene.ply {
        0 => format!("{players}, the opening"),
        ply => format!("{players} after ply {ply}"),
    }
}

/// The whole content of the picture, in sentences.
pub fn description(scene: &Scene, bottom: Side) -> String {
    let mut sentences = vec![row(scene, bottom, "at the bottom"), row(scene, bottom.other(), "at the top")];
    if let Some(round) = scene.position.round() {
        sentences.push(format!("Round {}.", round.number));
    }
    sentences.extend(last_move(scene));
    sentences.push(status(scene));
    sentences.join(" ")
}

/// A short line below the board.
pub fn caption(scene: &Scene) -> String {
    let title = scene.position.options().variant().title();
    let mut parts = vec![title.to_owned()];
    parts.extend(scene.position.round().map(|round| format!("round {}", round.number)));
    parts.push(if scene.ply == 0 { "the opening".to_owned() } else { format!("ply {}", scene.ply) });
    parts.extend(scene.last.as_ref().map(|last| format!("last move {}", last.word)));
    parts.join(" · ")
}

/// The label beside a player's name.
pub fn role(scene: &Scene, side: Side) -> &'static str {
    match &scene.status {
        SceneStatus::Turn(turn) if *turn == side => "to move",
        SceneStatus::Over { winner: Some(winner), .. } if *winner == side => "won",
        SceneStatus::Over { winner: None, .. } => "draw",
        SceneStatus::Open if scene.names[side].is_none() => "free seat",
        SceneStatus::Aborted => "aborted",
        SceneStatus::Turn(_) | SceneStatus::Over { .. } | SceneStatus::Open => "",
    }
}

/// A name, cut to so many letters if it is longer. East Asian letters and emoji count as two.
fn cut(name: &str, letters: usize) -> String {
    let width = |c: char| if c < '\u{1100}' { 1 } else { 2 };
    if name.chars().map(width).sum::<usize>() <= letters {
        return name.to_owned();
    }
    let mut left = letters.saturating_sub(1);
    let fits = |c: &char| {
        let fits = width(*c) <= left;
        left = left.saturating_sub(width(*c));
        fits
    };
    let begin: String = name.chars().take_while(fits).collect();
    format!("{}…", begin.trim_end())
}

/// A name in which U+FFFD replaces each character that XML cannot contain, escaped or not.
fn xml_text(name: &str) -> String {
    let is_character = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    name.chars().map(|c| if is_character(c) { c } else { '\u{fffd}' }).collect()
}

fn row(scene: &Scene, side: Side, at: &str) -> String {
    let board = scene.position.board();
    let pits = (0..board.pits_per_side()).map(|index| Pit { side, index });
    let pits = pits
        .map(|pit| if board.is_burnt(pit) { format!("{pit} burnt") } else { format!("{pit} {}", board.seeds(pit)) });
    let pits: Vec<_> = pits.collect();
    let (name, store) = (side_name(side), board.store(side));
    let label = scene.names[side].map_or_else(|| name.to_owned(), |player| format!("{name}, {}", marked(player)));
    format!("{label}, {at}: {}, store {store}.", pits.join(", "))
}

fn last_move(scene: &Scene) -> Option<String> {
    let last = scene.last.as_ref()?;
    let by = last.name.map_or_else(|| side_name(last.side).to_owned(), marked);
    let mut parts = vec![format!("Last move: {} by {by}", last.word)];
    for effect in last.effects {
        match effect {
            Effect::Capture { from, seeds, .. } => {
                let from: Vec<_> = from.iter().map(ToString::to_string).collect();
                let noun = if *seeds == 1 { "seed" } else { "seeds" };
                parts.push(format!("{seeds} {noun} captured from {}", from.join(", ")));
            }
            Effect::ExtraTurn => parts.push("another turn".to_owned()),
            Effect::RoundOver { score, .. } => {
                parts.push(format!("the round is over {} to {}", score.south, score.north));
            }
            Effect::Lift { .. }
            | Effect::Relay { .. }
            | Effect::Sow { .. }
            | Effect::Swap
            | Effect::Pass
            | Effect::Sweep { .. }
            | Effect::Split { .. }
            | Effect::Refill { .. }
            | Effect::GameOver { .. } => {}
        }
    }
    Some(parts.join(", ") + ".")
}

fn status(scene: &Scene) -> String {
    let name = |side| player_name(&scene.names, side);
    match &scene.status {
        SceneStatus::Turn(side) => format!("{} to move.", name(*side)),
        SceneStatus::Over { winner, reason } => {
            let how = winner.map_or_else(|| "A draw".to_owned(), |side| format!("{} won", name(side)));
            let why = reason.as_ref().map(|reason| format!(" ({})", reason.replace('_', " ")));
            format!("The game is over. {how}{}.", why.unwrap_or_default())
        }
        SceneStatus::Open => "Waits for an opponent.".to_owned(),
        SceneStatus::Aborted => "The game ended without a result.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_cut_to_fit() {
        for (name, letters, shown) in [
            ("Ana", 3, "Ana"),
            ("Anabel", 5, "Anab…"),
            ("An abel", 4, "An…"),
            ("ああああ", 8, "ああああ"),
            ("ああああ", 7, "あああ…"),
            ("ああああ", 6, "ああ…"),
            ("", 3, ""),
        ] {
            assert_eq!(cut(name, letters), shown);
        }
    }

    #[test]
    fn a_mark_stays_when_its_name_is_cut() {
        let names = |name, mark| BySide { south: Some(PlayerLabel { name, mark }), north: None };
        for (name, mark, letters, shown) in [
            ("Ana", Some("guest"), 11, "Ana (guest)"),
            ("Anabel", Some("guest"), 12, "Ana… (guest)"),
            ("ああああ", Some("imported"), 16, "ああ… (imported)"),
            ("Anabel", None, 5, "Anab…"),
        ] {
            assert_eq!(short_name(&names(name, mark), Side::South, letters), shown);
        }
        assert_eq!(short_name(&names("Ana", None), Side::North, 3), "North");
    }

    #[test]
    fn characters_that_xml_cannot_contain_are_replaced() {
        assert_eq!(xml_text("A\u{0}n\u{1b}a\u{ffff}"), "A\u{fffd}n\u{fffd}a\u{fffd}");
    }
}
