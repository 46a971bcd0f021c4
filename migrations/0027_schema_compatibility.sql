-- Which binaries may work on this schema. During an update two releases share a database: the older one knows only its own migrations, so the
-- database has to say whether a later one excludes it.

-- One row, for the whole database.
create table schema_compatibility (
    is_only boolean not null default true,
    -- The least "newest migration" of a binary that may work on this schema. A binary whose newest migration is older ends its start with an
    -- error; a running one is no longer ready. A migration that breaks older binaries raises it to its own number.
    least_migration bigint not null,
    constraint schema_compatibility_pkey primary key (is_only),
    constraint schema_compatibility_is_only_check check (is_only)
);
comment on column schema_compatibility.least_migration is
    'The number of the newest migration that a binary must have at least to work on this schema';

-- Binaries without this migration read no mark. They refuse every later migration when they start.
insert into schema_compatibility (least_migration) values (27);
