-- Whether the changes of the books came with the repair. See schemas/storage.md.
ALTER TABLE repairs ADD COLUMN books INTEGER NOT NULL DEFAULT 0;
