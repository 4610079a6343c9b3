-- Purchases that were paid by x402. See schemas/storage.md.

-- SQLite cannot change the check of a column, so the table is copied.
CREATE TABLE orders_with_x402 (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Number for people and providers, and id of the grant. It contains random characters, because gateways can share a
  -- provider account.
  number TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL REFERENCES accounts (id),
  micro INTEGER NOT NULL CHECK (micro > 0),
  minor INTEGER NOT NULL CHECK (minor > 0),
  currency TEXT NOT NULL,
  provider TEXT NOT NULL CHECK (provider IN ('manual', 'stripe', 'x402')),
  state TEXT NOT NULL CHECK (state IN ('open', 'paid', 'failed', 'void')),
  -- Id at the provider, and payment URL. NULL: paid manually, or checkout not started. For x402: network, payer and nonce.
  reference TEXT,
  url TEXT,
  created INTEGER NOT NULL,
  paid INTEGER,
  -- Time of the grant. NULL in a paid order: the grant is pending or withheld, see note.
  granted INTEGER,
  refunded INTEGER NOT NULL DEFAULT 0,
  -- Note for the operator.
  note TEXT,
  -- Transaction of an x402 payment. NULL: another provider, or unknown.
  receipt TEXT
) STRICT;

INSERT INTO orders_with_x402 (seq, number, account, micro, minor, currency, provider, state, reference, url, created, paid,
    granted, refunded, note)
  SELECT seq, number, account, micro, minor, currency, provider, state, reference, url, created, paid, granted, refunded,
    note FROM orders;

DROP TABLE orders;
ALTER TABLE orders_with_x402 RENAME TO orders;

CREATE INDEX orders_by_account ON orders (account, seq);
CREATE INDEX orders_by_state ON orders (state, paid);
CREATE INDEX orders_by_provider ON orders (provider, seq);
-- A payment is booked once.
CREATE UNIQUE INDEX orders_by_payment ON orders (reference) WHERE provider = 'x402';
