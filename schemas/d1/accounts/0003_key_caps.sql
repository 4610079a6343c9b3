-- Credits that a key may spend in all, in micro-credits. NULL: as much as its account has. The CreditMeter
-- of the account enforces it, and this copy is for lists.

ALTER TABLE keys ADD COLUMN cap INTEGER;
