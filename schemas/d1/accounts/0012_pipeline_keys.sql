-- Under which key a pipeline runs, and which keys may touch pipelines of others.

-- Pipelines that a service key may touch: own or all. Empty means own where anything restricts the key, and all elsewhere.
ALTER TABLE keys ADD COLUMN pipelines TEXT CHECK (pipelines IN ('own', 'all'));

-- Hash and label of the key that the pipeline is charged to: the last one that set it to run, changed what it sends, or
-- adopted it.
ALTER TABLE pipelines ADD COLUMN payer TEXT NOT NULL DEFAULT '';
ALTER TABLE pipelines ADD COLUMN payer_name TEXT NOT NULL DEFAULT '';
-- The first key in the chain of rotations of the payer, and in that of the key that last set the destination.
ALTER TABLE pipelines ADD COLUMN payer_root TEXT NOT NULL DEFAULT '';
ALTER TABLE pipelines ADD COLUMN destination_root TEXT NOT NULL DEFAULT '';

UPDATE pipelines SET payer = creator, payer_name = creator_name,
  payer_root = coalesce((SELECT coalesce(root, hash) FROM keys WHERE hash = creator), creator),
  destination_root = coalesce((SELECT coalesce(root, hash) FROM keys WHERE hash = creator), creator);
