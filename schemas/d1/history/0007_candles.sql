-- Candles of files of days and longer, and the times around heights that no file has. Files of before have no candles: they are derived,
-- and made anew of the archive under the same names. See schemas/storage.md.
CREATE TABLE file_candles (
  chain TEXT NOT NULL,
  level INTEGER NOT NULL,
  coin TEXT NOT NULL,
  base TEXT NOT NULL,
  min_ms INTEGER NOT NULL,
  first INTEGER NOT NULL,
  number INTEGER NOT NULL,
  max_ms INTEGER NOT NULL,
  candles INTEGER NOT NULL,
  parts TEXT NOT NULL,
  PRIMARY KEY (chain, coin, base, min_ms, level, first, number)
) STRICT, WITHOUT ROWID;
-- Rows of a file go without those of all others being read.
CREATE INDEX file_candles_by_file ON file_candles (chain, level, first);

ALTER TABLE file_gaps ADD COLUMN after_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file_gaps ADD COLUMN before_ms INTEGER NOT NULL DEFAULT 9007199254740991;

DELETE FROM files;
DELETE FROM file_objects;
DELETE FROM file_keys;
DELETE FROM file_buckets;
DELETE FROM file_tables;
DELETE FROM file_gaps;
