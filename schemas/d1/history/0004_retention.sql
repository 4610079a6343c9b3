-- Objects that are about to go: their rows are gone in the same step, so that no row outlives its object, and whatever breaks
-- off then is known.
CREATE TABLE removals (
  chain TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (chain, key)
) STRICT, WITHOUT ROWID;

-- Of a kind that was removed a segment has 0 bytes: the oldest that is there is found without reading those.
CREATE INDEX segments_with_events ON segments (chain, first) WHERE events_bytes > 0;
CREATE INDEX segments_with_books ON segments (chain, first) WHERE books_bytes > 0;
