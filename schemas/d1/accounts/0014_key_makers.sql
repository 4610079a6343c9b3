-- The first key in the chain of rotations of the key that made this one, or rotated the key before it. Empty where the operator
-- or the sign-up did.
ALTER TABLE keys ADD COLUMN maker TEXT;
CREATE INDEX keys_by_maker ON keys (maker) WHERE maker IS NOT NULL;
