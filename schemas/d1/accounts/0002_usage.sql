-- What keys used, per hour and type: copies of the rows of the CreditMeters, for reports over all accounts and for the
-- last use of a key. A meter sends whole sums of an hour, again and again, so a row only ever grows.

CREATE TABLE usage (
  key_hash TEXT NOT NULL,
  -- Unix ms of the start of the hour.
  hour INTEGER NOT NULL,
  product TEXT NOT NULL,
  type TEXT NOT NULL,
  calls INTEGER NOT NULL,
  -- Micro-credits.
  micro INTEGER NOT NULL,
  PRIMARY KEY (key_hash, hour, product, type)
) STRICT, WITHOUT ROWID;
