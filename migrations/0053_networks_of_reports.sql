-- The network of a reporting account is stored as that of a guest is, and both are forgotten after a day, when they no longer count.

-- What is to be forgotten. Only reports of a day have a network, so the index stays small.
create index player_report_network_kept_idx on player_report (created_at) where network is not null;
