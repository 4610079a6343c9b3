-- Heights of files of which is known what each wallet paid and got as funding. See schemas/storage.md.
CREATE TABLE file_paid (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;
