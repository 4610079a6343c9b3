-- Backfills of pipelines. See schemas/storage.md.

-- A backfill is a pipeline of its own, with an end. The pipeline whose past rows it delivers. NULL: it is no backfill.
ALTER TABLE pipelines ADD COLUMN backfill_of TEXT;
-- The request that ordered it. A repeated request finds it.
ALTER TABLE pipelines ADD COLUMN backfill_request TEXT;
-- JSON list of the ranges of heights that earlier backfills of this pipeline delivered.
ALTER TABLE pipelines ADD COLUMN backfilled TEXT NOT NULL DEFAULT '[]';

-- A pipeline has one backfill at a time.
CREATE UNIQUE INDEX pipelines_by_backfill ON pipelines (backfill_of) WHERE backfill_of IS NOT NULL;
