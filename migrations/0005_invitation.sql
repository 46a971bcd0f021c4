-- Directed invitations: a game that only one player may join.
--
-- No foreign key: it would be one more trigger for every update of a game to ask about, and a move is an update. The
-- player is looked up when the game is created, and no row of a player is deleted who is invited to an open game.
alter table game add column invited_player_id uuid;

-- The invitations that wait for a player's answer, newest first, and those that a player waits for: while a game is open
-- its creator is the only one who sits in it. Each is one range of one index. A game that is open has neither started nor
-- been aborted, and those columns change once.
create index game_invitation_received_idx on game (invited_player_id, id desc)
    where invited_player_id is not null and started_at is null and aborted_at is null;
create index game_invitation_sent_idx on game (coalesce(seat_0_player_id, seat_1_player_id), id desc)
    where invited_player_id is not null and started_at is null and aborted_at is null;
