//! The help: which options `-h` shows, and under which headings `--help` lists all of them.

use clap::Arg;

/// The options that most operators set.
const COMMON: [&str; 10] = [
    "listen",
    "data_dir",
    "database_url",
    "public_url",
    "jwt_private_key_file",
    "rate_limits",
    "trusted_proxies",
    "cors_origins",
    "metrics_listen",
    "access_log",
];

/// The headings, each with its options.
const HEADINGS: [(&str, &[&str]); 7] = [
    (
        "Service",
        &[
            "listen",
            "public_url",
            "cors_origins",
            "trusted_proxies",
            "rate_limits",
            "page",
            "drain_s",
            "shutdown_timeout_s",
        ],
    ),
    (
        "Database",
        &[
            "data_dir",
            "database_url",
            "read_database_url",
            "database_wait_s",
            "db_connections",
            "writers",
            "archive_after_days",
        ],
    ),
    (
        "Tokens and sign-in",
        &["jwt_private_key_file", "jwt_public_key_files", "jwt_issuer", "jwt_audience", "sign_in_file"],
    ),
    (
        "Players and games",
        &[
            "guest_retention_days",
            "guest_game_days",
            "guest_network_games",
            "open_game_days",
            "reserved_names",
            "import_games_max",
            "import_plies_max",
            "import_guest_games_max",
            "import_guest_plies_max",
        ],
    ),
    (
        "Mail, webhooks and push",
        &[
            "smtp_url",
            "mail_from",
            "email_verify_url",
            "email_reset_url",
            "webhook_allow_private",
            "webhook_ports",
            "push_contact",
            "push_vapid_key_file",
            "push_fcm_file",
            "push_apns_file",
        ],
    ),
    ("Computer and analyses", &["computer_threads", "analysis_threads"]),
    ("Log and metrics", &["metrics_listen", "log_format", "access_log", "access_log_format"]),
];

/// Places an option in the help. The arguments of commands stay as they are.
pub(super) fn place(argument: Arg) -> Arg {
    let id = argument.get_id().as_str();
    let Some((heading, _)) = HEADINGS.into_iter().find(|(_, options)| options.contains(&id)) else { return argument };
    let is_common = COMMON.contains(&id);
    argument.help_heading(heading).hide_short_help(!is_common)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{super::Cli, *};

    #[test]
    fn each_option_stands_under_one_heading() {
        let placed: Vec<_> = HEADINGS.into_iter().flat_map(|(_, options)| options).copied().collect();
        let command = Cli::command();
        let mut options: Vec<_> = command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
        let mut sorted = placed.clone();
        sorted.sort_unstable();
        options.sort_unstable();
        assert_eq!(sorted, options);
        assert!(COMMON.iter().all(|option| placed.contains(option)));
    }
}
