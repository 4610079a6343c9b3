-- When the block behind a segment was, so that files know whether its last minute is whole. See schemas/storage.md.
ALTER TABLE segments ADD COLUMN next_ms INTEGER;
