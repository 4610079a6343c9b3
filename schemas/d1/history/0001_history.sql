-- The initial schema of D1 HISTORY. Times are Unix ms. See schemas/storage.md.

-- Archived segments in R2.
CREATE TABLE segments (
  chain TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  epoch TEXT,
  lines INTEGER NOT NULL,
  events_bytes INTEGER NOT NULL,
  books_bytes INTEGER NOT NULL,
  events_sha256 TEXT NOT NULL,
  books_sha256 TEXT NOT NULL,
  -- Known parts of backfilled blocks: fills or events. NULL: the segment was written by the log.
  backfilled TEXT,
  -- Time of the next block, which shows whether the last minute is complete. NULL: unknown.
  next_ms INTEGER,
  PRIMARY KEY (chain, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX segments_by_time ON segments (chain, first_ms);
-- A removed object has 0 bytes. The indexes find the oldest remaining one without reading removed rows.
CREATE INDEX segments_with_events ON segments (chain, first) WHERE events_bytes > 0;
CREATE INDEX segments_with_books ON segments (chain, first) WHERE books_bytes > 0;

CREATE TABLE checkpoints (
  chain TEXT NOT NULL,
  height INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  epoch TEXT NOT NULL,
  coins INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (chain, height)
) STRICT, WITHOUT ROWID;
-- Lists the checkpoints of a day without a scan.
CREATE INDEX checkpoints_by_time ON checkpoints (chain, time_ms);

CREATE TABLE gaps (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  after_ms INTEGER NOT NULL,
  before_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Objects to remove. Their rows were removed in the same transaction, so that no row outlives its object and an interrupted
-- removal continues.
CREATE TABLE removals (
  chain TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (chain, key)
) STRICT, WITHOUT ROWID;

-- Files built from the archive, and the positions of their rows.
CREATE TABLE files (
  chain TEXT NOT NULL,
  level INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  objects INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'live', 'merged')),
  next TEXT,
  merged_ms INTEGER,
  PRIMARY KEY (chain, level, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_objects (
  chain TEXT NOT NULL,
  level INTEGER NOT NULL,
  first INTEGER NOT NULL,
  number INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  etag TEXT NOT NULL,
  PRIMARY KEY (chain, level, first, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_keys (
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
-- Removes the rows of a file without a scan.
CREATE INDEX file_keys_by_file ON file_keys (chain, first);

-- Like file_keys, for months. Both tables can have rows of the same keys and heights, because the days are read until the
-- month is complete.
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
CREATE INDEX file_month_keys_by_file ON file_month_keys (chain, first);

CREATE TABLE file_buckets (
  chain TEXT NOT NULL,
  level INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  first INTEGER NOT NULL,
  number INTEGER NOT NULL,
  entries TEXT NOT NULL,
  PRIMARY KEY (chain, level, bucket, first, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_tables (
  chain TEXT NOT NULL,
  level INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (chain, level, first, number, name)
) STRICT, WITHOUT ROWID;
-- Lists the tables of a range without a scan.
CREATE INDEX file_tables_by_time ON file_tables (chain, name, first_ms);

CREATE TABLE file_gaps (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  -- Times of the blocks around the gap.
  after_ms INTEGER NOT NULL DEFAULT 0,
  before_ms INTEGER NOT NULL DEFAULT 9007199254740991,
  -- Known parts of these blocks: fills. NULL: nothing.
  known TEXT,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Archived heights without files that are not the newest: backfilled, or part of a damaged file.
CREATE TABLE unfiled (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  next_height INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Cumulative funding of blocks in files, and the heights for which it is known.
CREATE TABLE file_funding (
  chain TEXT NOT NULL,
  coin TEXT NOT NULL,
  height INTEGER NOT NULL,
  per_unit TEXT NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY (chain, coin, height)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_funded (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Heights in files for which the funding payments of each wallet are known.
CREATE TABLE file_paid (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Candles of daily and monthly files.
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
-- Removes the rows of a file without a scan.
CREATE INDEX file_candles_by_file ON file_candles (chain, level, first);
