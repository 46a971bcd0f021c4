//! The settings of a new game, and the terms that they make.

use std::ops::{Not, RangeInclusive};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_db::{DbError, games, players};
use mancala_domain::{Clock, GameId, Level, Opponent, PlayerId, PlayerName, Seat, Start, Terms, Visibility};
use mancala_http::{
    answer::{faults::Faults, problem::Problem},
    request::{extract, names::parse_name_at},
    state::{AppState, name_rules::NameRules, tokens::Caller},
};
use mancala_rules::{AnyOptions, AnyPosition, Variant};
use mancala_wire::view::{game::VisibilityWord, options::OptionValueView};
use serde::{Deserialize, Serialize};
use time::Duration;
use utoipa::{
    ToSchema,
    openapi::{Object, ObjectBuilder, Type},
};
use uuid::Uuid;

use super::contested::is_contested;
use crate::variants::{
    catalog::{STANDARD, chosen_options, chosen_variant},
    line,
};

/// Random bytes of a join code: 144 bits, 24 characters.
const JOIN_CODE_BYTES: usize = 18;

/// Why a player is not invited: none that is, or a block.
const NOT_INVITED: &str = "no such player can be invited";

/// The settings of a new game.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateGame {
    #[serde(default, deserialize_with = "extract::some_text")]
    #[schema(schema_with = variant_word, required = false)]
    variant: Option<String>,
    /// A preset of the variant; `standard` unless given.
    #[serde(default, deserialize_with = "extract::some_text")]
    #[schema(nullable = false, example = "standard")]
    preset: Option<String>,
    /// The options that differ from the preset.
    #[serde(default, deserialize_with = "extract::entries")]
    #[schema(required = false, value_type = BTreeMap<String, OptionValueView>)]
    options: Vec<(String, OptionValueView)>,
    /// The position of another game with which this game begins, instead of the opening. The rules are then those of that game.
    #[serde(default, deserialize_with = "extract::some_object")]
    #[schema(nullable = false)]
    from: Option<FromGame>,
    /// The position with which the game begins, instead of the opening of its options.
    #[serde(default, deserialize_with = "extract::some_object", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    start: Option<StartChoice>,
    /// The creator's side of the board. South opens.
    #[serde(default, deserialize_with = "extract::word")]
    #[schema(required = false)]
    side: SideChoice,
    /// Who may take the other seat; `open` unless given, and `link` for a private game.
    #[serde(default, deserialize_with = "extract::some_object")]
    #[schema(nullable = false)]
    opponent: Option<OpponentChoice>,
    /// The time control.
    #[serde(default, deserialize_with = "extract::object")]
    #[schema(required = false)]
    clock: ClockChoice,
    /// `public` unless given; `unlisted` of games by link, against the computer, and against oneself with a second name.
    #[serde(default, deserialize_with = "extract::some_word", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    visibility: Option<VisibilityWord>,
    /// Whether it is practice, which only a game against the `computer` can be; `false` unless given. The player takes turns back at
    /// once, gets hints and analyses during play, and a rematch at once. Practice counts in no figure and in no explorer.
    #[serde(default, skip_serializing_if = "Not::not")]
    #[schema(required = false)]
    practice: bool,
}

/// The schema of a variant's name. It lists the names, so that a body of the wrong form is also refused for an unknown one.
fn variant_word() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(Variant::ALL.map(|variant| variant.to_string())))
        .description(Some("The variant: see `GET /v1/variants`. Required without `from`."))
        .examples([Variant::ALL[0].to_string()])
        .build()
}

/// The position with which a game begins.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StartChoice {
    /// In text notation, with as many seeds as the options say. It has a move.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
}

/// A position of another game that the caller may read.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FromGame {
    #[schema(value_type = Uuid)]
    game_id: String,
    /// The ply that led to the position; 0 for the position with which that game began.
    #[schema(minimum = 0, example = 12)]
    ply: u32,
}

/// Which side to play.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SideChoice {
    South,
    North,
    /// Chosen at random.
    #[default]
    Random,
}

/// Who may take the other seat.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum OpponentChoice {
    /// Anyone who can see the game.
    Open {},
    /// Any player with the join code.
    Link {},
    /// Only this player, who may also decline: named by its id, or an account by its name.
    Player {
        #[serde(default, deserialize_with = "extract::some_text", skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, value_type = Option<Uuid>)]
        player_id: Option<String>,
        /// The whole name, as the account signs in with it.
        #[serde(default, deserialize_with = "extract::some_text", skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, min_length = 1, max_length = 32, example = "Bo")]
        name: Option<String>,
    },
    /// None: one player plays both sides.
    #[serde(rename = "self")]
    Oneself {
        /// The name of the person at the other seat, who is no player.
        #[serde(default, deserialize_with = "extract::some_text", skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, min_length = 1, max_length = 32, example = "Bo")]
        name: Option<String>,
    },
    /// The server. Play begins at once.
    Computer {
        /// The strength: 1 is a beginner, 8 is as strong as the computer can play within about a second.
        #[schema(minimum = 1, maximum = 8, example = 3)]
        level: u8,
    },
}

/// How much time the players have. All moves of a player until the opponent is to move are one turn.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ClockChoice {
    /// No limit.
    Unlimited {},
    /// A fixed time for each turn.
    PerMove {
        #[schema(minimum = 60, maximum = 2_592_000, example = 86400)]
        move_s: u32,
    },
    /// A time for all turns together. Unused time is kept.
    Bank {
        /// The bank of each side at the start.
        #[schema(minimum = 60, maximum = 2_592_000, example = 259_200)]
        bank_s: u32,
        /// The time that is added after each turn.
        #[serde(default)]
        #[schema(required = false, minimum = 0, maximum = 2_592_000, example = 3600)]
        increment_s: u32,
        /// The most that a bank holds; not less than `bank_s`.
        #[serde(default = "longest")]
        #[schema(required = false, minimum = 60, maximum = 2_592_000, default = 2_592_000, example = 604_800)]
        max_s: u32,
    },
}

/// The shortest and the longest time that a clock gives, in seconds: a minute and thirty days.
const CLOCK_S: RangeInclusive<u32> = 60..=30 * 24 * 60 * 60;

const fn longest() -> u32 {
    *CLOCK_S.end()
}

impl Default for ClockChoice {
    fn default() -> Self {
        ClockChoice::Unlimited {}
    }
}

impl ClockChoice {
    fn clock(self, faults: &mut Faults) -> Result<Clock, Problem> {
        let mut within = |field: &str, seconds: u32, least: u32| {
            if !(least..=longest()).contains(&seconds) {
                let detail = format!("from {least} to {} seconds", longest());
                faults.add(Problem::invalid(format!("/clock/{field}"), detail))?;
            }
            Ok::<_, Problem>(Duration::seconds(seconds.into()))
        };
        let least = *CLOCK_S.start();
        Ok(match self {
            ClockChoice::Unlimited {} => Clock::Unlimited,
            ClockChoice::PerMove { move_s } => Clock::PerMove { allowance: within("move_s", move_s, least)? },
            ClockChoice::Bank { bank_s, increment_s, max_s } => Clock::Bank {
                initial: within("bank_s", bank_s, least)?,
                increment: within("increment_s", increment_s, 0)?,
                // A bank that is too long itself has no room for a longer one.
                max: within("max_s", max_s, bank_s.clamp(least, longest()))?,
            },
        })
    }
}

/// The rules of a new game, and the start position if it is not their opening.
pub(super) type Base = (AnyOptions, Option<Start>);

impl StartChoice {
    /// The start of a game by these options.
    fn position(&self, options: &AnyOptions) -> Result<Start, Problem> {
        let position = line::start(options, Some(&self.position), "/start/position")?;
        if position.outcome().is_some() {
            return Err(Problem::invalid("/start/position", "the game is over in this position"));
        }
        Ok(Start { position: position.afresh(), from: None })
    }
}

impl CreateGame {
    /// Whether the creator wants a certain side.
    pub(super) const fn wants_side(&self) -> bool {
        !matches!(self.side, SideChoice::Random)
    }

    /// The terms of a game that is sought: it is open to any player, public, and begins with the opening.
    pub(super) fn sought_terms(self) -> Result<Terms, Problem> {
        let mut faults = Faults::default();
        if !matches!(self.opponent, None | Some(OpponentChoice::Open {})) {
            faults.add(Problem::invalid("/opponent/type", "a game that is sought is `open` to any player"))?;
        }
        if !matches!(self.visibility, None | Some(VisibilityWord::Public)) {
            faults.add(Problem::invalid("/visibility", "a game that is sought is `public`"))?;
        }
        for (field, is_given) in [("/from", self.from.is_some()), ("/start", self.start.is_some())] {
            if is_given {
                faults.add(Problem::invalid(field, "a game that is sought begins with the opening"))?;
            }
        }
        // The other parts are checked as those of a game that may be sought.
        let sought = Self { opponent: None, visibility: None, from: None, start: None, ..self };
        let base = faults.take(sought.chosen_base())?;
        sought.terms(base, faults)
    }

    /// The rules, and the start position if it is not their opening.
    pub(super) async fn base(
        &self,
        state: &AppState,
        caller: Caller,
        faults: &mut Faults,
    ) -> Result<Option<Base>, Problem> {
        match &self.from {
            Some(from) => self.base_from(from, state, caller, faults).await,
            None => faults.take(self.chosen_base()),
        }
    }

    /// [`Self::base`] for a game that continues no other. The position depends on the options, and the options on the variant.
    fn chosen_base(&self) -> Result<Base, Problem> {
        let missing = || Problem::invalid_as("required", "/variant", "`variant` is required without `from`");
        let variant = chosen_variant("/variant", self.variant.as_deref().ok_or_else(missing)?)?;
        let preset = self.preset.as_deref().unwrap_or(STANDARD);
        let options = chosen_options(variant, preset, self.options.clone(), |spec| spec.kind)?;
        let start = self.start.as_ref().map(|start| start.position(&options)).transpose()?;
        if start.is_none() && AnyPosition::opening(&options).outcome().is_some() {
            return Err(Problem::invalid("/options", "a game with these options is over before its first move"));
        }
        Ok((options, start))
    }

    /// [`Self::base`] for a game that continues another.
    async fn base_from(
        &self,
        from: &FromGame,
        state: &AppState,
        caller: Caller,
        faults: &mut Faults,
    ) -> Result<Option<Base>, Problem> {
        let given = [
            ("/variant", self.variant.is_some()),
            ("/preset", self.preset.is_some()),
            ("/options", !self.options.is_empty()),
            ("/start", self.start.is_some()),
        ];
        for (field, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
            let detail = "a game that continues another has the same rules: `from` excludes it";
            faults.add(Problem::invalid(field, detail))?;
        }
        let position = self.position_from(from, state, caller).await;
        faults.take(position)
    }

    /// The position of another game, and the rules of that game.
    async fn position_from(&self, from: &FromGame, state: &AppState, caller: Caller) -> Result<Base, Problem> {
        let unknown = || Problem::invalid("/from/game_id", "there is no such game");
        let id = GameId(Uuid::try_parse(&from.game_id).map_err(|_| unknown())?);
        let found = games::find(&state.db, id).await?.map(|seated| seated.game);
        let game = found.filter(|game| game.is_visible_to(Some(caller.player))).ok_or_else(unknown)?;
        if matches!(self.opponent, Some(OpponentChoice::Computer { .. })) {
            let detail = "the computer continues only games that are over, or that one player plays alone";
            if is_contested(state, &game).await? {
                return Err(Problem::invalid("/from/game_id", detail));
            }
        }
        let position = match from.ply.checked_sub(1) {
            None => game.terms().opening(),
            Some(before) => {
                let ply = games::plies(&state.db, &game, before, 1).await?.pop();
                let unknown = || Problem::invalid("/from/ply", "the game has no such ply");
                ply.filter(|ply| ply.number == from.ply).ok_or_else(unknown)?.position
            }
        };
        if position.outcome().is_some() {
            return Err(Problem::invalid("/from/ply", "the game is over after this ply"));
        }
        Ok((game.terms().options, Some(Start { position: position.afresh(), from: Some((id, from.ply)) })))
    }

    /// Checks that the invited player exists, is not the creator, and that there is no block between the two. One that is given by its name is
    /// looked up last: [`Self::invited_name`].
    pub(super) async fn check_invited(&self, state: &AppState, creator: PlayerId) -> Result<(), Problem> {
        let Some(OpponentChoice::Player { player_id, name }) = &self.opponent else { return Ok(()) };
        let at = "/opponent/player_id";
        match (player_id, name) {
            (Some(id), None) => check_invited(state, creator, invited(id)?, at).await,
            (None, Some(_)) => Ok(()),
            (None, None) => Err(Problem::invalid_as("required", at, "`player_id` or `name` says who is invited")),
            (Some(_), Some(_)) => Err(Problem::invalid("/opponent/name", "`player_id` says already who is invited")),
        }
    }

    /// The name of the invited player, if it is given by its name.
    pub(super) fn invited_name(&self) -> Option<String> {
        match &self.opponent {
            Some(OpponentChoice::Player { name, .. }) => name.clone(),
            _ => None,
        }
    }

    /// The name of the person at the second seat of a game against oneself. The rules are those of players' names.
    pub(super) fn hotseat_name(&self, rules: &NameRules) -> Result<Option<PlayerName>, Problem> {
        let Some(OpponentChoice::Oneself { name: Some(name) }) = &self.opponent else { return Ok(None) };
        parse_name_at("/opponent/name", name, rules).map(Some)
    }

    /// The visibility. By default a game is unlisted if it names a person who is no player, or if few others would want to join it.
    fn visibility(&self) -> Visibility {
        let is_unlisted = matches!(
            self.opponent,
            Some(OpponentChoice::Link {} | OpponentChoice::Computer { .. } | OpponentChoice::Oneself { name: Some(_) })
        );
        let by_default = if is_unlisted { Visibility::Unlisted } else { Visibility::Public };
        self.visibility.map_or(by_default, Visibility::from)
    }

    /// Who may take the other seat of a game that is private or not.
    fn opponent(&self, private: bool) -> Result<Opponent, Problem> {
        let by_default = if private { OpponentChoice::Link {} } else { OpponentChoice::Open {} };
        Ok(match self.opponent.as_ref().unwrap_or(&by_default) {
            OpponentChoice::Open {} if private => {
                let detail = "other players cannot find a private game: choose `link`, or another visibility";
                return Err(Problem::invalid("/opponent/type", detail));
            }
            OpponentChoice::Link {} => Opponent::Link { join_code: new_join_code() },
            OpponentChoice::Player { player_id: Some(player_id), .. } => {
                Opponent::Player { player: invited(player_id)? }
            }
            // This is a placeholder for an account that is given by its name, which is looked up after all other checks.
            OpponentChoice::Open {} | OpponentChoice::Player { .. } => Opponent::Open,
            OpponentChoice::Oneself { .. } => Opponent::Oneself,
            OpponentChoice::Computer { level } => {
                let level = Level::try_from(*level);
                let level = level.map_err(|error| Problem::invalid("/opponent/level", error.to_string()))?;
                Opponent::Computer { level }
            }
        })
    }

    /// The terms, or all faults: those that were found before, and those of the other parts.
    pub(super) fn terms(self, base: Option<Base>, mut faults: Faults) -> Result<Terms, Problem> {
        let visibility = self.visibility();
        let opponent = faults.take(self.opponent(visibility == Visibility::Private))?;
        let clock = self.clock.clock(&mut faults)?;
        if self.practice && !matches!(self.opponent, Some(OpponentChoice::Computer { .. })) {
            faults.add(Problem::invalid("/practice", "only a game against the `computer` is practice"))?;
        }
        let ((options, start), opponent) = faults.unless_any(base.zip(opponent))?;
        let south = match self.side {
            SideChoice::South => true,
            SideChoice::North => false,
            SideChoice::Random => rand::random(),
        };
        // After a pie swap in the other game, the players of this game sit swapped as well.
        let is_swapped = start.as_ref().is_some_and(|start| start.position.swapped());
        let creator = if south == is_swapped { Seat::Second } else { Seat::First };
        Ok(Terms {
            options,
            rules_version: options.variant().rules_version(),
            opponent,
            clock,
            visibility,
            creator,
            start,
            is_practice: self.practice,
        })
    }
}

/// The player whom a new game invites.
fn invited(player_id: &str) -> Result<PlayerId, Problem> {
    let id = Uuid::try_parse(player_id);
    id.map(PlayerId).map_err(|_| Problem::invalid("/opponent/player_id", "a player's id is a UUID"))
}

/// A join code by chance.
pub(super) fn new_join_code() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; JOIN_CODE_BYTES]>())
}

/// The account with this name, as it may be invited. Only a request without another fault may look it up, so that each costs its calls and a game.
pub(super) async fn find_invited(state: &AppState, creator: PlayerId, name: &str) -> Result<Opponent, Problem> {
    let at = "/opponent/name";
    let found = match PlayerName::for_sign_in(name) {
        Some(name) => players::people::find_by_name(&state.db, &name).await?,
        None => None,
    };
    let player = found.ok_or_else(|| Problem::invalid(at, NOT_INVITED))?;
    check_invited(state, creator, player, at).await?;
    Ok(Opponent::Player { player })
}

/// A block, and a player who does not let the creator invite it, are answered like a player that cannot play. So the answer does not say that there
/// is one.
async fn check_invited(state: &AppState, creator: PlayerId, player: PlayerId, at: &'static str) -> Result<(), Problem> {
    if player == creator {
        return Err(Problem::invalid(at, "a player cannot invite themselves: choose `self` to play both sides"));
    }
    let found = players::find(&state.db, player).await?.map(|own| own.player);
    let is_open = found.is_some_and(|player| player.kind.is_person()) && may_invite(state, creator, player).await?;
    is_open.then_some(()).ok_or_else(|| Problem::invalid(at, NOT_INVITED))
}

/// Whether a player may invite another one: there is no block between the two, and the other's settings allow it.
pub(super) async fn may_invite(state: &AppState, creator: PlayerId, invited: PlayerId) -> Result<bool, DbError> {
    Ok(!players::blocks::is_between(&state.db, creator, invited).await?
        && players::settings::lets_invite(&state.db, invited, creator).await?)
}
