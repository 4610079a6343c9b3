-- Invoices of orders: sellers and buyers. See schemas/storage.md.

-- Billing details of accounts. A change adds a row, and an order refers to the row of its time.
CREATE TABLE billing_details (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL REFERENCES accounts (id),
  -- JSON of the name, address, country, tax ID and e-mail.
  details TEXT NOT NULL,
  created INTEGER NOT NULL,
  -- First key in the rotation chain of the key that made the change. NULL: the operator.
  root TEXT
) STRICT;

CREATE INDEX billing_details_by_account ON billing_details (account, id);

-- Values of the variable INVOICE at which orders were created.
CREATE TABLE invoice_terms (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- JSON of the seller, tax and payment terms.
  terms TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL
) STRICT;

-- NULL: the order has no invoice.
ALTER TABLE orders ADD COLUMN terms INTEGER REFERENCES invoice_terms (id);
-- NULL: the account had no billing details.
ALTER TABLE orders ADD COLUMN buyer INTEGER REFERENCES billing_details (id);
-- Time of the last refund.
ALTER TABLE orders ADD COLUMN refund_time INTEGER;
