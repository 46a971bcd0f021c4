//! Rows as columns: how a statement takes many rows as one array for each column.

/// Declares a row, and its columns as arrays of the same names, which are filled row by row. A statement names each
/// array where it takes it, as in `unnest($1::uuid[]) as game_id`. So its parameters and the arguments
/// `columns.game_id, …` can be compared line by line.
///
/// Arrays, each with an `unnest` of its own, are the cheapest form to read. For 64 appends of 17 columns PostgreSQL
/// needs 0.15 ms; `from unnest(…, …) as given (…)` needs 0.4 ms. `jsonb_to_recordset`, which would carry the names,
/// needs 2 ms: every value is parsed from text.
macro_rules! columns {
    (
        $(#[$meta:meta])*
        $vis:vis struct $row:ident $(<$life:lifetime>)? => $columns:ident {
            $($(#[$doc:meta])* $name:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $row $(<$life>)? {
            $($(#[$doc])* pub(crate) $name: $type,)*
        }

        #[derive(Debug)]
        $vis struct $columns $(<$life>)? {
            $($name: Vec<$type>,)*
        }

        impl $(<$life>)? $columns $(<$life>)? {
            pub(crate) fn of(rows: impl Iterator<Item = $row $(<$life>)?>) -> Self {
                let count = rows.size_hint().0;
                let mut columns = Self { $($name: Vec::with_capacity(count),)* };
                for row in rows {
                    $(columns.$name.push(row.$name);)*
                }
                columns
            }
        }
    };
}

pub(crate) use columns;
