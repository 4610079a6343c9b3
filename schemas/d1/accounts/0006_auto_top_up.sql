-- Top-ups that charge a saved card when the balance is low. See schemas/storage.md.

-- Customer and payment method at the provider, separated by a slash, which are charged without the owner being present.
-- NULL: the owner pays on a page.
ALTER TABLE orders ADD COLUMN mandate TEXT;

-- At most one order in flight per account.
CREATE UNIQUE INDEX orders_in_flight ON orders (account) WHERE mandate IS NOT NULL AND state = 'open';
CREATE INDEX orders_by_mandate ON orders (account, paid) WHERE mandate IS NOT NULL;

CREATE TABLE auto_top_ups (
  account TEXT PRIMARY KEY REFERENCES accounts (id),
  state TEXT NOT NULL CHECK (state IN ('off', 'on', 'stopped')),
  -- JSON of the level, the purchase, its price and the monthly limit. NULL: never set.
  settings TEXT,
  -- Saved card at the provider. NULL: none.
  customer TEXT,
  method TEXT,
  -- JSON of brand, last digits and expiry.
  card TEXT,
  -- Page on which a card can be saved, and its id at the provider. NULL: none is open.
  setup TEXT,
  setup_url TEXT,
  setup_created INTEGER,
  -- Why it stopped, and the order that failed. NULL: it did not stop.
  reason TEXT,
  stopped INTEGER,
  failed_order TEXT,
  -- Time of the last failed charge of the saved card. NULL: none.
  failed INTEGER,
  -- 0: the webhook of the account was not notified of the stop yet.
  told INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;

CREATE INDEX auto_top_ups_by_method ON auto_top_ups (method) WHERE method IS NOT NULL;
CREATE INDEX auto_top_ups_by_customer ON auto_top_ups (customer) WHERE customer IS NOT NULL;

-- The record of changes. Rows are never changed.
CREATE TABLE auto_top_up_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL REFERENCES accounts (id),
  at INTEGER NOT NULL,
  -- First key in the rotation chain of the key that made the change. NULL: the operator or the gateway.
  root TEXT,
  -- Member who made the change. NULL: the operator, the gateway, or a key without a member.
  member TEXT,
  what TEXT NOT NULL CHECK (what IN ('on', 'off', 'card_saved', 'card_removed', 'stopped')),
  -- JSON of the settings or the card, or the reason.
  detail TEXT NOT NULL
) STRICT;

CREATE INDEX auto_top_up_changes_by_account ON auto_top_up_changes (account, id);
