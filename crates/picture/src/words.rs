//! What a picture says in words: to those who do not see it, and beside the board.

use mancala_rules::{BySide, Effect, Pit, Side, Variant};

use crate::{Scene, Standing};

/// Who sits at a side: a name, or what the side is called.
pub fn person(names: &BySide<Option<&str>>, side: Side) -> String {
    names[side].map_or_else(|| place_name(side).to_owned(), written)
}

/// What a side is called.
pub const fn place_name(side: Side) -> &'static str {
    match side {
        Side::South => "South",
        Side::North => "North",
    }
}

/// Who plays what: "Kalah", or "Kalah: Ana against Bo".
pub fn players(variant: Variant, names: &BySide<Option<&str>>) -> String {
    if names.south.is_none() && names.north.is_none() {
        return variant.title().to_owned();
    }
    format!("{}: {} against {}", variant.title(), person(names, Side::South), person(names, Side::North))
}

/// "Kalah: Ana against Bo after ply 12".
pub fn title(scene: &Scene) -> String {
    let players = players(scene.position.options().variant(), &scene.names);
    match scene.ply {
        0 => format!("{players}, the opening"),
        ply => format!("{players} after ply {ply}"),
    }
}

/// Everything that is to be seen, in sentences.
pub fn description(scene: &Scene, bottom: Side) -> String {
    let mut sentences = vec![row(scene, bottom, "at the bottom"), row(scene, bottom.other(), "at the top")];
    if let Some(round) = scene.position.round() {
        sentences.push(format!("Round {}.", round.number));
    }
    sentences.extend(last_move(scene));
    sentences.push(standing(scene));
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

/// What is said beside a person's name.
pub fn role(scene: &Scene, side: Side) -> &'static str {
    match &scene.standing {
        Standing::Turn(turn) if *turn == side => "to move",
        Standing::Over { winner: Some(winner), .. } if *winner == side => "won",
        Standing::Over { winner: None, .. } => "draw",
        Standing::Open if scene.names[side].is_none() => "free seat",
        Standing::Aborted => "aborted",
        Standing::Turn(_) | Standing::Over { .. } | Standing::Open => "",
    }
}

/// A name that fits into so many letters, cut if need be. Letters of East Asia, and pictures, are as wide as two others.
pub fn cut(name: &str, letters: usize) -> String {
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

/// A name without what no XML can hold, escaped or not.
fn written(name: &str) -> String {
    let is_character = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    name.chars().map(|c| if is_character(c) { c } else { '\u{fffd}' }).collect()
}

fn row(scene: &Scene, side: Side, at: &str) -> String {
    let board = scene.position.board();
    let pits = (0..board.pits_per_side()).map(|index| Pit { side, index });
    let pits = pits
        .map(|pit| if board.is_burnt(pit) { format!("{pit} burnt") } else { format!("{pit} {}", board.seeds(pit)) });
    let pits: Vec<_> = pits.collect();
    let (name, store) = (place_name(side), board.store(side));
    let who = scene.names[side].map_or_else(|| name.to_owned(), |person| format!("{name}, {}", written(person)));
    format!("{who}, {at}: {}, store {store}.", pits.join(", "))
}

fn last_move(scene: &Scene) -> Option<String> {
    let last = scene.last.as_ref()?;
    let by = last.name.map_or_else(|| place_name(last.side).to_owned(), written);
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

fn standing(scene: &Scene) -> String {
    let name = |side| person(&scene.names, side);
    match &scene.standing {
        Standing::Turn(side) => format!("{} to move.", name(*side)),
        Standing::Over { winner, reason } => {
            let how = winner.map_or_else(|| "A draw".to_owned(), |side| format!("{} won", name(side)));
            let why = reason.as_ref().map(|reason| format!(" ({})", reason.replace('_', " ")));
            format!("The game is over. {how}{}.", why.unwrap_or_default())
        }
        Standing::Open => "Waits for an opponent.".to_owned(),
        Standing::Aborted => "The game ended without a result.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_cut_where_it_ends_to_fit() {
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
    fn what_no_xml_holds_is_in_no_name() {
        assert_eq!(written("A\u{0}n\u{1b}a\u{ffff}"), "A\u{fffd}n\u{fffd}a\u{fffd}");
    }
}
