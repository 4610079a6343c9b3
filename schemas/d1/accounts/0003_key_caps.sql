-- Credits that a key may spend in all, in micro-credits; empty: as much as its account has. The account's CreditMeter
-- enforces it; this copy is for lists.

ALTER TABLE keys ADD COLUMN cap INTEGER;
