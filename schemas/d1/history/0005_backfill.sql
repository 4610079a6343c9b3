-- Segments of blocks that the log never had: what is known of them. Empty: the log's own. See schemas/storage.md.
ALTER TABLE segments ADD COLUMN backfilled TEXT;
