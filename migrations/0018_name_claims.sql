-- No two accounts have names that read alike. What a name looks like is computed by the server (Unicode's skeletons), so each
-- account claims the forms of its name here. Accounts still sign in by account.name_key, which stays as it is.

create table name_claim (
    -- A form that no other account's name has.
    form text not null,
    player_id uuid not null,
    constraint name_claim_pkey primary key (form),
    constraint name_claim_account_fkey foreign key (player_id) references account (player_id) on delete cascade
);

-- The claims of an account, to change them and to delete them with it.
create index name_claim_player_id_idx on name_claim (player_id);

alter table account
    -- The name_key whose forms were claimed. Another one, or null, is the work of a release that knew no claims: the server
    -- claims what is free. Of accounts that read alike already, the first keeps the form, and all keep their names.
    add column claims_of text;

-- Accounts whose forms are to be claimed. Usually it is empty.
create index account_unclaimed_idx on account (player_id) where claims_of is distinct from name_key;

comment on table name_claim is 'Forms of accounts'' names: two names read alike if they have a form in common.';
comment on column account.claims_of is 'The name_key whose forms are in name_claim; null: none yet.';
