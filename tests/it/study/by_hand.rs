//! The explorer by hand: what it says of all positions, and what counting games by chance gives.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mancala_server::{
    db::{
        records::import::{self, Whole},
        study::{
            chunk::decode,
            explorer::{MoveStats, Origin, find},
        },
    },
    domain::{BySeat, Import, ImportedPly, PlyAction, PositionKey, Reason, Start, Visibility},
    rules::{AnyOptions, AnyPosition, Move, Side, Variant},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime, macros::datetime};
use uuid::Uuid;

use crate::support::{app::TestApp, clock::now};

/// Rules of the random games: small boards, so that positions come again.
pub const RULES: [(Variant, &str, &str); 5] = [
    (Variant::Kalah, "standard", "pits=3;seeds=2;pie=true"),
    (Variant::Kalah, "manual", "pits=2"),
    (Variant::Oware, "app", "pits=3"),
    (Variant::Oware, "standard", "pits=2;seeds=4;repetition=4;grand_slam=capture"),
    (Variant::Congkak, "match", "pits=3;seeds=2;max_rounds=3"),
];

pub const BEGUN: OffsetDateTime = datetime!(2026-11-01 00:00 UTC);

/// What the explorer says of a move in a position. For the end of games: how many ended there.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub games: u64,
    pub south_wins: u64,
    pub north_wins: u64,
    average_lead: Option<f64>,
    /// For games that are counted by hand: how many were played to their end, and the sum of South's lead in them.
    leads: (u32, i64),
    pub last_played_at: Option<OffsetDateTime>,
    pub sample_game_ids: Vec<Uuid>,
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        let said = |row: &Self| (row.games, row.south_wins, row.north_wins, row.average_lead, row.last_played_at);
        said(self) == said(other) && self.sample_game_ids == other.sample_game_ids
    }
}

impl Row {
    /// Adds games that are counted by hand.
    #[expect(clippy::cast_precision_loss, reason = "few games lead by few seeds")]
    fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.south_wins += other.south_wins;
        self.north_wins += other.north_wins;
        self.leads = (self.leads.0 + other.leads.0, self.leads.1 + other.leads.1);
        self.average_lead = (self.leads.0 > 0).then(|| self.leads.1 as f64 / f64::from(self.leads.0));
        self.last_played_at = self.last_played_at.max(other.last_played_at);
        self.sample_game_ids.extend(&other.sample_game_ids);
        self.sample_game_ids.sort_unstable_by(|one, other| other.cmp(one));
        self.sample_game_ids.truncate(4);
    }
}

impl From<&MoveStats> for Row {
    fn from(stats: &MoveStats) -> Self {
        Self {
            games: stats.games,
            south_wins: stats.south_wins,
            north_wins: stats.north_wins,
            average_lead: stats.average_lead,
            leads: (0, 0),
            last_played_at: Some(stats.last_played_at),
            sample_game_ids: stats.sample.iter().map(|game| game.0).collect(),
        }
    }
}

/// Everything that the explorer says: rows by position, origin and move, and games by position.
#[derive(Debug, Default)]
pub struct Everything {
    pub rows: BTreeMap<(i64, bool, String), Row>,
    pub games: BTreeMap<i64, BTreeSet<Uuid>>,
    /// Positions of which it knows the games only.
    pub unseen: BTreeSet<i64>,
}

impl PartialEq for Everything {
    fn eq(&self, other: &Self) -> bool {
        let is_seen = |position: &i64| !self.unseen.contains(position) && !other.unseen.contains(position);
        let seen = |everything: &Self| {
            let rows = everything.rows.iter().filter(|((position, ..), _)| is_seen(position));
            rows.map(|(key, row)| (key.clone(), row.clone())).collect::<Vec<_>>()
        };
        self.games == other.games && seen(self) == seen(other)
    }
}

impl Everything {
    /// What the explorer says of all positions.
    pub async fn stored(app: &TestApp) -> Self {
        Self::stored_of(app, 1).await
    }

    /// What the explorer says of all frequent positions, and of an eighth of the positions of a single game, each of which
    /// takes ten milliseconds.
    pub async fn sampled(app: &TestApp) -> Self {
        Self::stored_of(app, 8).await
    }

    /// Reads what is stored. Out of so many positions of a single game, only one is read.
    async fn stored_of(app: &TestApp, one_of: i64) -> Self {
        let mut everything = Self::default();
        let games: Vec<(i64, Uuid)> =
            sqlx::query_as("select position, game_id from explored_game").fetch_all(&app.db).await.expect("rows");
        let packed = packed(app).await;
        for (position, game) in games.into_iter().chain(packed) {
            assert!(everything.games.entry(position).or_default().insert(game), "{game} has two entries");
        }
        let frequent = "select distinct position from explored_move";
        let frequent: BTreeSet<i64> =
            sqlx::query_scalar(frequent).fetch_all(&app.db).await.expect("rows").into_iter().collect();
        assert!(frequent.iter().all(|position| everything.games.contains_key(position)), "no counts without games");
        let imports: i64 = sqlx::query_scalar("select count(*) from game where opponent = 'imported'")
            .fetch_one(&app.db)
            .await
            .expect("a count");
        let all: i64 = sqlx::query_scalar("select count(*) from game").fetch_one(&app.db).await.expect("a count");
        let origins = [(Origin::Here, false), (Origin::Imported, true)].into_iter().skip(usize::from(imports == all));
        let origins: Vec<_> = origins.collect();
        for (position, games) in &everything.games {
            assert!(games.len() < 6 || frequent.contains(position), "the counts of frequent positions are stored");
            if games.len() == 1 && position.rem_euclid(one_of) != 0 {
                everything.unseen.insert(*position);
                continue;
            }
            let mut count = 0;
            for (origin, is_imported) in origins.iter().copied() {
                let key = PositionKey(position.cast_unsigned());
                let stats = find(&app.db, key, origin).await.expect("a database");
                count += stats.games;
                let moves = stats.moves.iter().map(|stats| (stats.mv.to_string(), Row::from(stats)));
                let ended = (String::new(), Row { games: stats.ended, ..Row::default() });
                let rows = moves.chain((stats.ended > 0).then_some(ended));
                everything.rows.extend(rows.map(|(mv, row)| ((*position, is_imported, mv), row)));
            }
            assert_eq!(count, games.len() as u64, "the games of a position are those of both origins");
        }
        everything
    }

    /// Adds what other games add.
    pub fn add(&mut self, other: &Self) {
        for (key, row) in &other.rows {
            self.rows.entry(key.clone()).or_default().add(row);
        }
        for (position, games) in &other.games {
            self.games.entry(*position).or_default().extend(games);
        }
    }

    /// What imported games add.
    pub fn imported(mut self) -> Self {
        self.rows.retain(|(_, is_imported, _), _| *is_imported);
        let positions: BTreeSet<_> = self.rows.keys().map(|(position, ..)| *position).collect();
        self.games.retain(|position, _| positions.contains(position));
        self
    }

    /// Without what is not exact after a deletion: when a move was last played, and examples.
    pub fn without_examples(mut self) -> Self {
        for row in self.rows.values_mut() {
            row.last_played_at = None;
            row.sample_game_ids.clear();
        }
        self
    }

    /// Counts an imported game by hand: what was played upon which position, when; and where and when it ended.
    pub fn count(
        &mut self,
        game: Uuid,
        line: &[(i64, String, OffsetDateTime)],
        winner: Option<Side>,
        lead: Option<i64>,
    ) {
        let mut visits = BTreeMap::new();
        for (position, mv, at) in line {
            visits.insert((*position, mv.clone()), *at);
        }
        for ((position, mv), at) in visits {
            self.games.entry(position).or_default().insert(game);
            let row = match mv.as_str() {
                "" => Row { games: 1, ..Row::default() },
                _ => Row {
                    games: 1,
                    south_wins: u64::from(winner == Some(Side::South)),
                    north_wins: u64::from(winner == Some(Side::North)),
                    average_lead: None,
                    leads: (u32::from(lead.is_some()), lead.unwrap_or_default()),
                    last_played_at: Some(at),
                    sample_game_ids: vec![game],
                },
            };
            self.rows.entry((position, true, mv)).or_default().add(&row);
        }
    }
}

/// The entries that are packed, in the order of their chunks.
pub async fn packed(app: &TestApp) -> Vec<(i64, Uuid)> {
    let numbers: Vec<(i32, Uuid)> =
        sqlx::query_as("select number, game_id from explored_number").fetch_all(&app.db).await.expect("rows");
    let numbers: HashMap<u32, Uuid> =
        numbers.into_iter().map(|(number, game)| (number.cast_unsigned(), game)).collect();
    let chunks = "select position, game_id, entries from explored_chunk order by position, game_id";
    let chunks: Vec<(i64, Uuid, Vec<u8>)> = sqlx::query_as(chunks).fetch_all(&app.db).await.expect("rows");
    let mut entries: Vec<(i64, Uuid)> = vec![];
    for (position, game, bytes) in chunks {
        assert!(entries.last() < Some(&(position, game)), "a chunk begins behind the one before");
        let chunk = decode(position, &bytes).expect("a chunk").into_iter();
        let chunk: Vec<_> = chunk.map(|(position, number)| (position, numbers[&number])).collect();
        assert!(chunk.iter().all(|entry| *entry >= (position, game)), "no entry is before its chunk");
        entries.extend(chunk);
    }
    assert!(entries.is_sorted_by(|one, other| one < other), "entries are in order");
    entries
}

/// What tells positions apart, by the letter of docs/explorer.md and without the server's help; as a number that stands for it.
pub fn column(position: &AnyPosition) -> i64 {
    let options = position.options();
    let standard = AnyOptions::parse_recorded(options.variant(), "standard", "").expect("a preset").all_values();
    let changed = options.values().into_iter().filter(|option| !standard.contains(option));
    let changed: Vec<_> = changed.map(|(name, value)| format!(";{name}={value}")).collect();
    let written = position.to_string();
    let [rows, stores, turn, flags, _, round] = written.split(' ').collect::<Vec<_>>()[..] else { panic!("{written}") };
    let may_pass = position.legal_moves().contains(&Move::Pass);
    let flags = flags.replace('w', "").replace('e', if may_pass { "e" } else { "" });
    let flags = if flags.is_empty() { "-" } else { &flags };
    let text = format!("{}{} {rows} {stores} {turn} {flags} 0 {round}", options.variant(), changed.concat());
    i64::from_be_bytes(Sha256::digest(text)[..8].try_into().expect("eight bytes"))
}

/// A game by chance, and how it is counted: the line that counts, who won, and by how many seeds if it was played out.
pub struct Chance {
    pub import: Import,
    visibility: Visibility,
    pub line: Vec<(i64, String, OffsetDateTime)>,
    pub winner: Option<Side>,
    pub lead: Option<i64>,
    is_finished: bool,
}

impl Chance {
    /// Whether the explorer counts the game if it is public.
    pub fn counts(&self) -> bool {
        let is_resigned = matches!(self.import.ending, Some((_, Some(Reason::Resignation))));
        self.is_finished && self.import.plies.len() >= if is_resigned { 20 } else { 6 }
    }
}

pub fn by_chance(lot: &mut StdRng) -> Chance {
    let (variant, preset, overrides) = RULES[lot.random_range(..RULES.len())];
    let options = AnyOptions::parse(variant, preset, overrides).expect("options");
    let mut opening = AnyPosition::opening(&options);
    for _ in 0..lot.random_range(..4_u32) {
        let (next, _) = opening.play(opening.legal_moves()[0]).expect("a legal move");
        if next.outcome().is_none() {
            opening = next.afresh();
        }
    }
    let start = (opening.plies() > 0).then(|| Start { position: opening.clone(), from: None });
    let stops_after = if lot.random_bool(0.2) { lot.random_range(1..12) } else { 500 };
    let mut at = BEGUN + Duration::seconds(lot.random_range(0..1000));
    let begun_at = at;
    let (mut plies, mut line) = (vec![], vec![(0, opening.clone(), None)]);
    while plies.len() < stops_after {
        at += Duration::seconds(1);
        let (_, here, _) = line.last().expect("a line begins somewhere").clone();
        // In Oware, plies that were taken back change what is a repetition.
        let may_take_back = variant != Variant::Oware && line.len() > 1 && here.outcome().is_none();
        if may_take_back && lot.random_bool(0.05) {
            line.truncate(lot.random_range(1..line.len()));
            let to_ply = line.last().expect("the first stays").0;
            plies.push(ImportedPly::of(PlyAction::Takeback { to_ply, increments: BySeat::default() }, at));
            continue;
        }
        let legal = here.legal_moves();
        let Some(&mv) = legal.get(lot.random_range(..legal.len().max(1))) else { break };
        plies.push(ImportedPly::of(PlyAction::Move(mv), at));
        let (next, _) = here.play(mv).expect("a legal move");
        line.last_mut().expect("a line").2 = Some((mv, at));
        line.push((u32::try_from(plies.len()).expect("a short game"), next, None));
    }
    let (_, last, _) = line.last().expect("a line").clone();
    let winner = [None, Some(Side::South), Some(Side::North)][lot.random_range(..3_usize)];
    let (ending, outcome) = (lot.random_bool(0.8).then_some(winner), last.outcome());
    let is_finished = outcome.is_some() || ending.is_some();
    let counted = line.iter().enumerate().map(|(n, (_, position, played))| match played {
        Some((mv, at)) if n + 1 < line.len() => (column(position), mv.to_string(), *at),
        _ => (column(position), String::new(), at),
    });
    let line = counted.collect();
    let resigned = ending.map(|winner| (winner, winner.map(|_| Reason::Resignation)));
    Chance {
        import: Import {
            options,
            start,
            names: BySeat { first: "Ana".to_owned(), second: "Bo".to_owned() },
            begun_at,
            plies,
            ended_at: Some(at),
            ending: if outcome.is_some() { None } else { resigned },
            score: None,
            is_practice: false,
        },
        visibility: [Visibility::Public, Visibility::Public, Visibility::Unlisted, Visibility::Private]
            [lot.random_range(..4_usize)],
        line,
        winner: outcome.map_or(winner, |outcome| outcome.winner),
        lead: outcome.map(|outcome| i64::from(outcome.score.south) - i64::from(outcome.score.north)),
        is_finished,
    }
}

/// Stores games by chance, and says how they are counted.
pub async fn store_by_chance(app: &TestApp, seed: u64, count: usize) -> Everything {
    let mut lot = StdRng::seed_from_u64(seed);
    let mut expected = Everything::default();
    let games: Vec<_> = (0..count).map(|_| by_chance(&mut lot)).collect();
    for visibility in [Visibility::Public, Visibility::Unlisted, Visibility::Private] {
        let games: Vec<_> = games.iter().filter(|game| game.visibility == visibility).collect();
        let records: Vec<_> = games.iter().map(|game| game.import.clone()).collect();
        let played = import::play(&app.db, records, None, visibility, now()).await.expect("a database");
        let played: Vec<_> = played.into_iter().map(|game| game.expect("it can have been played")).collect();
        import::store(&app.db, &played, None, None, now()).await.expect("they are stored");
        for (chance, Whole { game, .. }) in games.into_iter().zip(&played) {
            assert_eq!(chance.is_finished, game.result().is_some());
            if visibility == Visibility::Public && chance.counts() {
                expected.count(game.id().0, &chance.line, chance.winner, chance.lead);
            }
        }
    }
    expected
}
