// Tables of a CreditMeter, one object per account. schemas/storage.md describes the rows.

/** Steps of `migrate` (src/core/migrate.store.ts). */
export const METER_SCHEMA = [
  `CREATE TABLE account (
    one INTEGER PRIMARY KEY CHECK (one = 1), available INTEGER NOT NULL CHECK (available >= 0),
    held INTEGER NOT NULL CHECK (held >= 0), spent INTEGER NOT NULL, granted INTEGER NOT NULL,
    written_off INTEGER NOT NULL, hour INTEGER NOT NULL, usage TEXT NOT NULL, uncopied INTEGER NOT NULL) STRICT;
  CREATE TABLE most (one INTEGER PRIMARY KEY CHECK (one = 1), micro INTEGER NOT NULL) STRICT;
  -- No index by time: every report would move a row of it, and there are few leases to look through.
  CREATE TABLE leases (
    id TEXT PRIMARY KEY, key_hash TEXT NOT NULL, granted INTEGER NOT NULL, settled INTEGER NOT NULL,
    until INTEGER NOT NULL, open INTEGER NOT NULL, usage TEXT NOT NULL) STRICT;
  CREATE TABLE grants (id TEXT PRIMARY KEY, amount INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE pipelines (id TEXT PRIMARY KEY, rows INTEGER NOT NULL, spent INTEGER NOT NULL) STRICT;

  CREATE TABLE usage (
    hour INTEGER NOT NULL, key_hash TEXT NOT NULL, product TEXT NOT NULL, type TEXT NOT NULL,
    calls INTEGER NOT NULL, amount INTEGER NOT NULL, changes INTEGER NOT NULL,
    PRIMARY KEY (hour, key_hash, product, type)) STRICT, WITHOUT ROWID;
  CREATE TABLE copied (one INTEGER PRIMARY KEY CHECK (one = 1), hour INTEGER NOT NULL) STRICT;
  CREATE TABLE rolled (one INTEGER PRIMARY KEY CHECK (one = 1), until INTEGER NOT NULL) STRICT;
  CREATE TABLE uncharged (hour INTEGER PRIMARY KEY, amount INTEGER NOT NULL) STRICT;

  CREATE TABLE plan (
    one INTEGER PRIMARY KEY CHECK (one = 1), plan TEXT NOT NULL, anchor INTEGER NOT NULL, since INTEGER NOT NULL,
    until INTEGER, micro INTEGER NOT NULL, every INTEGER NOT NULL, used_before INTEGER NOT NULL,
    renews INTEGER NOT NULL) STRICT;
  CREATE TABLE periods (
    number INTEGER PRIMARY KEY, plan TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER, granted INTEGER NOT NULL,
    expired INTEGER) STRICT;

  CREATE TABLE revoked (key_hash TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
  CREATE TABLE changes (key_hash TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
  -- A cap is kept under the first key of a row of rotations, its root.
  CREATE TABLE caps (
    key_hash TEXT PRIMARY KEY, cap INTEGER NOT NULL CHECK (cap >= 0), spent INTEGER NOT NULL) STRICT;
  CREATE TABLE heirs (key_hash TEXT PRIMARY KEY, root TEXT NOT NULL) STRICT;
  CREATE INDEX heirs_by_root ON heirs (root);
  CREATE TABLE key_ends (key_hash TEXT PRIMARY KEY, at INTEGER, heir TEXT) STRICT;
  CREATE INDEX key_ends_by_heir ON key_ends (heir) WHERE heir IS NOT NULL;

  CREATE TABLE visitors (
    one INTEGER PRIMARY KEY CHECK (one = 1), left_micro INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE webhook (
    one INTEGER PRIMARY KEY CHECK (one = 1), account TEXT NOT NULL, url TEXT NOT NULL, secret TEXT NOT NULL,
    thresholds TEXT NOT NULL, watch TEXT NOT NULL, key_root TEXT) STRICT;
  CREATE TABLE webhook_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, threshold TEXT NOT NULL, body TEXT NOT NULL,
    created INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, next INTEGER, last TEXT) STRICT;
  CREATE TABLE streams (
    id TEXT PRIMARY KEY, key_hash TEXT NOT NULL, body TEXT NOT NULL, ordinal INTEGER NOT NULL, until INTEGER NOT NULL,
    borrowed INTEGER NOT NULL, rest INTEGER, kept_until INTEGER NOT NULL,
    type TEXT NOT NULL, amount INTEGER NOT NULL, since INTEGER NOT NULL, shown TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX streams_rests ON streams (key_hash, body) WHERE rest > 0;
  CREATE TABLE relays (
    relay TEXT PRIMARY KEY, life INTEGER NOT NULL, sockets INTEGER NOT NULL, subscriptions INTEGER NOT NULL,
    per_minute INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE terms (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL) STRICT;`,
  `CREATE TABLE included (id TEXT PRIMARY KEY, amount INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE imported (one INTEGER PRIMARY KEY CHECK (one = 1), used INTEGER NOT NULL) STRICT;`,
  `ALTER TABLE account ADD COLUMN log TEXT NOT NULL DEFAULT '';
  CREATE TABLE request_log (
    number INTEGER PRIMARY KEY, since INTEGER NOT NULL, until INTEGER NOT NULL, left_out INTEGER NOT NULL,
    lines TEXT NOT NULL) STRICT;`,
  `CREATE TABLE top_up (
    one INTEGER PRIMARY KEY CHECK (one = 1), account TEXT NOT NULL, below INTEGER NOT NULL, next INTEGER) STRICT;`,
  `ALTER TABLE account ADD COLUMN minutes TEXT NOT NULL DEFAULT '';
  CREATE TABLE alert_rules (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account TEXT NOT NULL, rule TEXT NOT NULL,
    firing INTEGER NOT NULL, fired INTEGER) STRICT;
  CREATE TABLE alert_addresses (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sealed TEXT NOT NULL, digest TEXT NOT NULL,
    token TEXT, requested INTEGER NOT NULL, state TEXT NOT NULL, removed INTEGER) STRICT;
  CREATE INDEX alert_addresses_by_digest ON alert_addresses (digest);
  CREATE TABLE alert_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE alert_mails (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, event TEXT, address TEXT NOT NULL, created INTEGER NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL, next INTEGER, last TEXT) STRICT;`,
]
