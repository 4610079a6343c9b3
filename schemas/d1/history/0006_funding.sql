-- Funding of the blocks of files, as sums that run on, and where it is known. See schemas/storage.md.
CREATE TABLE file_funding (
  chain TEXT NOT NULL,
  coin TEXT NOT NULL,
  height INTEGER NOT NULL,
  per_unit TEXT NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY (chain, coin, height)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_funded (
  chain TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, from_height)
) STRICT, WITHOUT ROWID;
