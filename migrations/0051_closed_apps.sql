-- The app within which the creator of an open game plays, if it is a closed one: so the open games of a closed app are a range of the index below.
--
-- It says where to look. Whether two players may play with each other is still asked of the apps themselves. An open game of a player whose app was
-- closed while it was being stored, or of a player who was merged since, may have an earlier value: a seek passes it, and it expires.
-- Null in all games that were stored before.
alter table game add column within_app_id uuid;

-- The app whose players play only within it and of which this player is one.
create function app_that_encloses(player uuid) returns uuid language plpgsql stable as $$
begin
    if not exists (select from app where plays_within) then
        return null;
    end if;
    return (select app.id from app_player join app on app.id = app_id where player_id = player and plays_within);
end
$$;

-- Open public games that a player may join: first by the app, so that the lobby of a closed app is one range, then by what a seek asks for, the oldest
-- first. It takes the place of another index, so a move opens no more of them. Its columns and those of its condition change once, except
-- `within_app_id`, which an app's policy changes.
drop index game_seek_idx;
create index game_open_idx on game (
    coalesce(within_app_id, '00000000-0000-0000-0000-000000000000'), (start is null),
    variant, preset, options, coalesce(clock, ''), creator_seat, id
) where visibility = 'public' and opponent = 'open' and started_at is null and aborted_at is null;

-- Apps that are closed already.
update game set within_app_id = app.id
from app join app_player on app_player.app_id = app.id
where app.plays_within and app_player.player_id = coalesce(seat_0_player_id, seat_1_player_id)
    and visibility = 'public' and opponent = 'open' and started_at is null and aborted_at is null;
