//! The query of a list of games: its filters and orders, which of them exclude each other, and the filter of the database.

use mancala_db::{
    kinds::{ClockKind, OpponentKind},
    lists::{Ended, Filter, GameScope, Order, PlayerGames, Statuses},
};
use mancala_domain::{PlayerId, PositionKey, Reason, Status, Visibility};
use mancala_http::answer::{code::Code, page::page_size, problem::Problem};
use mancala_rules::{AnyOptions, Side, Variant};
use mancala_wire::view::game::{StatusWord, VisibilityWord};
use serde::{Deserialize, Deserializer, de::IntoDeserializer};
use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::variants::{
    catalog::{STANDARD, chosen_variant, written_options},
    line,
};

/// The largest number of plies that a query may name: more than any game has.
const PLIES_MAX: u32 = 1_000_000;

/// Which games to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListGames {
    /// Only games of these statuses, separated by commas, such as `active,open`.
    #[serde(default, deserialize_with = "statuses")]
    #[param(value_type = Option<Vec<StatusWord>>, inline, style = Form, explode = false, min_items = 1, max_items = 4)]
    status: Option<Vec<StatusWord>>,
    /// Only games of this variant, such as `kalah`.
    variant: Option<String>,
    /// Only games of this preset. Needs `variant`. With `position`: the preset of its rules, `standard` unless given.
    preset: Option<String>,
    /// Only public games that reached this position, in text notation, and ended with a result. Needs `variant`. The moves before it
    /// make no difference, and all presets with the same rules count. A game appears some seconds after its end.
    position: Option<String>,
    /// With `position`: the options that differ from the preset, as records write them.
    #[param(max_length = 500)]
    options: Option<String>,
    /// Only games with this kind of clock.
    #[param(inline)]
    clock: Option<ClockFilter>,
    /// Only games whose second seat is, or was, for this kind of opponent. `open` with `status=open` lists the games that any player may join.
    #[param(inline)]
    opponent_type: Option<OpponentFilter>,
    /// Only games of this player: an id, or `me`.
    player: Option<String>,
    /// Only games in which this player sits as well: an id, or `me`. Needs `player`.
    opponent: Option<String>,
    /// Only active games in which the caller is to move. Implies `status=active` and `player=me`.
    #[param(inline)]
    turn: Option<TurnWord>,
    /// Only finished games with this result. `won` and `lost` are results of `player`, and need it; games against oneself have
    /// neither.
    #[param(inline)]
    result: Option<ResultWord>,
    /// Only games that ended for this reason, such as `side_empty` or `resignation`.
    reason: Option<String>,
    /// Only games with at least this many plies.
    #[param(minimum = 0, maximum = 1_000_000)]
    min_plies: Option<u32>,
    /// Only games with at most this many plies.
    #[param(minimum = 0, maximum = 1_000_000)]
    max_plies: Option<u32>,
    /// `true`: only games that were played elsewhere and imported. `false`: only the others.
    imported: Option<bool>,
    /// `true`: only games with an analysis. `false`: only the others.
    analysed: Option<bool>,
    /// `true`: only practice against the computer. `false`: only other games.
    practice: Option<bool>,
    /// Only games that this player imported: an id, or `me`. Games that are not public are listed to their importer only.
    importer: Option<String>,
    /// Only games of this visibility. All but `public` need `player`, and list only games in which the caller sits.
    #[param(inline)]
    visibility: Option<VisibilityWord>,
    /// Only games created at this moment or later; with `sort=finished_at`, finished. RFC 3339, such as `2026-11-01T00:00:00Z`.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Only games created before this moment; with `sort=finished_at`, finished. RFC 3339.
    #[param(format = DateTime)]
    until: Option<String>,
    /// The order, the latest first. `finished_at` lists finished games only. `updated_at`, `deadline` and `turn` need
    /// `status=active` and `player`, or `turn=me`. With `deadline` the nearest comes first, and games without one come last. `turn`
    /// is the same, but the games in which the player is to move come first.
    #[serde(default)]
    #[param(inline, required = false)]
    pub sort: SortWord,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    pub limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before, with the same filters.
    #[param(min_length = 1)]
    pub cursor: Option<String>,
}

/// The statuses of a query.
fn statuses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<StatusWord>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.split(',').count() > Status::ALL.len() {
        return Err(serde::de::Error::custom(format!("1 to {} statuses", Status::ALL.len())));
    }
    let words = text.split(',').map(|word| StatusWord::deserialize(word.into_deserializer()));
    words.collect::<Result<_, _>>().map(Some)
}

/// A kind of clock.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ClockFilter {
    Unlimited,
    PerMove,
    Bank,
}

/// A kind of opponent.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpponentFilter {
    Open,
    Link,
    Player,
    #[serde(rename = "self")]
    Oneself,
    Computer,
    Imported,
}

impl From<OpponentFilter> for OpponentKind {
    fn from(word: OpponentFilter) -> Self {
        match word {
            OpponentFilter::Open => OpponentKind::Open,
            OpponentFilter::Link => OpponentKind::Link,
            OpponentFilter::Player => OpponentKind::Player,
            OpponentFilter::Oneself => OpponentKind::Oneself,
            OpponentFilter::Computer => OpponentKind::Computer,
            OpponentFilter::Imported => OpponentKind::Imported,
        }
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum TurnWord {
    Me,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ResultWord {
    South,
    North,
    Draw,
    Won,
    Lost,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortWord {
    #[default]
    CreatedAt,
    FinishedAt,
    UpdatedAt,
    Deadline,
    Turn,
}

impl SortWord {
    /// The word to which cursors are bound: it never changes.
    pub const fn cursor_word(self) -> &'static str {
        match self {
            Self::CreatedAt => "CreatedAt",
            Self::FinishedAt => "FinishedAt",
            Self::UpdatedAt => "UpdatedAt",
            Self::Deadline => "Deadline",
            Self::Turn => "Turn",
        }
    }
}

impl ListGames {
    /// The filter of the query. Filters that exclude each other are refused, because an empty list would not show the mistake.
    pub fn filter(&self, viewer: Option<PlayerId>) -> Result<Filter, Problem> {
        let variant = self.variant.as_deref().map(|name| chosen_variant("?variant", name)).transpose()?;
        let (since, until) = (moment("?since", self.since.as_deref())?, moment("?until", self.until.as_deref())?);
        if since.is_some() && until.is_some() && since >= until {
            return Err(Problem::invalid("?until", "`until` is not after `since`"));
        }
        let order = match self.sort {
            SortWord::CreatedAt => Order::Created,
            SortWord::FinishedAt => Order::Finished,
            SortWord::UpdatedAt => Order::Updated,
            SortWord::Deadline => Order::Deadline,
            SortWord::Turn => Order::Turn,
        };
        Ok(Filter {
            whose: match self.position(variant)? {
                Some(position) => GameScope::At(position),
                None => self.whose(viewer)?,
            },
            status: self.status()?,
            variant,
            preset: match (&self.position, &self.preset) {
                (None, Some(preset)) => Some(known_preset(variant, preset)?),
                // With a position, the preset belongs to its rules.
                _ => None,
            },
            clock: self.clock.map(|clock| match clock {
                ClockFilter::Unlimited => ClockKind::Unlimited,
                ClockFilter::PerMove => ClockKind::PerMove,
                ClockFilter::Bank => ClockKind::Bank,
            }),
            open_to: self.opponent_type.map(OpponentKind::from),
            ended: self.result.map(|result| match result {
                ResultWord::South => Ended::WonBy(Side::South),
                ResultWord::North => Ended::WonBy(Side::North),
                ResultWord::Draw => Ended::Drawn,
                ResultWord::Won => Ended::Won,
                ResultWord::Lost => Ended::Lost,
            }),
            reason: self.reason()?,
            plies: self.plies()?,
            imported: self.imported,
            analysed: self.analysed,
            practice: self.practice,
            since,
            until,
            order,
            viewer,
        })
    }

    /// The position that the games reached, if the query has one.
    fn position(&self, variant: Option<Variant>) -> Result<Option<PositionKey>, Problem> {
        let Some(text) = &self.position else {
            return match self.options {
                Some(_) => {
                    Err(Problem::invalid("?options", "`options` needs `position`: they are the options of its rules"))
                }
                None => Ok(None),
            };
        };
        let with = [
            ("?player", self.player.is_some()),
            ("?opponent", self.opponent.is_some()),
            ("?turn", self.turn.is_some()),
            ("?importer", self.importer.is_some()),
            ("?visibility", self.visibility.is_some_and(|word| Visibility::from(word) != Visibility::Public)),
            ("?sort", self.sort != SortWord::CreatedAt),
            ("?result", matches!(self.result, Some(ResultWord::Won | ResultWord::Lost))),
        ];
        if let Some((name, _)) = with.into_iter().find(|(_, is_given)| *is_given) {
            let detail = "`position` lists the public games of all players, the newest first, and excludes it";
            return Err(Problem::invalid(name, detail));
        }
        let variant =
            variant.ok_or_else(|| Problem::invalid_as("required", "?variant", "`position` needs `variant`"))?;
        let preset = self.preset.as_deref().unwrap_or(STANDARD);
        let options = written_options(variant, preset, self.options.as_deref().unwrap_or_default())?;
        let position = line::start(&options, Some(text), "?position")?;
        Ok(Some(PositionKey::from(&position)))
    }

    fn reason(&self) -> Result<Option<String>, Problem> {
        let reason = self.reason.as_deref().map(str::parse::<Reason>).transpose();
        let unknown = |_| Problem::not_one_of("?reason", "there is no such reason to end a game", Reason::all());
        let reason = reason.map_err(unknown)?;
        Ok(reason.map(|reason| reason.to_string()))
    }

    fn plies(&self) -> Result<(i32, i32), Problem> {
        for (name, plies) in [("?min_plies", self.min_plies), ("?max_plies", self.max_plies)] {
            if plies.is_some_and(|plies| plies > PLIES_MAX) {
                return Err(Problem::invalid_as("out_of_range", name, format!("at most {PLIES_MAX}")));
            }
        }
        let [least, most] = [self.min_plies.unwrap_or(0), self.max_plies.unwrap_or(u32::MAX)];
        if least > most {
            return Err(Problem::invalid("?max_plies", "`max_plies` is less than `min_plies`"));
        }
        Ok((i32::try_from(least).unwrap_or(i32::MAX), i32::try_from(most).unwrap_or(i32::MAX)))
    }

    /// The player whose imports are listed, if the query has one.
    fn importer(&self, viewer: Option<PlayerId>) -> Result<Option<PlayerId>, Problem> {
        let importer = player("?importer", self.importer.as_deref(), viewer)?;
        let with = [
            ("?player", self.player.is_some()),
            ("?opponent", self.opponent.is_some()),
            ("?turn", self.turn.is_some()),
            ("?visibility", self.visibility.is_some()),
            ("?sort", self.sort != SortWord::CreatedAt),
            ("?imported", self.imported == Some(false)),
            ("?result", matches!(self.result, Some(ResultWord::Won | ResultWord::Lost))),
            ("?clock", self.clock.is_some()),
            ("?opponent_type", self.opponent_type.is_some()),
        ];
        match with.into_iter().find(|(_, is_given)| *is_given && importer.is_some()) {
            Some((name, _)) => {
                Err(Problem::invalid(name, "a list of imported games has no such filter: `importer` excludes it"))
            }
            None => Ok(importer),
        }
    }

    pub fn check_limit(&self) -> Result<(), Problem> {
        page_size(self.limit).map(|_| ())
    }

    fn whose(&self, viewer: Option<PlayerId>) -> Result<GameScope, Problem> {
        if let Some(importer) = self.importer(viewer)? {
            return Ok(GameScope::ImportedBy(importer));
        }
        let player = player("?player", self.player.as_deref(), viewer)?;
        let player = match self.turn {
            None => player,
            Some(TurnWord::Me) if player.is_none() || player == viewer => {
                Some(viewer.ok_or_else(|| no_caller("turn=me"))?)
            }
            Some(TurnWord::Me) => {
                return Err(Problem::invalid(
                    "?turn",
                    "`turn=me` lists the caller's games, and `player` is another player",
                ));
            }
        };
        let opponent = self::player("?opponent", self.opponent.as_deref(), viewer)?;
        let visibility = self.visibility.map(Visibility::from);
        let listed = visibility.is_none_or(|visibility| visibility == Visibility::Public);
        let Some(player) = player else {
            if opponent.is_some() {
                return Err(Problem::invalid("?opponent", "`opponent` needs `player`"));
            }
            if matches!(self.result, Some(ResultWord::Won | ResultWord::Lost)) {
                return Err(Problem::invalid(
                    "?result",
                    "`won` and `lost` need `player`: they are results of one player",
                ));
            }
            if !listed {
                return Err(Problem::invalid("?visibility", "without `player`, only public games are listed"));
            }
            return Ok(GameScope::Public);
        };
        if !listed && viewer.is_none() {
            return Err(no_caller("games that are not public are listed to their players only: this call"));
        }
        Ok(GameScope::Players(PlayerGames { player, opponent, visibility, to_move: self.turn.is_some() }))
    }

    /// The status that the query names or implies.
    fn status(&self) -> Result<Statuses, Problem> {
        let mut status: Statuses = self.status.iter().flatten().map(|word| Status::from(*word)).collect();
        let implied = [
            ("?turn", self.turn.map(|_| Status::Active)),
            ("?result", self.result.map(|_| Status::Finished)),
            ("?reason", self.reason.as_ref().map(|_| Status::Finished)),
            ("?position", self.position.as_ref().map(|_| Status::Finished)),
            ("?sort", (self.sort == SortWord::FinishedAt).then_some(Status::Finished)),
        ];
        for (name, implied) in implied {
            let Some(implied) = implied else { continue };
            if !status.has(implied) {
                let detail = format!("this lists only {} games, and another filter excludes them", implied.as_str());
                return Err(Problem::invalid(name, detail));
            }
            status = Statuses::One(implied);
        }
        let of_active = matches!(self.sort, SortWord::UpdatedAt | SortWord::Deadline | SortWord::Turn);
        if of_active && (!status.is_only(Status::Active) || self.player.is_none() && self.turn.is_none()) {
            let detail = "only a player's active games have this order: it needs `status=active` and `player`";
            return Err(Problem::invalid("?sort", detail));
        }
        if status.is_only(Status::Open) && self.opponent.is_some() {
            return Err(Problem::invalid("?opponent", "an open game has no opponent yet; see /v1/me/invitations"));
        }
        Ok(status)
    }
}

/// A preset of a variant.
fn known_preset(variant: Option<Variant>, preset: &str) -> Result<&'static str, Problem> {
    let variant = variant.ok_or_else(|| Problem::invalid("?preset", "`preset` needs `variant`"))?;
    let options = AnyOptions::new(variant, preset, &[]);
    let presets = variant.presets().iter().map(|preset| preset.name);
    options
        .map(|options| options.preset())
        .map_err(|_| Problem::not_one_of("?preset", "the variant has no such preset", presets))
}

/// A player in a query: an id, or the caller.
fn player(name: &str, value: Option<&str>, viewer: Option<PlayerId>) -> Result<Option<PlayerId>, Problem> {
    match value {
        None => Ok(None),
        Some("me") => viewer.map(Some).ok_or_else(|| no_caller(&format!("{}=me", &name[1..]))),
        Some(id) => {
            let id = Uuid::try_parse(id)
                .map_err(|_| Problem::invalid_as("wrong_format", name, "a player is an id, or `me`"))?;
            Ok(Some(PlayerId(id)))
        }
    }
}

fn no_caller(what: &str) -> Problem {
    Problem::new(Code::Unauthenticated, format!("{what} needs an access token"))
}

fn moment(name: &str, value: Option<&str>) -> Result<Option<OffsetDateTime>, Problem> {
    let Some(text) = value else { return Ok(None) };
    let moment = OffsetDateTime::parse(text, &Rfc3339).ok().and_then(|moment| moment.checked_to_offset(UtcOffset::UTC));
    moment.map(Some).ok_or_else(|| {
        let detail = "a moment is RFC 3339, as in 2026-11-21T20:15:00.000Z; a `+` in a query is written %2B";
        Problem::invalid_as("wrong_format", name, detail)
    })
}
