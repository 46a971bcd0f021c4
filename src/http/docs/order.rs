//! The order in which the page shows the operations: what a client needs first stands first.

/// The ids of all operations. The page groups them by their tags, whose order is the document's.
pub const ORDER: [&str; 116] = [
    // players
    "create_player",
    "create_token",
    "revoke_token",
    "get_me",
    "update_me",
    "get_summary",
    "get_player",
    "get_player_stats",
    "list_sign_ins",
    "delete_sign_in",
    "delete_sign_ins",
    "renew_recovery_code",
    "get_my_email",
    "write_my_email",
    "verify_email",
    "get_password_reset",
    "create_password_reset",
    "reset_password",
    "merge_guest",
    "list_issuers",
    "begin_sign_in",
    "complete_sign_in",
    "link_identity",
    "list_identities",
    "delete_identity",
    "list_players",
    "list_opponents",
    "create_friend",
    "list_friends",
    "delete_friend",
    "create_block",
    "list_blocks",
    "delete_block",
    "create_mute",
    "list_mutes",
    "delete_mute",
    "create_report",
    "export_me",
    "delete_me",
    // variants
    "list_variants",
    "get_variant",
    "play_line",
    // games
    "create_game",
    "seek_game",
    "list_games",
    "get_game",
    "join_game",
    "resign_game",
    "abort_game",
    "list_invitations",
    "decline_invitation",
    "renew_join_code",
    "get_explorer",
    // moves
    "play_move",
    "list_moves",
    "get_position",
    "get_hint",
    // offers
    "make_offer",
    "accept_offer",
    "decline_offer",
    "withdraw_offer",
    // events
    "list_events",
    "list_my_events",
    "create_stream_ticket",
    // notes
    "write_note",
    "list_notes",
    "delete_note",
    // records
    "export_game",
    "export_games",
    "import_games",
    "list_imports",
    "delete_game",
    "delete_imports",
    "analyse_game",
    "get_analysis",
    "verify_game",
    // pictures
    "get_board_picture",
    "get_board_png",
    "get_game_graph",
    "get_game_graph_png",
    "get_game_page",
    "get_variant_board_picture",
    "get_variant_board_png",
    // webhooks
    "create_webhook",
    "verify_webhook",
    "ping_webhook",
    "list_webhooks",
    "get_webhook",
    "update_webhook",
    "rotate_webhook_secret",
    "list_webhook_deliveries",
    "redeliver_webhook",
    "delete_webhook",
    // push
    "get_push",
    "create_device",
    "list_devices",
    "delete_device",
    "get_push_settings",
    "write_push_settings",
    // operators
    "list_reports",
    "get_reported_game",
    "close_report",
    "inspect_player",
    "act_on_player",
    "list_operator_acts",
    // apps
    "get_app",
    "write_app_player",
    "create_app_player_token",
    "exchange_token",
    "get_app_player",
    "list_app_players",
    "delete_app_player",
    // operation
    "get_problem",
    "get_liveness",
    "get_readiness",
    "get_jwks",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::routes;

    /// The ids of all operations with their tags.
    fn operations() -> Vec<(String, String)> {
        let document = routes::document();
        let items = document.paths.paths.values();
        let operations = items.flat_map(|item| [&item.get, &item.post, &item.put, &item.patch, &item.delete]);
        let named = operations.flatten().map(|operation| {
            let tag = operation.tags.iter().flatten().next().expect("an operation has a tag");
            (operation.operation_id.clone().expect("an operation has an id"), tag.clone())
        });
        named.collect()
    }

    #[test]
    fn every_operation_has_a_place_and_its_tag_a_place_in_the_document() {
        let operations = operations();
        let known: BTreeSet<&str> = operations.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(BTreeSet::from(ORDER), known);
        let tags: Vec<String> = routes::document().tags.into_iter().flatten().map(|tag| tag.name).collect();
        let place = |id: &str| {
            let (_, tag) = operations.iter().find(|(known, _)| known == id).expect("an operation");
            tags.iter().position(|known| known == tag).unwrap_or_else(|| panic!("{tag} is no tag of the document"))
        };
        assert!(ORDER.map(place).is_sorted(), "the operations stand in the order of their tags");
    }
}
