-- Files that are made of the archive, and whose rows are where in them. See schemas/storage.md.
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

CREATE TABLE file_gaps (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;
