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
  removed INTEGER
) STRICT;

CREATE INDEX pipelines_by_account ON pipelines (account, created);
