-- What the archive has in R2. See schemas/storage.md.
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
  PRIMARY KEY (chain, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX segments_by_time ON segments (chain, first_ms);

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

CREATE TABLE gaps (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  after_ms INTEGER NOT NULL,
  before_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;
