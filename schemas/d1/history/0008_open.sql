-- Tables of a range are listed without reading those of all years.
CREATE INDEX file_tables_by_time ON file_tables (chain, name, first_ms);

-- Heights that are in the archive and are to come into files beside the newest: backfilled, or of a file that was damaged.
CREATE TABLE unfiled (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  next_height INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;
INSERT INTO unfiled (chain, from_height, to_height, next_height, at_ms)
  SELECT chain, MIN(first), MAX(last), MIN(first), 0 FROM segments WHERE backfilled IS NOT NULL GROUP BY chain;

-- What files know of such heights: fills alone, or nothing.
ALTER TABLE file_gaps ADD COLUMN known TEXT;
