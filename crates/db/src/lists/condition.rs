//! The condition that the statements of all filtered lists share.
//!
//! Queries are checked at compile time, so their text must be literals: a macro joins the shared part to each of them.

/// A statement that finds the rows of a page: `$before`, the shared condition, `$won_or_lost`, the rest of the shared
/// condition, `$after`. `$scanned` is how many rows are looked at. The statement has the columns of `game` in scope.
///
/// The shared condition takes the parameters `$1` to `$12`, and a statement's own begin with `$13`:
///
/// | parameter | value |
/// | --- | --- |
/// | `$1` | how many rows of a range are looked at |
/// | `$2` | how many rows the page needs: [`Window::rows`](super::scan::Window) |
/// | `$3` | preset |
/// | `$4` | kind of clock |
/// | `$5` | kind of opponent |
/// | `$6` | reason of the end |
/// | `$7`, `$8` | least and most plies |
/// | `$9` | whether the game was imported |
/// | `$10` | whether the game was analysed |
/// | `$11` | how the game ended: `draw`, `south`, `north`, and what `$won_or_lost` adds |
/// | `$12` | whether the game is practice |
macro_rules! find_games {
    (
        $filter:ident, $window:ident, $scanned:expr,
        $before:literal, $won_or_lost:literal, $after:literal
        $(, { $($own:tt)* })?
    ) => {
        sqlx::query_as!(
            $crate::lists::page::Found,
            $before
                + r#"
                ($3::text is null or preset = $3)
                and ($4::text is null or $4 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                and ($5::text is null or opponent = $5)
                and ($6::text is null or result_reason = $6)
                and ply >= $7 and ply <= $8
                and ($9::boolean is null or $9 = (opponent = 'imported'))
                and ($10::boolean is null or $10 = (analysed_at is not null))
                and ($12::boolean is null or $12 = (practice is true))
                and ($11::text is null or $11 = 'draw' and result_winner is null or $11 = result_winner
                "#
                + $won_or_lost
                + ")"
                + $after,
            $scanned,
            $window.rows,
            $filter.preset,
            $filter.clock.map($crate::kinds::ClockKind::as_str),
            $filter.open_to.map($crate::kinds::OpponentKind::as_str),
            $filter.reason.as_deref(),
            $filter.plies.0,
            $filter.plies.1,
            $filter.imported,
            $filter.analysed,
            $filter.ended(),
            $filter.practice,
            $($($own)*)?
        )
    };
}

pub(super) use find_games;
