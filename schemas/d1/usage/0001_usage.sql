-- The initial schema of D1 USAGE, with usage and rejected requests. Times are Unix ms. See schemas/storage.md.

-- Usage by key, hour, product and type, copied from the CreditMeters for reports across accounts and for the last use of
-- a key. A meter sends the sums of an hour repeatedly. The row with the highest changes is the newest.

CREATE TABLE usage (
  key_hash TEXT NOT NULL,
  -- Unix ms of the start of the hour.
  hour INTEGER NOT NULL,
  product TEXT NOT NULL,
  type TEXT NOT NULL,
  calls INTEGER NOT NULL,
  -- Micro-credits.
  micro INTEGER NOT NULL,
  -- Number of changes to the sums, which a refund can lower.
  changes INTEGER NOT NULL,
  PRIMARY KEY (key_hash, hour, product, type)
) STRICT, WITHOUT ROWID;

-- Daily sums of usage (UTC), written in the transaction that copies usage. Reports of a month read these rows instead of
-- millions of hours.
CREATE TABLE usage_days (
  -- Unix ms of the start of the day.
  day INTEGER NOT NULL,
  product TEXT NOT NULL,
  calls INTEGER NOT NULL,
  -- Micro-credits.
  micro INTEGER NOT NULL,
  PRIMARY KEY (day, product)
) STRICT, WITHOUT ROWID;

-- Rejected requests: the newest of each account, and hourly counts that include removed rows. Written in batches, some
-- seconds late.

CREATE TABLE refusals (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  account TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  -- Product, and the type, method or endpoint. Empty if the request was rejected before they were read.
  product TEXT NOT NULL,
  type TEXT NOT NULL,
  -- Code and message of the response. Invisible characters are escaped.
  code TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT;

CREATE INDEX refusals_by_account ON refusals (account, at);
CREATE INDEX refusals_by_request ON refusals (request_id);

CREATE TABLE refusal_counts (
  -- Unix ms of the start of the hour.
  hour INTEGER NOT NULL,
  account TEXT NOT NULL,
  code TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (hour, account, code)
) STRICT, WITHOUT ROWID;

CREATE INDEX refusal_counts_by_account ON refusal_counts (account, hour);
