-- Who administers beside the holder of ADMIN_TOKEN, and what all of them did. Times are Unix ms.

CREATE TABLE staff (
  -- SHA-256 of the token, hex: the token itself is stored nowhere.
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('support', 'billing', 'owner')),
  created INTEGER NOT NULL,
  revoked INTEGER
) STRICT, WITHOUT ROWID;

-- One token at a time for each person.
CREATE UNIQUE INDEX staff_by_name ON staff (name) WHERE revoked IS NULL;

-- A row before anything is done, so that nothing done is without one. What came of it is a row of its own, after.
CREATE TABLE audit (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  role TEXT NOT NULL,
  -- Id of the endpoint.
  action TEXT NOT NULL,
  -- What it was done to, as the path names it. Empty: the gateway.
  target TEXT NOT NULL,
  -- Whose that is, where the request says it.
  account TEXT,
  -- JSON of query and body, cut short, without secrets.
  sent TEXT NOT NULL,
  request_id TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_actor ON audit (actor, number);
CREATE INDEX audit_by_action ON audit (action, number);
CREATE INDEX audit_by_account ON audit (account, number);
CREATE INDEX audit_by_request ON audit (request_id);

CREATE TABLE audit_outcomes (
  number INTEGER PRIMARY KEY REFERENCES audit (number),
  at INTEGER NOT NULL,
  -- HTTP status that was answered.
  status INTEGER NOT NULL,
  -- Whose it was, where only the answer says it.
  account TEXT
) STRICT;

CREATE INDEX audit_outcomes_by_account ON audit_outcomes (account, number);

-- Lists and sums of the console of operators.
CREATE INDEX grants_by_time ON grants (created);
CREATE INDEX keys_by_time ON keys (created, hash);

-- Sums of usage over the keys, hours and types of a UTC day, kept by whoever copies usage, in the same transaction:
-- a month of all accounts is read of these, and not of millions of hours.
CREATE TABLE usage_days (
  -- Unix ms of the start of the day.
  day INTEGER NOT NULL,
  product TEXT NOT NULL,
  calls INTEGER NOT NULL,
  -- Micro-credits.
  micro INTEGER NOT NULL,
  PRIMARY KEY (day, product)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_days
SELECT hour - hour % 86400000, product, sum(calls), sum(micro) FROM usage GROUP BY 1, 2;
