-- Segments of blocks that the log never had: what is known of them. NULL: from the log. See schemas/storage.md.
ALTER TABLE segments ADD COLUMN backfilled TEXT;
