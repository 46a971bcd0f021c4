-- Games without their logs, over two years. Every game is a copy of a recorded one; `{…}` is a parameter.
--
-- One game in `{busy_every}` is the busy player's: 1,000 of them are active, as many as are allowed. One in `{recluse_every}` is the
-- recluse's: these are all private.
create function pg_temp.player_id(n int) returns uuid language sql immutable as
    $$ select ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid $$;
-- The time of a step of a game, in whole milliseconds, as the service stores them.
create function pg_temp.at(begun_s float8, step_s float8, steps int) returns timestamptz language sql immutable as
    $$ select to_timestamp(round((begun_s + step_s * steps) * 1000) / 1000) $$;
insert into player (id, kind, name, created_at)
select pg_temp.player_id(n), 'guest', 'Guest-' || n, '{begin}' from generate_series(0, {players} + 10) n;

select setseed(0.5);
create unlogged table game_plan as
select *, extract(epoch from created_at)::float8 + 60 as begun_s, length_s / (plies + 1) as step_s,
    case status when 'finished' then plies when 'active' then 1 + n % greatest(plies - 1, 1) else 0 end as ply,
    status = 'open' and (busy or random() < 0.2) as invited,
    case when n % {recluse_every} = 1 then 'private' when chance < 0.85 then 'public' when chance < 0.95 then 'unlisted'
        else 'private' end as visibility,
    (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7000' || '8000'
        || lpad(to_hex(n), 12, '0'))::uuid as id
from (
    select *, case
            when busy and n % {busy_step} = 0 then case when n % ({busy_step} * 100) = 0 then 'open' else 'active' end
            when busy then case when n % ({busy_every} * 250) = {busy_every} then 'aborted' else 'finished' end
            when kind < 0.80 then 'finished' when kind < 0.90 then 'active' when kind < 0.95 then 'open' else 'aborted'
        end as status
    from (
        select n, date_trunc('milliseconds', '{begin}'::timestamptz + n * interval '{step} s') as created_at,
            n / 7 % {recorded} as recorded, n % {busy_every} = 0 as busy, random() as kind, random() as won, random() as chance,
            3600 + random() * 20 * 86400 as length_s, (random() * 1)::int::smallint as seat,
            case when n % {busy_every} = 0 then 0 when n % {recluse_every} = 1 then 1
                else 10 + ({players} * power(random(), 1.5))::int end as one,
            case when n % ({busy_every} * 2000) = {busy_every} * 2 then 2 else 10 + (({players} - 1) * power(random(), 1.5))::int end as other
        from generate_series(1, {games}) n
    ) drawn
) begun
join (select recorded, variant, max(ply) as plies from recorded_ply group by recorded, variant) kept using (recorded);
create index game_plan_created_at_idx on game_plan (created_at);
analyze game_plan, recorded_ply;

insert into game (id, created_at, variant, preset, options, rules_version, opponent, invited_player_id, visibility,
    creator_seat, seat_0_player_id, seat_1_player_id, started_at, finished_at, aborted_at, result_winner, result_reason,
    result_score_south, result_score_north, winner_seat, status, seat_0_moved, seat_1_moved, updated_at, version, ply,
    history_from_seq, turn_seat, position, expires_at, wake_at)
select id, created_at, variant, 'standard', '', 1, case when invited then 'player' else 'open' end,
    case when invited then pg_temp.player_id(other) end, visibility, game_plan.seat,
    case when game_plan.seat = 0 then pg_temp.player_id(one) when status <> 'open' then pg_temp.player_id(other) end,
    case when game_plan.seat = 1 then pg_temp.player_id(one) when status <> 'open' then pg_temp.player_id(other) end,
    case when status <> 'open' then pg_temp.at(begun_s, 0, 0) end,
    case when status = 'finished' then pg_temp.at(begun_s, step_s, plies + 1) end,
    case when status = 'aborted' then pg_temp.at(begun_s, step_s, plies + 1) end,
    case when status = 'finished' and won < 0.5 then 'south' when status = 'finished' and won < 0.96 then 'north' end,
    case when status = 'finished' then 'resignation' end, case when status = 'finished' then 0 end,
    case when status = 'finished' then 0 end,
    case when status = 'finished' and won < 0.5 then 0 when status = 'finished' and won < 0.96 then 1 end,
    status, seat_0_moved, seat_1_moved,
    case status when 'open' then created_at when 'active' then pg_temp.at(begun_s, step_s, ply)
        else pg_temp.at(begun_s, step_s, plies + 1) end,
    case status when 'open' then 1 when 'active' then 2 + ply when 'finished' then 4 + ply else 3 end,
    ply, history_from_seq, case when status = 'active' then turn_seat end, position,
    case when status = 'open' then created_at + interval '14 days' end,
    case when status = 'open' then created_at + interval '14 days' end
from game_plan join recorded_ply using (recorded, variant, ply)
order by n;
