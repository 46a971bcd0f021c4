//! A player's data, declared once: every column that names a player, or may have data about one, and its treatment.
//!
//! The erasure and the merge delete by this list, and the export has the fields that it names. Tests compare the list with the schema, and
//! with the rows that an erasure and a merge leave, so a new table cannot be forgotten.

use std::{fmt::Write, sync::LazyLock};

use mancala_domain::PlayerId;
use sqlx::{AssertSqlSafe, PgConnection};
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// A column of type `uuid` or `json`.
#[derive(Debug)]
pub struct Column {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub name: &'static str,
    /// The kind of data that the column has about a player.
    pub content: Content,
}

/// The content of a column about a player.
#[derive(Debug)]
pub enum Content {
    /// The column has no data about a player; `0` says what it has.
    NoPlayer(&'static str),
    /// The column has the id of a player, or a network or another trait of the row's player.
    Player {
        /// The effect of an erasure on it.
        erasure: Erasure,
        /// The effect of a merge on the guest's values.
        merge: Merge,
        /// The place in the player's export.
        export: Export,
    },
}

/// The effect of an erasure on a column that names the erased player.
#[derive(Debug)]
pub enum Erasure {
    /// [`erase`](super::erase) deletes the row by this list.
    Delete,
    /// A function or a trigger of this name deletes the row, or clears the column.
    By(&'static str),
    /// The column stays: why.
    Stays(&'static str),
}

/// The effect of a merge on a column that names the guest.
#[derive(Debug)]
pub enum Merge {
    /// [`merge`](crate::merging::merge) deletes the row by this list.
    Delete,
    /// A function or a trigger of this name hands the row over to the account, deletes it, or clears the column.
    By(&'static str),
    /// The column stays: why.
    Stays(&'static str),
    /// A guest that is merged has no such row: why.
    Never(&'static str),
}

/// The place of a column's values in a player's export.
#[derive(Debug)]
pub enum Export {
    /// A field of the export.
    Field(&'static str),
    /// The export leaves it out: why.
    Hidden(&'static str),
}

use Erasure::{By as ErasedBy, Delete as Deleted, Stays as Remains};
use Export::{Field, Hidden};
use Merge::{By as HandedOver, Delete as Dropped, Never, Stays};

const fn player(table: &'static str, name: &'static str, erasure: Erasure, merge: Merge, export: Export) -> Column {
    Column { table, name, content: Content::Player { erasure, merge, export } }
}

const fn none(table: &'static str, name: &'static str, why: &'static str) -> Column {
    Column { table, name, content: Content::NoPlayer(why) }
}

const NO_ACCOUNT: Merge = Never("only accounts have one");
const A_GAME: &str = "a game";
const NAMELESS: Erasure = Remains("the opponent keeps the game; the row of the player has no name");
const OTHERS: Export = Hidden("what others have stored about the player is theirs");

/// Every column of every table whose type is `uuid`, `json`, `jsonb` or an array of these, by table.
pub const COLUMNS: &[Column] = &[
    player("account", "player_id", Deleted, NO_ACCOUNT, Field("player")),
    player("account_email", "player_id", ErasedBy("erase_email"), NO_ACCOUNT, Field("email")),
    none("analysis", "game_id", A_GAME),
    none("analysis", "plies", "values of positions"),
    none("analysis_request", "game_id", A_GAME),
    player("analysis_request", "player_id", Deleted, HandedOver("merging::hand_over"), Field("analysis_requests")),
    none("analysis_request", "round_key", "the row's player or its network; goes and changes with the player's id"),
    none("analysis_request", "partial", "values of positions"),
    none("app", "id", "an app, which is no person"),
    none("app_issuer", "app_id", "an app"),
    none("app_player", "app_id", "an app; the row goes with its player"),
    player(
        "app_player",
        "player_id",
        ErasedBy("erase_app_player"),
        Never("players of apps are not merged"),
        Field("app"),
    ),
    none("archived_log", "game_id", A_GAME),
    none("computer_game", "game_id", A_GAME),
    player(
        "computer_game",
        "player_id",
        Remains("a job ends the game and deletes the row"),
        Stays("the rows of games that change hands are handed over; others are of games that are over"),
        Field("games"),
    ),
    player(
        "computer_game",
        "network",
        ErasedBy("players::erase"),
        Stays("becomes that of the account with the rows that are handed over"),
        Field("network"),
    ),
    none("computer_turn", "game_id", A_GAME),
    player(
        "computer_turn",
        "player_id",
        Remains("the row is deleted with the computer's move"),
        Stays("the row is deleted with the computer's move"),
        Field("games"),
    ),
    player(
        "computer_turn",
        "round_key",
        ErasedBy("players::erase"),
        Stays("the row is deleted with the computer's move"),
        Field("network"),
    ),
    player("email_token", "player_id", ErasedBy("erase_email"), NO_ACCOUNT, Hidden("a hash of a secret")),
    none("event", "game_id", A_GAME),
    player(
        "event",
        "detail",
        NAMELESS,
        Stays("an event `reseated` hands a game over; events before it say who sat there"),
        Field("games"),
    ),
    none("explored_chunk", "game_id", A_GAME),
    none("explored_chunk_next", "game_id", A_GAME),
    none("explored_game", "game_id", A_GAME),
    none("explored_game_next", "game_id", A_GAME),
    none("explored_move", "sample_game_ids", "games"),
    none("explored_move_next", "sample_game_ids", "games"),
    none("explored_number", "game_id", A_GAME),
    none("explored_number_next", "game_id", A_GAME),
    none("explorer_rebuild", "token", "one run of a reindex"),
    none("explorer_rebuild", "last_game_id", A_GAME),
    none("explorer_rebuild_game", "game_id", A_GAME),
    player("friendship", "asker_id", ErasedBy("erase_friendships"), HandedOver("friends::hand_over"), Field("friends")),
    player("friendship", "asked_id", ErasedBy("erase_friendships"), HandedOver("friends::hand_over"), Field("friends")),
    none("game", "id", A_GAME),
    player(
        "game",
        "invited_player_id",
        ErasedBy("jobs::erasure"),
        HandedOver("games::append_to_all, merging::hand_over"),
        Field("invitations"),
    ),
    player("game", "seat_0_player_id", NAMELESS, HandedOver("games::append_to_all"), Field("games")),
    player("game", "seat_1_player_id", NAMELESS, HandedOver("games::append_to_all"), Field("games")),
    none("game", "time", "the state of a clock, by seats"),
    none("game", "offers", "offers, by seats"),
    none("game", "rematch_game_id", A_GAME),
    none("game", "start", "the position from which a game was played"),
    none("game", "within_app_id", "an app"),
    none("held_game", "game_id", A_GAME),
    player(
        "hidden_last_seen",
        "player_id",
        ErasedBy("erase_friendships"),
        HandedOver("settings::hand_over"),
        Field("player"),
    ),
    player("idempotency_key", "player_id", Deleted, Dropped, Field("idempotency_keys")),
    none("import_key", "key", "a hash of a game that the operator has imported"),
    player(
        "import_usage",
        "player_id",
        Deleted,
        HandedOver("merging::hand_over"),
        Hidden("a count of the player's imported games, which GET /v1/me/imports shows"),
    ),
    player(
        "invitation_count",
        "inviter_id",
        ErasedBy("erase_protection"),
        Stays("the row expires within a day"),
        Field("recent_invitations"),
    ),
    player(
        "invitation_count",
        "invited_id",
        ErasedBy("erase_protection"),
        Stays("the row expires within a day"),
        OTHERS,
    ),
    player(
        "invitation_count",
        "network",
        ErasedBy("erase_protection"),
        Stays("the row expires within a day"),
        Field("recent_invitations"),
    ),
    player("invitation_policy", "player_id", ErasedBy("erase_invitation_policy"), Dropped, Field("player")),
    none("mail", "id", "a mail"),
    // The mail that reports the erasure to a verified address stays until it is sent, for a day at most.
    player("mail", "player_id", ErasedBy("erase_email"), NO_ACCOUNT, Hidden("a mail that is about to arrive")),
    none("mail_sent", "id", "a mail, by a keyed hash of its recipient, for a day"),
    player(
        "merged_guest",
        "guest_id",
        Remains("a job erases the guests of an erased account by this row"),
        Never("a row means that the merge was made"),
        Hidden("what was the guest's is exported as the account's"),
    ),
    player(
        "merged_guest",
        "player_id",
        Remains("a job erases the guests of an erased account by this row"),
        NO_ACCOUNT,
        Hidden("what was the guest's is exported as the account's"),
    ),
    player("name_claim", "player_id", ErasedBy("name_claim_account_fkey"), NO_ACCOUNT, Field("player")),
    player("note", "player_id", Deleted, HandedOver("merging::hand_over"), Field("notes")),
    none("note", "game_id", A_GAME),
    none("open_game", "game_id", A_GAME),
    player(
        "open_game",
        "player_id",
        ErasedBy("forget_open_games"),
        HandedOver("merging::hand_over_counted_games, and forget_open_games"),
        Field("games"),
    ),
    player(
        "open_game",
        "network",
        ErasedBy("forget_open_games"),
        HandedOver(
            "forget_open_games; stays with the rows that are handed over, or guests that are merged would be free of the limit",
        ),
        Field("network"),
    ),
    none("operator_act", "id", "an act"),
    player(
        "operator_act",
        "player_id",
        ErasedBy("erase_operator_acts"),
        Stays("the log says what was done, and to whom, at that time"),
        Field("warnings"),
    ),
    none("operator_act", "report_id", "a report; cleared with its player"),
    none("operator_act", "before", "a suspension or a name; cleared with its player"),
    none("operator_act", "after", "a suspension or a name; cleared with its player"),
    none("password_reset_request", "id", "a request, by its address; erase_email deletes it with the address"),
    player(
        "player",
        "id",
        Remains("the seats of games name the row, whose name is gone"),
        Stays("the row stays until unused guests are purged"),
        Field("player"),
    ),
    player(
        "player",
        "importer_id",
        ErasedBy("jobs::erasure"),
        HandedOver("merging::hand_over"),
        Hidden("names in imported games, which GET /v1/me/imports shows"),
    ),
    player("player", "network", ErasedBy("players::erase"), HandedOver("merging::close"), Field("network")),
    player(
        "player_block",
        "blocker_id",
        ErasedBy("erase_player_blocks"),
        HandedOver("blocks::hand_over"),
        Field("blocks"),
    ),
    player("player_block", "blocked_id", ErasedBy("erase_player_blocks"), HandedOver("blocks::hand_over"), OTHERS),
    player(
        "player_identity",
        "player_id",
        ErasedBy("erase_identities"),
        HandedOver("hand_over_identities"),
        Field("identities"),
    ),
    player("player_key", "player_id", Deleted, Dropped, Hidden("a hash that makes a repeated creation one, for a day")),
    player("player_mute", "muter_id", ErasedBy("erase_protection"), HandedOver("mutes::hand_over"), Field("mutes")),
    player("player_mute", "muted_id", ErasedBy("erase_protection"), HandedOver("mutes::hand_over"), OTHERS),
    none("player_report", "id", "a report"),
    player(
        "player_report",
        "reporter_id",
        ErasedBy("erase_player_reports"),
        HandedOver("reports::hand_over"),
        Field("reports"),
    ),
    player("player_report", "reported_id", ErasedBy("erase_player_reports"), HandedOver("reports::hand_over"), OTHERS),
    player(
        "player_report",
        "network",
        ErasedBy("erase_player_reports"),
        Stays("the report goes with its reporter, and the network is forgotten after a day"),
        Field("report_networks"),
    ),
    none("player_report", "game_id", A_GAME),
    player(
        "player_suspension",
        "player_id",
        ErasedBy("erase_operator_acts"),
        Never("a suspended guest is not merged; a suspension that has ended says nothing of the account"),
        Field("suspension"),
    ),
    none("push_device", "id", "a device; the row goes with its player"),
    player(
        "push_device",
        "player_id",
        ErasedBy("delete_push_devices"),
        HandedOver("devices::hand_over"),
        Field("devices"),
    ),
    player(
        "push_device",
        "network",
        ErasedBy("delete_push_devices"),
        HandedOver("devices::hand_over"),
        Field("network"),
    ),
    none("push_device", "lease", "one attempt to send"),
    none("push_device", "sign_in_id", "a sign-in of the row's player"),
    none("push_notice", "device_id", "a device, with which the row goes"),
    none("push_notice", "game_id", A_GAME),
    none("push_notice", "version", "one notice"),
    player(
        "push_settings",
        "player_id",
        ErasedBy("delete_push_devices"),
        HandedOver("push::settings::hand_over"),
        Field("push_settings"),
    ),
    player("recovery_code", "player_id", Deleted, Dropped, Field("recovery_code_since")),
    none("refresh_family", "id", "a sign-in"),
    player(
        "refresh_family",
        "player_id",
        Deleted,
        Stays("void by the guest's new credentials, and deleted when it expires"),
        Field("sign_ins"),
    ),
    none("refresh_token", "family_id", "a sign-in, with which the row goes"),
    player(
        "revoked_credentials",
        "player_id",
        Remains("tokens of the erased player are void until they expire; deleted then"),
        Stays("tokens of the guest are void until they expire; deleted then"),
        Hidden("which tokens are void, while they would be valid"),
    ),
    player("sign_in_network", "player_id", Deleted, NO_ACCOUNT, Field("sign_in_networks")),
    none("sign_in_network", "network", "a keyed hash, with which nothing else is found; the row goes with its player"),
    none("unarchived_game", "game_id", A_GAME),
    none("unexplored_game", "game_id", A_GAME),
    none("webhook", "id", "a webhook"),
    player("webhook", "player_id", ErasedBy("delete_webhooks"), HandedOver("merging::hand_over"), Field("webhooks")),
    player("webhook", "network", ErasedBy("delete_webhooks"), HandedOver("merging::hand_over"), Field("network")),
    none("webhook_delivery", "id", "a delivery"),
    none("webhook_delivery", "webhook_id", "a webhook, by which the row is deleted"),
    none("webhook_delivery", "game_id", A_GAME),
    none("webhook_event", "game_id", A_GAME),
];

/// Builds one statement that deletes the rows of the player `$1` from all tables whose columns a condition chooses.
fn deletion(is_chosen: impl Fn(&Column) -> bool) -> String {
    let mut text = String::new();
    for (index, column) in COLUMNS.iter().filter(|column| is_chosen(column)).enumerate() {
        let begin = if index == 0 { "with" } else { "," };
        write!(text, "{begin} deleted_{index} as (delete from {} where {} = $1)", column.table, column.name)
            .expect("a string takes any text");
    }
    text + " select"
}

static ERASURE: LazyLock<String> =
    LazyLock::new(|| deletion(|column| matches!(column.content, Content::Player { erasure: Erasure::Delete, .. })));

static MERGE: LazyLock<String> =
    LazyLock::new(|| deletion(|column| matches!(column.content, Content::Player { merge: Merge::Delete, .. })));

/// Deletes the rows of an erased player in all columns that the list marks for it.
pub(super) async fn delete_erased(connection: &mut PgConnection, player: PlayerId) -> Result<(), DbError> {
    delete(connection, &ERASURE, player).await
}

/// Deletes the rows of a merged guest in all columns that the list marks for it.
pub(crate) async fn delete_merged(connection: &mut PgConnection, guest: PlayerId) -> Result<(), DbError> {
    delete(connection, &MERGE, guest).await
}

async fn delete(connection: &mut PgConnection, statements: &str, player: PlayerId) -> Result<(), DbError> {
    let query = sqlx::query(AssertSqlSafe(statements)).bind(player.0);
    query.execute(connection).instrument(statement("delete personal data")).await?;
    Ok(())
}
