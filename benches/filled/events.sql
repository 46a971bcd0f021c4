-- The logs of games. `{…}` is a parameter.
--
-- In batches of two days, so that the log's rows are in the order of time. The rows of one game then lie far from one
-- another, with those of other games between them.
create temporary view logged_plan as select * from game_plan where {is_logged};

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
            from logged_plan where created_at >= since and created_at < until
            union all
            select id, pg_temp.at(begun_s, 0, 0), 2, null, 1 - seat, 'joined', null, null,
                jsonb_build_object('player_id', pg_temp.player_id(other))
            from logged_plan
            where created_at >= since - interval '1 min' and created_at < until - interval '1 min' and status <> 'open'
            union all
            select id, pg_temp.at(begun_s, step_s, recorded_ply.ply), 2 + recorded_ply.ply, recorded_ply.ply,
                recorded_ply.seat, 'moved', move, position, null
            from logged_plan
            join recorded_ply on recorded_ply.recorded = logged_plan.recorded and recorded_ply.ply between 1 and logged_plan.ply
                and recorded_ply.ply >= (extract(epoch from since)::float8 - begun_s) / step_s - 1
                and recorded_ply.ply <= (extract(epoch from until)::float8 - begun_s) / step_s + 1
            where created_at >= since - interval '21 days' and created_at < until
                and pg_temp.at(begun_s, step_s, recorded_ply.ply) >= since
                and pg_temp.at(begun_s, step_s, recorded_ply.ply) < until
            union all
            select id, pg_temp.at(begun_s, step_s, plies + 1), 3 + ply, null, 0::smallint, 'resigned', null, null, null
            from logged_plan
            where created_at >= since - interval '21 days' and created_at < until and status = 'finished'
                and pg_temp.at(begun_s, step_s, plies + 1) >= since and pg_temp.at(begun_s, step_s, plies + 1) < until
            union all
            select id, pg_temp.at(begun_s, step_s, plies + 1), 4 + ply, null, null, 'finished', null, null,
                jsonb_build_object('winner', case when won < 0.5 then 'south' when won < 0.96 then 'north' end,
                    'reason', 'resignation', 'score', jsonb_build_object('south', 0, 'north', 0))
            from logged_plan
            where created_at >= since - interval '21 days' and created_at < until and status = 'finished'
                and pg_temp.at(begun_s, step_s, plies + 1) >= since and pg_temp.at(begun_s, step_s, plies + 1) < until
            union all
            select id, pg_temp.at(begun_s, step_s, plies + 1), 3, null, seat, 'aborted', null, null, null
            from logged_plan
            where created_at >= since - interval '21 days' and created_at < until and status = 'aborted'
                and pg_temp.at(begun_s, step_s, plies + 1) >= since and pg_temp.at(begun_s, step_s, plies + 1) < until
        ) happened
        order by at, id, seq;
        since := until;
    end loop;
end
$do$;

drop view logged_plan;
