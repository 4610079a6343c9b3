-- Of months what file_keys is of days: until a month is whole its days are read, and both have rows of the same keys and
-- heights. See schemas/storage.md.
CREATE TABLE file_month_keys (
  chain TEXT NOT NULL,
  key TEXT NOT NULL,
  first_height INTEGER NOT NULL,
  last_height INTEGER NOT NULL,
  min_ms INTEGER NOT NULL,
  max_ms INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  first INTEGER NOT NULL,
  number INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (chain, key, first_height)
) STRICT, WITHOUT ROWID;

-- Rows of a file go without those of all others being read.
CREATE INDEX file_keys_by_file ON file_keys (chain, first);
CREATE INDEX file_month_keys_by_file ON file_month_keys (chain, first);
