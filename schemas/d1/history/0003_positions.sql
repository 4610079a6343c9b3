-- Daily snapshots of positions. See schemas/storage.md.

-- A file of a day whose positions are written, part by part. Coins up to coin are in the first parts parts.
CREATE TABLE position_days (
  chain TEXT NOT NULL,
  last INTEGER NOT NULL,
  first INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  coin TEXT NOT NULL,
  parts INTEGER NOT NULL,
  done INTEGER NOT NULL,
  PRIMARY KEY (chain, last)
) STRICT, WITHOUT ROWID;

-- The positions of a coin after a height, in part number of the day that ends there.
CREATE TABLE position_snapshots (
  chain TEXT NOT NULL,
  coin TEXT NOT NULL,
  height INTEGER NOT NULL,
  number INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  etag TEXT NOT NULL,
  PRIMARY KEY (chain, coin, height)
) STRICT, WITHOUT ROWID;
-- Removes the snapshots of a day without a scan.
CREATE INDEX position_snapshots_by_height ON position_snapshots (chain, height);
