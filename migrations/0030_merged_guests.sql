-- Guests that were merged with an account. Their rows stay for the games between the two, without any way to sign in.
create table merged_guest (
    guest_id uuid not null,
    player_id uuid not null,
    merged_at timestamptz not null,
    constraint merged_guest_pkey primary key (guest_id),
    -- A guest that sits in no game any more is deleted like others.
    constraint merged_guest_guest_fkey foreign key (guest_id) references player (id) on delete cascade,
    constraint merged_guest_player_fkey foreign key (player_id) references player (id) on delete cascade
);
-- The guests of an account, to be erased with it.
create index merged_guest_player_idx on merged_guest (player_id);
