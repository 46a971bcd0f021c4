//! The content of a board's picture: the position, the players by their present names, the last move, and the status.

use mancala_db::games::SeatedGame;
use mancala_domain::{Player, PlayerKind, Ply, Seat, Status, seat_at};
use mancala_picture::{LastMove, PlayerLabel, PlayerMark, Scene, SceneStatus};
use mancala_rules::{AnyPosition, BySide, Side};

/// A game at present.
pub fn present_scene(seated: &SeatedGame) -> Scene<'_> {
    let game = &seated.game;
    let status = match game.status() {
        Status::Open => SceneStatus::Open,
        Status::Active => SceneStatus::Turn(game.position().turn()),
        Status::Finished => SceneStatus::Over {
            winner: game.result().and_then(|result| result.winner),
            reason: game.result().map(|result| result.reason.to_string()),
        },
        Status::Aborted => SceneStatus::Aborted,
    };
    Scene { status, ..past_scene(seated, game.ply(), game.position(), seated.last_ply.as_ref()) }
}

/// A game after a ply. A later end of the game is not shown, unless the rules ended it there.
pub fn past_scene<'a>(
    seated: &'a SeatedGame,
    number: u32,
    position: &'a AnyPosition,
    ply: Option<&'a Ply>,
) -> Scene<'a> {
    let last = ply.map(|ply| LastMove {
        word: ply.mv.to_string(),
        side: ply.side,
        name: Seat::ALL
            .into_iter()
            .filter_map(|seat| seated.players[seat].as_ref())
            .find(|player| player.id == ply.player)
            .map(label),
        effects: &ply.effects,
    });
    Scene { position, names: names(seated, position), ply: number, last, status: SceneStatus::of(position) }
}

/// The players by their sides in a position.
pub fn names<'a>(seated: &'a SeatedGame, position: &AnyPosition) -> BySide<Option<PlayerLabel<'a>>> {
    let name = |side| {
        let seat = seat_at(position, side);
        let second = seated.hotseat_name_at(seat);
        let second = second.map(|name| PlayerLabel { name: name.as_str(), mark: Some(PlayerMark::Hotseat) });
        second.or_else(|| seated.players[seat].as_ref().map(label))
    };
    BySide { south: name(Side::South), north: name(Side::North) }
}

/// A picture has no `kind` beside a name. So it marks the kinds that may have the name of another player.
pub fn label(player: &Player) -> PlayerLabel<'_> {
    let mark = match player.kind {
        PlayerKind::Guest => Some(PlayerMark::Guest),
        PlayerKind::Imported => Some(PlayerMark::Imported),
        PlayerKind::Account | PlayerKind::Computer | PlayerKind::Deleted | PlayerKind::App => None,
    };
    PlayerLabel { name: player.name.as_str(), mark }
}
