-- Who is signed in to the console. What a session may do is read, at each use, of the token or key that it was begun with.

CREATE TABLE sessions (
  -- SHA-256 of the cookie, hex: the cookie itself is stored nowhere.
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('admin', 'staff', 'key')),
  -- SHA-256 of the token or key that it was begun with, hex.
  token_hash TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_token ON sessions (token_hash, created);
CREATE INDEX sessions_by_end ON sessions (expires);
