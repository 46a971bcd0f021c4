//! `operators`, `players` and `reports`: the keys of operators, and their acts from the command line.

use std::fmt::Write as _;

use mancala_server::{
    clock::now,
    config::{GamesOfSuspended, Operators, Players, ReportFinding, Reports, Serve},
    db::{
        games, migrations,
        operators::{
            Deed, Finding,
            acts::{self, Act, Acted, Reading},
            keys::{self, COMMAND_LINE},
        },
        players::{
            self,
            reports::{self, Report, Which},
            suspensions::{self, SuspendedGames},
        },
    },
    domain::{PlayerId, PlayerKind, PlayerName, Remark},
    http::{ListForm, new_operator_key, operator_key_hash, write_game},
};
use sqlx::PgPool;
use time::Duration;
use uuid::Uuid;

use super::{database::with_database, failure::Failure, output::print};

/// How much is shown at once.
const SHOWN_MAX: u32 = 100;

/// The longest name of an operator.
const NAME_CHARS_MAX: usize = 32;

pub fn operators(options: &Serve, operators: &Operators) -> Result<(), Failure> {
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let now = now();
        let key = new_operator_key();
        let hash = operator_key_hash(key.as_bytes()).expect("a new key is one");
        let (done, text) = match operators {
            Operators::Create { name } => {
                check_name(name)?;
                let stored = keys::insert(&pool, name, &hash, now).await.map_err(Failure::new)?;
                return if stored { Ok(format!("{key}\n")) } else { Err(Failure::new("there is such an operator")) };
            }
            Operators::List => return list_operators(&pool).await,
            Operators::Rotate { name } => (keys::rotate(&pool, name, &hash, now).await, format!("{key}\n")),
            Operators::Disable { name } => (keys::disable(&pool, name, now).await, String::new()),
        };
        if done.map_err(Failure::new)? { Ok(text) } else { Err(Failure::new("there is no such operator")) }
    })?;
    print(&text)
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(is_allowed) {
        return Err(Failure::misuse("an operator's name has 1 to 32 of `a` to `z`, `0` to `9`, `-`, `_` and `.`"));
    }
    Ok(())
}

async fn list_operators(pool: &PgPool) -> Result<String, Failure> {
    let mut text = String::new();
    for operator in keys::list(pool, SHOWN_MAX).await.map_err(Failure::new)? {
        let state = if operator.disabled_at.is_some() { "disabled" } else { "enabled" };
        writeln!(text, "{}  {state}  key of {}", operator.name, operator.rotated_at).expect(NEVER_FAILS);
    }
    Ok(text)
}

/// Why writing to a string is not checked.
const NEVER_FAILS: &str = "writing to a string does not fail";

pub fn players(options: &Serve, players: &Players) -> Result<(), Failure> {
    let (player, deed, reason) = match players {
        Players::Show { player } => return show(options, PlayerId(*player)),
        Players::Warn { player, reason } => (player, Deed::Warn, reason),
        Players::Rename { player, name, reason } => {
            (player, Deed::Rename(name.parse::<PlayerName>().map_err(Failure::misuse)?), reason)
        }
        Players::Suspend { player, days, reason, games } => {
            let until = now() + Duration::days(days.get().into());
            let games = match games {
                GamesOfSuspended::PlayOn => SuspendedGames::PlayOn,
                GamesOfSuspended::Stop => SuspendedGames::Stop,
                GamesOfSuspended::End => SuspendedGames::End,
            };
            (player, Deed::Suspend { until, games }, reason)
        }
        Players::Ban { player, reason } => (player, Deed::Ban, reason),
        Players::Lift { player, reason } => (player, Deed::Lift, reason),
        Players::Erase { players } => return erase(options, players),
    };
    let reason: Remark = reason.parse().map_err(Failure::misuse)?;
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        told(acts::act(&pool, COMMAND_LINE, PlayerId(*player), &deed, &reason, now()).await.map_err(Failure::new)?)
    })?;
    print(&text)
}

/// Erases guests and accounts. A server ends their games, and deletes what they have imported, within minutes.
fn erase(options: &Serve, ids: &[Uuid]) -> Result<(), Failure> {
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        let mut text = String::new();
        for id in ids {
            let found = players::find(&pool, PlayerId(*id)).await.map_err(Failure::new)?;
            let became = match found.map(|found| found.player.kind) {
                Some(PlayerKind::Guest | PlayerKind::Account) => {
                    players::erase(&pool, PlayerId(*id), None, now()).await.map_err(Failure::new)?;
                    "is erased"
                }
                Some(PlayerKind::Deleted) => "was erased before",
                Some(PlayerKind::Computer | PlayerKind::Imported | PlayerKind::App) => "is no person, and stays",
                None => "does not exist",
            };
            writeln!(text, "{id}  {became}").expect(NEVER_FAILS);
        }
        Ok(text)
    })?;
    print(&text)
}

/// The line that reports an act, or its failure.
fn told(acted: Acted) -> Result<String, Failure> {
    match acted {
        Acted::Done(act, _) => Ok(act_line(&act)),
        Acted::Unknown => Err(Failure::new("there is no such player or report")),
        Acted::NoPerson => Err(Failure::new("operators act on guests and accounts only")),
        Acted::NameTaken => Err(Failure::new("an account has this name, or one that reads alike")),
        Acted::Nothing => Err(Failure::new("there is nothing to end: it has ended already")),
    }
}

fn show(options: &Serve, player: PlayerId) -> Result<(), Failure> {
    let text = with_database(options, async |_, pool| {
        let found = players::find(&pool, player).await.map_err(Failure::new)?;
        let found = found.ok_or_else(|| Failure::new("there is no such player"))?.player;
        let mut text = format!("{}  {}  since {}\n", found.name, found.kind.as_str(), found.created_at);
        let suspension = suspensions::find(&pool, player).await.map_err(Failure::new)?;
        if let Some(suspension) = suspension.filter(|suspension| suspension.is_active(now())) {
            let end = suspension.until.map_or_else(|| "banned".to_owned(), |until| format!("suspended until {until}"));
            let (games, reason) = (suspension.games.as_str(), one_line(suspension.reason.as_str()));
            writeln!(text, "{end}, games {games}: {reason}").expect(NEVER_FAILS);
        }
        for report in reports::list(&pool, Which::About(player), None, SHOWN_MAX).await.map_err(Failure::new)? {
            text.push_str(&report_line(&report));
        }
        for act in acts::list_acts(&pool, Some(player), None, SHOWN_MAX).await.map_err(Failure::new)? {
            text.push_str(&act_line(&act));
        }
        Ok(text)
    })?;
    print(&text)
}

pub fn reports(options: &Serve, reports: &Reports) -> Result<(), Failure> {
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let (report, finding, remark) = match reports {
            Reports::List { after } => {
                let found = reports::list(&pool, Which::Open, *after, SHOWN_MAX).await.map_err(Failure::new)?;
                return Ok(found.iter().map(report_line).collect());
            }
            Reports::Show { report } => return reported_game(&pool, *report).await,
            Reports::Close { report, finding, remark } => (report, finding, remark),
        };
        let finding = match finding {
            ReportFinding::Upheld => Finding::Upheld,
            ReportFinding::Rejected => Finding::Rejected,
        };
        let remark = remark.as_ref().map(|remark| remark.parse::<Remark>()).transpose().map_err(Failure::misuse)?;
        let closed = acts::close_report(&pool, COMMAND_LINE, *report, finding, remark.as_ref(), now()).await;
        told(closed.map_err(Failure::new)?)
    })?;
    print(&text)
}

/// The record of the game that a report names.
async fn reported_game(pool: &PgPool, report: Uuid) -> Result<String, Failure> {
    let game = match acts::read_game(pool, COMMAND_LINE, report, now()).await.map_err(Failure::new)? {
        Reading::Allowed(game) => game,
        Reading::Unknown => return Err(Failure::new("there is no such report")),
        Reading::NoGame => return Err(Failure::new("the report names no game")),
        Reading::Closed => return Err(Failure::new("the report is closed")),
    };
    let found = games::find(pool, game).await.map_err(Failure::new)?;
    let seated = found.ok_or_else(|| Failure::new("the game was deleted"))?;
    let plies = games::plies(pool, &seated.game, 0, seated.game.ply()).await.map_err(Failure::new)?;
    let mut text = String::new();
    write_game(&mut text, ListForm::Text, &seated, &plies, None, None);
    Ok(text)
}

fn report_line(report: &Report) -> String {
    let Report { id, reporter, reported, reason, created_at, .. } = report;
    let state = report.finding.as_deref().unwrap_or("open");
    let mut line = format!(
        "report {id}  {created_at}  {state}  {}  {} {} by {} {}",
        reason.as_str(),
        reported.id.0,
        reported.name,
        reporter.id.0,
        reporter.name
    );
    if let Some((game, version)) = report.game {
        write!(line, "  game {} at version {version}", game.0).expect(NEVER_FAILS);
    }
    if let Some(note) = &report.note {
        write!(line, "  {}", one_line(note.as_str())).expect(NEVER_FAILS);
    }
    line + "\n"
}

fn act_line(act: &Act) -> String {
    let player = act.player.map(|player| player.0.to_string()).unwrap_or_default();
    let reason = act.reason.as_deref().map(one_line).unwrap_or_default();
    format!("act {}  {}  {}  {}  {player}  {reason}\n", act.id, act.at, act.operator, act.act)
}

/// A text without line feeds and tabs.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\t'], " ")
}
