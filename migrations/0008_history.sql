-- In Oware the rules ask how often a position came since the last capture. The fold holds those positions, and the row says
-- since which event they are to be read from the log: of the opening, that is the first. Null where the rules ask for none,
-- as in Kalah, and so in all games stored so far. A move changes it, so it is in no index.
alter table game add column history_from_seq integer;
