-- Repairs of gaps in the archive. See schemas/storage.md.

-- The source of backfilled blocks. NULL: the log, or a segment that is older than this column.
ALTER TABLE segments ADD COLUMN source TEXT;

-- When the gap was recorded, and when all sources were found to lack it. NULL: the latter is not known.
ALTER TABLE gaps ADD COLUMN recorded_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gaps ADD COLUMN beyond_ms INTEGER;

CREATE INDEX gaps_beyond ON gaps (chain, from_height) WHERE beyond_ms IS NOT NULL;

-- Heights that were missing and are archived now, in the order of their repair.
CREATE TABLE repairs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  known TEXT NOT NULL,
  source TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX repairs_by_chain ON repairs (chain, id);

-- The last attempt of each source at the gap that starts at a height.
CREATE TABLE repair_attempts (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  source TEXT NOT NULL,
  tries INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('absent', 'partial', 'refused', 'failed')),
  message TEXT NOT NULL,
  PRIMARY KEY (chain, from_height, source)
) STRICT, WITHOUT ROWID;

-- Gaps of the log can be repaired. Gaps among older blocks that an operator imported have no time.
UPDATE gaps SET recorded_ms = before_ms WHERE to_height >= (SELECT first FROM segments s WHERE s.chain = gaps.chain
  AND s.backfilled IS NULL ORDER BY first LIMIT 1);
