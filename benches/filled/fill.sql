-- Games with their logs, over two years. Every game is a copy of a recorded one; `{…}` is a parameter.
--
-- One game in 20 is the busy player's, with as many active ones as are allowed. One in 50 is the recluse's: these are all
-- private.
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
    case when n % 50 = 1 then 'private' when chance < 0.85 then 'public' when chance < 0.95 then 'unlisted'
        else 'private' end as visibility,
    (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7000' || '8000'
        || lpad(to_hex(n), 12, '0'))::uuid as id
from (
    select *, case
            when busy and n % 1000 = 0 then case when n % 100000 = 0 then 'open' else 'active' end
            when busy then case when n % 5000 = 20 then 'aborted' else 'finished' end
            when kind < 0.80 then 'finished' when kind < 0.90 then 'active' when kind < 0.95 then 'open' else 'aborted'
        end as status
    from (
        select n, date_trunc('milliseconds', '{begin}'::timestamptz + n * interval '{step} s') as created_at,
            n / 7 % {recorded} as recorded, n % 20 = 0 as busy, random() as kind, random() as won, random() as chance,
            3600 + random() * 20 * 86400 as length_s, (random() * 1)::int::smallint as seat,
            case when n % 20 = 0 then 0 when n % 50 = 1 then 1
                else 10 + ({players} * power(random(), 1.5))::int end as one,
            case when n % 40000 = 40 then 2 else 10 + (({players} - 1) * power(random(), 1.5))::int end as other
        from generate_series(1, {games}) n
    ) drawn
) begun
join (select recorded, variant, max(ply) as plies from recorded_ply group by recorded, variant) kept using (recorded);
create index game_plan_created_at_idx on game_plan (created_at);
analyze game_plan, recorded_ply;

insert into game (id, created_at, variant, preset, options, rules_version, opponent, invited_player_id, visibility,
    creator_seat, seat_0_player_id, seat_1_player_id, started_at, finished_at, aborted_at, result_winner, result_reason,
    result_score_south, result_score_north, winner_seat, status, seat_0_moved, seat_1_moved, updated_at, version, ply,
    history_from_seq, turn_seat, position)
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
    ply, history_from_seq, case when status = 'active' then turn_seat end, position
from game_plan join recorded_ply using (recorded, variant, ply)
order by n;

-- In batches of two days, so that the log's rows are in the order of time. The rows of one game then lie far from one
-- another, with those of other games between them.
do $do$
declare
    since timestamptz := '{begin}';
    until timestamptz;
begin
    while since < timestamptz '{begin}' + interval '{years_s} s' + interval '22 days' loop
        until := since + interval '2 days';
        insert into event (game_id, at, seq, ply, seat, kind, move, position, detail)
        select id, at, seq, ply, seat, kind, move, position, detail from (
            select id, created_at as at, 1 as seq, null::int as ply, null::smallint as seat, 'created' as kind,
                null as move, null as position, jsonb_strip_nulls(jsonb_build_object(
                    'player_id', pg_temp.player_id(one), 'variant', variant, 'preset', 'standard', 'options', '',
                    'rules_version', 1, 'opponent', case when invited then 'player' else 'open' end,
                    'invited_player_id', case when invited then pg_temp.player_id(other) end, 'visibility', visibility,
                    'creator_seat', seat)) as detail
            from game_plan where created_at >= since and created_at < until
            union all
            select id, pg_temp.at(begun_s, 0, 0), 2, null, 1 - seat, 'joined', null, null,
                jsonb_build_object('player_id', pg_temp.player_id(other))
            from game_plan
            where created_at >= since - interval '1 min' and created_at < until - interval '1 min' and status <> 'open'
            union all
            select id, pg_temp.at(begun_s, step_s, recorded_ply.ply), 2 + recorded_ply.ply, recorded_ply.ply,
                recorded_ply.seat, 'moved', move, position, null
            from game_plan
            join recorded_ply on recorded_ply.recorded = game_plan.recorded and recorded_ply.ply between 1 and game_plan.ply
                and recorded_ply.ply >= (extract(epoch from since)::float8 - begun_s) / step_s - 1
                and recorded_ply.ply <= (extract(epoch from until)::float8 - begun_s) / step_s + 1
            where created_at >= since - interval '21 days' and created_at < until
                and pg_temp.at(begun_s, step_s, recorded_ply.ply) >= since
                and pg_temp.at(begun_s, step_s, recorded_ply.ply) < until
            union all
            select id, pg_temp.at(begun_s, step_s, plies + 1), 3 + ply, null, 0::smallint, 'resigned', null, null, null
            from game_plan
            where created_at >= since - interval '21 days' and created_at < until and status = 'finished'
                and pg_temp.at(begun_s, step_s, plies + 1) >= since and pg_temp.at(begun_s, step_s, plies + 1) < until
            union all
            select id, pg_temp.at(begun_s, step_s, plies + 1), 4 + ply, null, null, 'finished', null, null,
                jsonb_build_object('winner', case when won < 0.5 then 'south' when won < 0.96 then 'north' end,
                    'reason', 'resignation', 'score', jsonb_build_object('south', 0, 'north', 0))
            from game_plan
            where created_at >= since - interval '21 days' and created_at < until and status = 'finished'
                and pg_temp.at(begun_s, step_s, plies + 1) >= since and pg_temp.at(begun_s, step_s, plies + 1) < until
            union all
            select id, pg_temp.at(begun_s, step_s, plies + 1), 3, null, seat, 'aborted', null, null, null
            from game_plan
            where created_at >= since - interval '21 days' and created_at < until and status = 'aborted'
                and pg_temp.at(begun_s, step_s, plies + 1) >= since and pg_temp.at(begun_s, step_s, plies + 1) < until
        ) happened
        order by at, id, seq;
        since := until;
    end loop;
end
$do$;

drop table game_plan, recorded_ply;
analyze;
