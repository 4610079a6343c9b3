-- The initial schema of D1 ACCOUNTS. Times are Unix ms, amounts are integer micro-credits. See schemas/storage.md.

-- Accounts, their keys and what was granted to them: the truth about who exists. The balance itself lives in the CreditMeter of
-- the account.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  plan TEXT NOT NULL,
  created INTEGER NOT NULL,
  -- What was agreed with it in place of the terms of its plan, as a JSON object. NULL: nothing.
  terms TEXT
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
  revoked INTEGER,
  -- Micro-credits that it may spend in all. NULL: as much as its account has. A copy for lists of what the CreditMeter enforces.
  cap INTEGER,
  -- JSON array of ranges of addresses that it may be used from. NULL: from anywhere.
  ranges TEXT,
  -- Hash of the key that this one replaced: once only, so that a rotation that is asked for twice makes one key.
  replaces TEXT,
  -- Hash of the first key of a row of rotations, which share one cap. NULL: this one.
  root TEXT,
  -- JSON of the rotation that made this key: its idempotency key, its grace in ms, when the old key ends.
  rotation TEXT,
  -- Idempotency key under which the owner of the account made it: the same one makes no second key.
  request TEXT,
  -- Pipelines that a service key may touch. NULL: own where anything restricts the key, and all elsewhere.
  pipelines TEXT CHECK (pipelines IN ('own', 'all')),
  -- First key in the chain of rotations of the key that made this one, or rotated the key before it. NULL: the operator or the
  -- sign-up did.
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
  -- The idempotency key of the caller: the same one never grants twice.
  id TEXT NOT NULL,
  micro INTEGER NOT NULL,
  created INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT;

CREATE INDEX accounts_by_plan ON accounts (plan, id);
CREATE INDEX grants_by_time ON grants (created);

-- What keys used, per hour and type: copies of the rows of the CreditMeters, for reports over all accounts and for the
-- last use of a key. A meter sends whole sums of an hour, again and again. Those of the most changes are the newest.

CREATE TABLE usage (
  key_hash TEXT NOT NULL,
  -- Unix ms of the start of the hour.
  hour INTEGER NOT NULL,
  product TEXT NOT NULL,
  type TEXT NOT NULL,
  calls INTEGER NOT NULL,
  -- Micro-credits.
  micro INTEGER NOT NULL,
  -- How often the meter has changed the sums: a minute that is refunded lowers them.
  changes INTEGER NOT NULL,
  PRIMARY KEY (key_hash, hour, product, type)
) STRICT, WITHOUT ROWID;

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

-- Plans as data, beginning with those of the specification. Credits are integer micro-credits. A limit per second, per
-- minute or at once that is empty does not exist.

CREATE TABLE plans (
  name TEXT PRIMARY KEY,
  micro INTEGER NOT NULL CHECK (micro >= 0),
  period TEXT NOT NULL CHECK (period IN ('once', 'month')),
  -- Days after which a plan of the period once ends. NULL: never.
  days INTEGER CHECK (days IS NULL OR (days > 0 AND period = 'once')),
  requests_per_second INTEGER,
  info_requests_per_second INTEGER NOT NULL,
  stream_connections INTEGER NOT NULL,
  stream_subscriptions INTEGER NOT NULL,
  stream_messages_per_minute INTEGER NOT NULL,
  -- 1: terms may be agreed per account.
  custom INTEGER NOT NULL CHECK (custom IN (0, 1))
) STRICT;

INSERT INTO plans VALUES
  ('trial', 25000000000, 'once', 14, 4, 1000, 100, 1000, 2000, 0),
  ('entry', 10000000000, 'month', NULL, 4, 1000, 100, 1000, 2000, 0),
  ('professional', 300000000000, 'month', NULL, 50, 5000, 1000, 10000, 2000, 0),
  ('enterprise', 0, 'month', NULL, NULL, 50000, 10000, 100000, 10000, 1);

-- Pipelines of accounts: what their owners want. What runs one, and how far it is, is known to its Sink object.

CREATE TABLE pipelines (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (id),
  -- JSON of every field that its owner writes, with asterisks in the place of a secret.
  fields TEXT NOT NULL,
  -- The secret of its destination, encrypted for this row alone. NULL: it has none.
  sealed TEXT,
  -- Of fields and sealed.
  bytes INTEGER NOT NULL,
  -- Hash and label of the service key that made it.
  creator TEXT NOT NULL,
  creator_name TEXT NOT NULL,
  -- Grows with every change. told is the last one that its Sink object is known to have.
  revision INTEGER NOT NULL,
  told INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  -- When it was deleted. The row goes when its object is known to be empty.
  removed INTEGER,
  -- Hash and label of the key that it is charged to: the last one that set it to run, changed what it sends, or adopted it.
  payer TEXT NOT NULL DEFAULT '',
  payer_name TEXT NOT NULL DEFAULT '',
  -- The first key in the chain of rotations of the payer, and in that of the key that last set the destination.
  payer_root TEXT NOT NULL DEFAULT '',
  destination_root TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX pipelines_by_account ON pipelines (account, created);

-- Who is signed in to the console. What a session may do is read, at each use, of the token or key that it was begun with.

CREATE TABLE sessions (
  -- SHA-256 of the cookie, hex: the cookie itself is stored nowhere.
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('admin', 'staff', 'key')),
  -- SHA-256 of the token or key that it was begun with, hex.
  token_hash TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_token ON sessions (token_hash, created);
CREATE INDEX sessions_by_end ON sessions (expires);

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

-- Orders of credits and what payment providers said of them, and links of the sign-up by e-mail. Times are Unix ms, money is
-- whole minor units of its currency, credits are integer micro-credits.

CREATE TABLE orders (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- What people and providers call it, and the id of its grant: with some random characters, since gateways may share an
  -- account at a provider.
  number TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL REFERENCES accounts (id),
  micro INTEGER NOT NULL CHECK (micro > 0),
  minor INTEGER NOT NULL CHECK (minor > 0),
  currency TEXT NOT NULL,
  provider TEXT NOT NULL CHECK (provider IN ('manual', 'stripe')),
  state TEXT NOT NULL CHECK (state IN ('open', 'paid', 'failed', 'void')),
  -- What the provider calls it, and where it is paid. NULL: paid by hand, or never begun.
  reference TEXT,
  url TEXT,
  created INTEGER NOT NULL,
  paid INTEGER,
  -- When its credits were granted. NULL although it is paid: they are not yet, or are withheld (see note).
  granted INTEGER,
  refunded INTEGER NOT NULL DEFAULT 0,
  -- What an operator should know of it.
  note TEXT
) STRICT;

CREATE INDEX orders_by_account ON orders (account, seq);
CREATE INDEX orders_by_state ON orders (state, paid);

-- What came of each event of a provider.
CREATE TABLE checkout_events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  number TEXT,
  outcome TEXT NOT NULL,
  seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX checkout_events_by_time ON checkout_events (seen);

-- Who signed up. An address stands nowhere: these are HMACs of it, under a key that is derived from KEY_SECRET.
CREATE TABLE signups (
  address TEXT PRIMARY KEY,
  -- Of the address without what makes variants of it: one trial each.
  base TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signup_links (
  -- SHA-256 of the token, hex.
  hash TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  base TEXT NOT NULL,
  -- HMAC of the network that asked. NULL: it is not known.
  network TEXT,
  created INTEGER NOT NULL,
  used INTEGER,
  -- HMACs of the /24 or /48 of the address that asked, and of the domain of the mailbox.
  area TEXT,
  domain TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX signup_links_by_time ON signup_links (created);
CREATE INDEX signup_links_by_base ON signup_links (base, created);
CREATE INDEX signup_links_by_network ON signup_links (network, created);
