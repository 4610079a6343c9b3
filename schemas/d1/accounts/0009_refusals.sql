-- What callers with a key were refused: the newest of each account to look at, and how many of each hour beside, which
-- are right also where rows were too many to keep. Written in batches, some seconds late. Times are Unix ms.

CREATE TABLE refusals (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  account TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  -- First 12 characters of the key, for people.
  key_prefix TEXT NOT NULL,
  -- What was asked for: the product, and the type, method or endpoint. Empty where that was not read.
  product TEXT NOT NULL,
  type TEXT NOT NULL,
  -- As on the wire, and its sentence with what is unseen escaped.
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

-- By which the owner of an account made a key: the same one makes no second key.
ALTER TABLE keys ADD COLUMN request TEXT;
CREATE UNIQUE INDEX keys_by_request ON keys (account, request) WHERE request IS NOT NULL;
