-- Removes repairs of heights that retention removed without a scan.
CREATE INDEX repairs_by_height ON repairs (chain, to_height);

-- No query uses it any more.
DROP INDEX gaps_beyond;
