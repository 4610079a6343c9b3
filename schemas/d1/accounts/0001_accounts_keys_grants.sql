-- Accounts, their keys and what was granted to them. Times are Unix ms, amounts are integer micro-credits.
-- The balance itself lives in the CreditMeter of the account. These rows are the truth about who exists.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  plan TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;

CREATE TABLE keys (
  -- SHA-256 of the key, hex: the key itself is stored nowhere.
  hash TEXT PRIMARY KEY,
  -- First 12 characters of the key, for people.
  prefix TEXT NOT NULL,
  label TEXT NOT NULL,
  account TEXT NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL CHECK (kind IN ('api', 'service')),
  -- JSON array of product names.
  products TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT;

CREATE INDEX keys_by_account ON keys (account, created);
CREATE INDEX keys_by_prefix ON keys (prefix);

CREATE TABLE grants (
  account TEXT NOT NULL REFERENCES accounts (id),
  -- The idempotency key of the caller: the same one never grants twice.
  id TEXT NOT NULL,
  micro INTEGER NOT NULL,
  created INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT;
