-- Where a key may be used from, and which key it replaced.

-- JSON array of ranges of addresses. NULL: from anywhere.
ALTER TABLE keys ADD COLUMN ranges TEXT;
-- Hash of the key that this one replaced: once only, so that a rotation that is asked for twice makes one key.
ALTER TABLE keys ADD COLUMN replaces TEXT;
-- Hash of the first key of a row of rotations, which share one cap. NULL: this one.
ALTER TABLE keys ADD COLUMN root TEXT;
-- JSON of the order of the rotation that made this key: its idempotency key, its grace in ms, when the old key ends.
ALTER TABLE keys ADD COLUMN rotation TEXT;

CREATE UNIQUE INDEX keys_by_replaced ON keys (replaces);
CREATE INDEX keys_by_root ON keys (root);
