//! The counts that games add to the explorer, or that deleted games take out of it.

use std::collections::BTreeMap;

use mancala_rules::Side;
use sqlx::PgConnection;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{explored_games::CountedGame, position_column::position_column};
use crate::connection::{DbError, columns, statement};

/// How many games are kept as examples of a move.
pub(super) const SAMPLE_GAMES: usize = 4;

/// The counts that games add to the rows of `explored_move`, ordered by its key: position, whether the games are imported, and move.
#[derive(Default)]
pub(super) struct Tallies(pub(super) BTreeMap<(i64, bool, String), Tally>);

/// The results of games with the same move in a position.
pub(super) struct Tally {
    pub(super) games: i32,
    pub(super) first_visits: i32,
    pub(super) south_wins: i32,
    pub(super) north_wins: i32,
    pub(super) played_out: i32,
    pub(super) lead_sum: i64,
    pub(super) last_played_at: OffsetDateTime,
    /// The newest games, in the order of their ids.
    pub(super) sample: Vec<Uuid>,
}

impl Tallies {
    /// Adds what a game did in some positions.
    pub(super) fn add(&mut self, game: &CountedGame, at: impl Fn(i64) -> bool) {
        let CountedGame { id, is_imported, exploration } = game;
        let won_by = |side| i32::from(exploration.winner == Some(side));
        for visit in exploration.visits.iter().filter(|visit| at(position_column(visit.position))) {
            let mv = visit.mv.map_or_else(String::new, |mv| mv.to_string());
            let key = (position_column(visit.position), *is_imported, mv);
            let tally = self.0.entry(key).or_insert_with(|| Tally::empty(visit.at));
            tally.games += 1;
            tally.first_visits += i32::from(visit.is_first);
            tally.south_wins += won_by(Side::South);
            tally.north_wins += won_by(Side::North);
            tally.played_out += i32::from(exploration.lead.is_some());
            tally.lead_sum += i64::from(exploration.lead.unwrap_or_default());
            tally.last_played_at = tally.last_played_at.max(visit.at);
            let place = tally.sample.partition_point(|other| other < id);
            tally.sample.insert(place, *id);
            if tally.sample.len() > SAMPLE_GAMES {
                tally.sample.remove(0);
            }
        }
    }

    /// The tallies as rows, in the order of the key, so that neighbouring rows are written one after the other.
    pub(super) fn columns(self) -> MoveColumns {
        MoveColumns::of(self.0.into_iter().map(|((position, is_imported, mv), tally)| MoveRow {
            position,
            is_imported,
            mv,
            games: tally.games,
            first_visits: tally.first_visits,
            south_wins: tally.south_wins,
            north_wins: tally.north_wins,
            played_out: tally.played_out,
            lead_sum: tally.lead_sum,
            last_played_at: tally.last_played_at,
            sample: text_of(&tally.sample),
        }))
    }
}

/// The statement that takes counts out of a table. A row without games goes. A row with others keeps its `last_played_at`: which of
/// them was last played is not stored.
macro_rules! remove_from {
    ($table:literal, $columns:expr, $deleted:expr) => {
        sqlx::query!(
            r#"
            with given as materialized (
                select
                    unnest($1::bigint[]) as position,
                    unnest($2::boolean[]) as is_imported,
                    unnest($3::text[]) as mv,
                    unnest($4::integer[]) as games,
                    unnest($5::integer[]) as first_visits,
                    unnest($6::integer[]) as south_wins,
                    unnest($7::integer[]) as north_wins,
                    unnest($8::integer[]) as played_out,
                    unnest($9::bigint[]) as lead_sum
            ), reduced as (
                update "#
                + $table
                + r#" known set
                    games = known.games - given.games,
                    first_visits = known.first_visits - given.first_visits,
                    south_wins = known.south_wins - given.south_wins,
                    north_wins = known.north_wins - given.north_wins,
                    played_out = known.played_out - given.played_out,
                    lead_sum = known.lead_sum - given.lead_sum,
                    sample_game_ids = array(
                        select id from unnest(known.sample_game_ids) as id where id <> all($10) order by id desc
                    )
                from given
                where known.position = given.position and known.is_imported = given.is_imported
                  and known.move = given.mv and known.games > given.games
            )
            delete from "#
                + $table
                + r#" known using given
            where known.position = given.position and known.is_imported = given.is_imported
              and known.move = given.mv and known.games <= given.games
            "#,
            &$columns.position,
            &$columns.is_imported,
            &$columns.mv,
            &$columns.games,
            &$columns.first_visits,
            &$columns.south_wins,
            &$columns.north_wins,
            &$columns.played_out,
            &$columns.lead_sum,
            $deleted,
        )
    };
}

impl MoveColumns {
    /// Takes the counts of deleted games out of the stored ones.
    pub(super) async fn remove(&self, connection: &mut PgConnection, deleted: &[Uuid]) -> Result<(), DbError> {
        let removal = remove_from!("explored_move", self, deleted);
        removal.execute(connection).instrument(statement("update explored_move")).await?;
        Ok(())
    }

    /// Takes the counts of deleted games out of those that a rebuild has stored.
    pub(super) async fn remove_next(&self, connection: &mut PgConnection, deleted: &[Uuid]) -> Result<(), DbError> {
        let removal = remove_from!("explored_move_next", self, deleted);
        removal.execute(connection).instrument(statement("update explored_move_next")).await?;
        Ok(())
    }

    /// Adds the tallies to the stored counts.
    pub(super) async fn store(&self, connection: &mut PgConnection) -> Result<(), DbError> {
        sqlx::query!(
            r#"
            insert into explored_move as known (
                position, is_imported, move, games, first_visits, south_wins, north_wins, played_out, lead_sum,
                last_played_at, sample_game_ids
            )
            select position, is_imported, mv, games, first_visits, south_wins, north_wins, played_out, lead_sum,
                last_played_at, string_to_array(sample, ',')::uuid[]
            from (
                select
                    unnest($1::bigint[]) as position,
                    unnest($2::text[]) as mv,
                    unnest($3::integer[]) as games,
                    unnest($4::integer[]) as first_visits,
                    unnest($5::integer[]) as south_wins,
                    unnest($6::integer[]) as north_wins,
                    unnest($7::integer[]) as played_out,
                    unnest($8::bigint[]) as lead_sum,
                    unnest($9::timestamptz[]) as last_played_at,
                    unnest($10::text[]) as sample,
                    unnest($12::boolean[]) as is_imported
            ) given
            on conflict (position, is_imported, move) do update set
                games = known.games + excluded.games,
                first_visits = known.first_visits + excluded.first_visits,
                south_wins = known.south_wins + excluded.south_wins,
                north_wins = known.north_wins + excluded.north_wins,
                played_out = known.played_out + excluded.played_out,
                lead_sum = known.lead_sum + excluded.lead_sum,
                last_played_at = greatest(known.last_played_at, excluded.last_played_at),
                sample_game_ids = array(
                    select id from unnest(known.sample_game_ids || excluded.sample_game_ids) as id
                    order by id desc limit $11
                )
            "#,
            &self.position,
            &self.mv,
            &self.games,
            &self.first_visits,
            &self.south_wins,
            &self.north_wins,
            &self.played_out,
            &self.lead_sum,
            &self.last_played_at,
            &self.sample,
            i64::try_from(SAMPLE_GAMES).expect("a handful"),
            &self.is_imported,
        )
        .execute(connection)
        .instrument(statement("insert explored_move"))
        .await?;
        Ok(())
    }
}

impl Tally {
    const fn empty(last_played_at: OffsetDateTime) -> Self {
        Self {
            games: 0,
            first_visits: 0,
            south_wins: 0,
            north_wins: 0,
            played_out: 0,
            lead_sum: 0,
            last_played_at,
            sample: vec![],
        }
    }
}

columns! {
    /// The counts that are added to a row of `explored_move`, or taken out of it.
    pub(super) struct MoveRow => MoveColumns {
        position: i64,
        is_imported: bool,
        mv: String,
        games: i32,
        first_visits: i32,
        south_wins: i32,
        north_wins: i32,
        played_out: i32,
        lead_sum: i64,
        last_played_at: OffsetDateTime,
        /// Ids with commas between them, the newest first: an array of arrays would have to be as wide everywhere. Sorting them
        /// here saves PostgreSQL a subplan for each row, a third of the statement's time.
        sample: String,
    }
}

/// The ids are in their order, which is that of time.
fn text_of(ids: &[Uuid]) -> String {
    ids.iter().rev().map(Uuid::to_string).collect::<Vec<_>>().join(",")
}
