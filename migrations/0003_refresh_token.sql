-- Refresh tokens: what a phone keeps for weeks, so that its player is known again. A token is used once and replaced by its
-- successor; the tokens that follow from one sign-in are a family.
create table refresh_family (
    id uuid not null,
    player_id uuid not null,
    -- The newest generation of which a token was used, and which one it was; 0 before the first. That one may come back,
    -- because its answer may have been lost; any other used one has been stolen.
    used_generation integer not null,
    used_hash bytea,
    revoked_at timestamptz,
    constraint refresh_family_pkey primary key (id),
    constraint refresh_family_player_fkey foreign key (player_id) references player (id)
);

-- All sign-ins of a player, to revoke them together.
create index refresh_family_player_idx on refresh_family (player_id);

create table refresh_token (
    -- SHA-256 of the token, which is known to its holder only. 256 random bits need no salt and no slow hash.
    hash bytea not null,
    family_id uuid not null,
    -- 1, 2, 3, … within the family. Several tokens are of one generation if an answer was lost.
    generation integer not null,
    expires_at timestamptz not null,
    constraint refresh_token_pkey primary key (hash),
    constraint refresh_token_family_fkey foreign key (family_id) references refresh_family (id) on delete cascade
);

create index refresh_token_family_idx on refresh_token (family_id);
