-- The initial schema of D1 ACCOUNTS. Times are Unix ms, amounts are integer micro-credits. See schemas/storage.md.

-- The authoritative list of accounts, keys and grants. The CreditMeter of the account stores the balance.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  plan TEXT NOT NULL,
  created INTEGER NOT NULL,
  -- JSON object of terms that replace those of the plan. NULL: none.
  terms TEXT
) STRICT;

CREATE TABLE keys (
  -- SHA-256 of the key in hex. The key itself is not stored.
  hash TEXT PRIMARY KEY,
  -- First 12 characters of the key, for display.
  prefix TEXT NOT NULL,
  label TEXT NOT NULL,
  account TEXT NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL CHECK (kind IN ('api', 'service')),
  -- JSON array of product names.
  products TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER,
  -- Maximum micro-credits that the key may spend. NULL: no limit. A copy for lists, because the CreditMeter enforces it.
  cap INTEGER,
  -- JSON array of IP ranges from which the key may be used. NULL: any address.
  ranges TEXT,
  -- Hash of the key that this one replaced. Unique, so that a repeated rotation creates one key.
  replaces TEXT,
  -- Hash of the first key in a chain of rotations, whose keys share one cap. NULL: this key.
  root TEXT,
  -- JSON of the rotation that created this key: idempotency key, grace in ms, and end of the old key.
  rotation TEXT,
  -- Idempotency key of the request that created this key.
  request TEXT,
  -- Pipelines that a service key may change. NULL: own for a restricted key, otherwise all.
  pipelines TEXT CHECK (pipelines IN ('own', 'all')),
  -- First key in the rotation chain of the key that created this one or rotated its predecessor. NULL: the operator or the
  -- sign-up created it.
  maker TEXT
) STRICT;

CREATE INDEX keys_by_account ON keys (account, created);
CREATE INDEX keys_by_prefix ON keys (prefix);
CREATE INDEX keys_by_time ON keys (created, hash);
CREATE UNIQUE INDEX keys_by_replaced ON keys (replaces);
CREATE INDEX keys_by_root ON keys (root);
CREATE UNIQUE INDEX keys_by_request ON keys (account, request) WHERE request IS NOT NULL;
CREATE INDEX keys_by_maker ON keys (maker) WHERE maker IS NOT NULL;

CREATE TABLE grants (
  account TEXT NOT NULL REFERENCES accounts (id),
  -- Idempotency key of the caller.
  id TEXT NOT NULL,
  micro INTEGER NOT NULL,
  created INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT;

CREATE INDEX accounts_by_plan ON accounts (plan, id);
CREATE INDEX grants_by_time ON grants (created);

-- Plans, initially those of the specification. A limit that is NULL is not enforced.

CREATE TABLE plans (
  name TEXT PRIMARY KEY,
  micro INTEGER NOT NULL CHECK (micro >= 0),
  period TEXT NOT NULL CHECK (period IN ('once', 'month')),
  -- Days until a plan with the period once ends. NULL: it does not end.
  days INTEGER CHECK (days IS NULL OR (days > 0 AND period = 'once')),
  requests_per_second INTEGER,
  info_requests_per_second INTEGER NOT NULL,
  stream_connections INTEGER NOT NULL,
  stream_subscriptions INTEGER NOT NULL,
  stream_messages_per_minute INTEGER NOT NULL,
  -- 1: accounts may have terms of their own.
  custom INTEGER NOT NULL CHECK (custom IN (0, 1))
) STRICT;

INSERT INTO plans VALUES
  ('trial', 25000000000, 'once', 14, 4, 1000, 100, 1000, 2000, 0),
  ('entry', 10000000000, 'month', NULL, 4, 1000, 100, 1000, 2000, 0),
  ('professional', 300000000000, 'month', NULL, 50, 5000, 1000, 10000, 2000, 0),
  ('enterprise', 0, 'month', NULL, NULL, 50000, 10000, 100000, 10000, 1);

-- Pipelines as configured by their owners. The Sink object stores their progress.

CREATE TABLE pipelines (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (id),
  -- JSON of all fields that the owner sets. Asterisks replace a secret.
  fields TEXT NOT NULL,
  -- Secret of the destination, encrypted for this row. NULL: no secret.
  sealed TEXT,
  -- Size of fields and sealed.
  bytes INTEGER NOT NULL,
  -- Hash and label of the service key that created it.
  creator TEXT NOT NULL,
  creator_name TEXT NOT NULL,
  -- The revision increases with every change. The second column is the last revision that the Sink object confirmed.
  revision INTEGER NOT NULL,
  told INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  -- Time of deletion. The row is removed after the Sink object has confirmed that it is empty.
  removed INTEGER,
  -- Hash and label of the key that pays: the last one that started it, changed its output, or adopted it.
  payer TEXT NOT NULL DEFAULT '',
  payer_name TEXT NOT NULL DEFAULT '',
  -- First keys in the rotation chains of the payer and of the key that last set the destination.
  payer_root TEXT NOT NULL DEFAULT '',
  destination_root TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX pipelines_by_account ON pipelines (account, created);

-- Console sessions. At each use, the rights are read from the token or key that started the session.

CREATE TABLE sessions (
  -- SHA-256 of the cookie in hex. The cookie itself is not stored.
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('admin', 'staff', 'key')),
  -- SHA-256 in hex of the token or key that started the session.
  token_hash TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_token ON sessions (token_hash, created);
CREATE INDEX sessions_by_end ON sessions (expires);

-- Administrators other than the holder of ADMIN_TOKEN, and the audit log of all administrators.

CREATE TABLE staff (
  -- SHA-256 of the token in hex. The token itself is not stored.
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('support', 'billing', 'owner')),
  created INTEGER NOT NULL,
  revoked INTEGER
) STRICT, WITHOUT ROWID;

-- One active token per person.
CREATE UNIQUE INDEX staff_by_name ON staff (name) WHERE revoked IS NULL;

-- Each row is written before its action, so that no action is missing. The outcome is written afterwards.
CREATE TABLE audit (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  role TEXT NOT NULL,
  -- Id of the endpoint.
  action TEXT NOT NULL,
  -- Target of the action, as in the path. Empty: the gateway.
  target TEXT NOT NULL,
  -- Account of the target, if the request names it.
  account TEXT,
  -- JSON of the query and the body, truncated, without secrets.
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
  -- HTTP status of the response.
  status INTEGER NOT NULL,
  -- Account of the target, if only the response names it.
  account TEXT
) STRICT;

CREATE INDEX audit_outcomes_by_account ON audit_outcomes (account, number);

-- Purchases of credits, events of payment providers, and sign-ups by e-mail. Money is an integer in minor units of its
-- currency.

CREATE TABLE orders (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Number for people and providers, and id of the grant. It contains random characters, because gateways can share a
  -- provider account.
  number TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL REFERENCES accounts (id),
  micro INTEGER NOT NULL CHECK (micro > 0),
  minor INTEGER NOT NULL CHECK (minor > 0),
  currency TEXT NOT NULL,
  provider TEXT NOT NULL CHECK (provider IN ('manual', 'stripe')),
  state TEXT NOT NULL CHECK (state IN ('open', 'paid', 'failed', 'void')),
  -- Id at the provider, and payment URL. NULL: paid manually, or checkout not started.
  reference TEXT,
  url TEXT,
  created INTEGER NOT NULL,
  paid INTEGER,
  -- Time of the grant. NULL in a paid order: the grant is pending or withheld, see note.
  granted INTEGER,
  refunded INTEGER NOT NULL DEFAULT 0,
  -- Note for the operator.
  note TEXT
) STRICT;

CREATE INDEX orders_by_account ON orders (account, seq);
CREATE INDEX orders_by_state ON orders (state, paid);

-- Outcome of each provider event.
CREATE TABLE checkout_events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  number TEXT,
  outcome TEXT NOT NULL,
  seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX checkout_events_by_time ON checkout_events (seen);

-- Sign-ups. Addresses are stored only as HMACs under a key derived from KEY_SECRET.
CREATE TABLE signups (
  address TEXT PRIMARY KEY,
  -- HMAC of the normalized address. Each one gets one trial.
  base TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signup_links (
  -- SHA-256 of the token in hex.
  hash TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  base TEXT NOT NULL,
  -- HMAC of the requesting network. NULL: unknown.
  network TEXT,
  created INTEGER NOT NULL,
  used INTEGER,
  -- HMACs of the /24 or /48 network of the requesting address, and of the mailbox domain.
  area TEXT,
  domain TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX signup_links_by_time ON signup_links (created);
CREATE INDEX signup_links_by_base ON signup_links (base, created);
CREATE INDEX signup_links_by_network ON signup_links (network, created);
