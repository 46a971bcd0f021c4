-- Notes: what a player writes on a ply of a game for nobody else.
create table note (
    player_id uuid not null,
    game_id uuid not null,
    -- 0 is where the game begins.
    ply integer not null,
    text text not null,
    updated_at timestamptz not null,
    -- Every query is about one player: their notes on a game in the order of plies, all of them one after the other, and how many there
    -- are. So the key is the only index.
    constraint note_pkey primary key (player_id, game_id, ply),
    -- Nothing of a player who is deleted stays. There is no foreign key to "game": games are never deleted, and checking it would lock a
    -- row that moves are waiting to change.
    constraint note_player_fkey foreign key (player_id) references player (id) on delete cascade,
    constraint note_text_length_check check (char_length(text) between 1 and 4000)
);
