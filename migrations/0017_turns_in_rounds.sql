-- The computer plays in rounds, one turn of each player in every round: whoever plays many games against it keeps nobody else waiting.

alter table computer_turn
    -- Who waits for it, and the round that it is played in: unknown until whoever plays next looks.
    add column player_id uuid,
    add column round bigint;

-- Of a round, who has waited longest comes first.
drop index computer_turn_waits_idx;
create index computer_turn_round_idx on computer_turn (round, waits_since);
-- Those whose round is unknown, and the rounds that a player has turns in.
create index computer_turn_new_idx on computer_turn (waits_since) where round is null;
create index computer_turn_player_idx on computer_turn (player_id, round);
