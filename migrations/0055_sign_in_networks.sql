-- The networks of an account's last successful sign-ins: places in the queue of passwords are kept for them, and guesses from elsewhere do not slow them down.
-- The release before does not know the table.
create table sign_in_network (
    player_id uuid not null,
    -- A hash of the player and of the network, under a key that the database does not have. So it tells neither an address, nor who shares one.
    network uuid not null,
    seen_at timestamptz not null,
    constraint sign_in_network_pkey primary key (player_id, network),
    constraint sign_in_network_player_fkey foreign key (player_id) references player (id) on delete cascade
);
-- What is old enough to be forgotten.
create index sign_in_network_seen_at_idx on sign_in_network (seen_at);

comment on column player.network is
    'A keyed hash of the network from which a guest or an account was made, while the account is new; of an app''s player the app. Null for any other account.';
