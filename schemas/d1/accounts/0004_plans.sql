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

-- What was agreed with one account, in place of the terms of its plan: a JSON object of them.
ALTER TABLE accounts ADD COLUMN terms TEXT;
CREATE INDEX accounts_by_plan ON accounts (plan, id);
