-- The initial schema of D1 HISTORY. Times are Unix ms. See schemas/storage.md.

-- What the archive has in R2.
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
  -- What is known of blocks that the log never had. NULL: the segment is of the log.
  backfilled TEXT,
  -- When the block behind it was, so that files know whether its last minute is whole. NULL: not known.
  next_ms INTEGER,
  PRIMARY KEY (chain, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX segments_by_time ON segments (chain, first_ms);
-- Of a kind that was removed a segment has 0 bytes: the oldest that is there is found without reading those.
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
-- Checkpoints of a day are listed without reading those of all years.
CREATE INDEX checkpoints_by_time ON checkpoints (chain, time_ms);

CREATE TABLE gaps (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  after_ms INTEGER NOT NULL,
  before_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Objects that are about to go: their rows are gone in the same step, so that no row outlives its object, and whatever breaks
-- off then is known.
CREATE TABLE removals (
  chain TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (chain, key)
) STRICT, WITHOUT ROWID;

-- Files that are made of the archive, and whose rows are where in them.
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
-- Rows of a file go without those of all others being read.
CREATE INDEX file_keys_by_file ON file_keys (chain, first);

-- Of months what file_keys is of days: until a month is whole its days are read, and both have rows of the same keys and
-- heights.
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
-- Tables of a range are listed without reading those of all years.
CREATE INDEX file_tables_by_time ON file_tables (chain, name, first_ms);

CREATE TABLE file_gaps (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  -- Times around it.
  after_ms INTEGER NOT NULL DEFAULT 0,
  before_ms INTEGER NOT NULL DEFAULT 9007199254740991,
  -- What files know of such heights: fills alone, or nothing.
  known TEXT,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Heights that are in the archive and are to come into files beside the newest: backfilled, or of a file that was damaged.
CREATE TABLE unfiled (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  next_height INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Funding of the blocks of files, as sums that run on, and where it is known.
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

-- Heights of files of which is known what each wallet paid and got as funding.
CREATE TABLE file_paid (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;

-- Candles of files of days and longer.
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
