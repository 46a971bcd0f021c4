-- Open public games by what a player seeks, the oldest first: a seek joins the first that fits. The columns of the condition
-- change once, so a move leaves the index alone.
create index game_seek_idx on game (variant, preset, options, coalesce(clock, ''), creator_seat, id)
    where visibility = 'public' and opponent = 'open' and start is null and started_at is null and aborted_at is null;
