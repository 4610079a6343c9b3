-- Sums of usage by hour. See schemas/storage.md.

-- Hourly sums of usage (UTC) of the last days, written in the transaction that copies usage. A report of two days reads
-- these rows instead of those of all keys.
CREATE TABLE usage_hours (
  -- Unix ms of the start of the hour.
  hour INTEGER NOT NULL,
  product TEXT NOT NULL,
  calls INTEGER NOT NULL,
  -- Micro-credits.
  micro INTEGER NOT NULL,
  PRIMARY KEY (hour, product)
) STRICT, WITHOUT ROWID;
