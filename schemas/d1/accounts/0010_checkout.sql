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
  used INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX signup_links_by_time ON signup_links (created);
CREATE INDEX signup_links_by_base ON signup_links (base, created);
CREATE INDEX signup_links_by_network ON signup_links (network, created);
