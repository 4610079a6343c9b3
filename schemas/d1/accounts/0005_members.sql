-- Members of accounts, their sessions and what they did. See schemas/storage.md.

CREATE TABLE members (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (id),
  -- HMAC of the e-mail address, as in signups.
  address TEXT NOT NULL,
  -- HMAC of the normalized address, as in signups.
  base TEXT NOT NULL,
  -- The address, encrypted for this row.
  sealed TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'developer', 'billing')),
  -- Time of the last invitation, or of the sign-up.
  invited INTEGER NOT NULL,
  -- SHA-256 of the token of the last invitation in hex, and the end of its validity. NULL: used, or a sign-up.
  invitation TEXT UNIQUE,
  invited_until INTEGER,
  -- NULL: the invitation is pending.
  joined INTEGER,
  -- Removed, or the invitation was revoked.
  removed INTEGER,
  seen INTEGER
) STRICT;

-- An address is a member of an account once.
CREATE UNIQUE INDEX members_by_account ON members (account, address) WHERE removed IS NULL;
CREATE INDEX members_by_address ON members (address, invited);
CREATE INDEX members_by_base ON members (base);
CREATE INDEX removed_members ON members (account, removed) WHERE removed IS NOT NULL;

-- SQLite cannot change the check of a column, so the table is copied. The defaults are for a gateway of an earlier version,
-- which names no other columns.
CREATE TABLE sessions_of_members (
  -- SHA-256 of the cookie in hex. The cookie itself is not stored.
  hash TEXT PRIMARY KEY,
  -- Name of the session in lists. It opens nothing.
  id TEXT NOT NULL UNIQUE DEFAULT ('s-' || substr(replace(hex(randomblob(16)), '0', 'G'), 1, 16)),
  kind TEXT NOT NULL CHECK (kind IN ('admin', 'staff', 'key', 'member')),
  -- SHA-256 in hex of the token or key that started the session. For a member, the key with which the session acts.
  token_hash TEXT NOT NULL,
  -- NULL: an operator, or a session of an earlier version.
  account TEXT,
  -- NULL: not a member.
  member TEXT,
  -- 1: began with an invitation, and opens no other account of the member.
  invited INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  -- Last use, at most a minute old.
  seen INTEGER NOT NULL DEFAULT (unixepoch() * 1000),
  -- Names from fixed lists, or empty.
  browser TEXT NOT NULL DEFAULT '',
  -- Country code, or network as a /24 or /48, or empty.
  place TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

INSERT INTO sessions_of_members (hash, kind, token_hash, account, created, expires, seen)
  SELECT hash, kind, token_hash, (SELECT account FROM keys WHERE sessions.kind = 'key' AND keys.hash = token_hash),
    created, expires, created FROM sessions;

DROP TABLE sessions;
ALTER TABLE sessions_of_members RENAME TO sessions;

CREATE INDEX sessions_by_token ON sessions (token_hash, created);
CREATE INDEX sessions_by_end ON sessions (expires);
CREATE INDEX sessions_by_account ON sessions (account, created) WHERE account IS NOT NULL;
CREATE INDEX sessions_by_member ON sessions (member) WHERE member IS NOT NULL;

-- Audit log of members and sessions.
CREATE TABLE team_events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  -- Member who acted. NULL: the key.
  member TEXT,
  key_hash TEXT,
  -- Member concerned. NULL: the key target_key, or none.
  target TEXT,
  target_key TEXT,
  -- Role, or number of sessions. NULL: neither.
  detail TEXT
) STRICT;

CREATE INDEX team_events_by_account ON team_events (account, number);
CREATE INDEX team_events_by_target ON team_events (target, at);

-- A link carries its address, encrypted, because a member needs it. Links of an earlier version have none, and are invalid.
ALTER TABLE signup_links ADD COLUMN sealed TEXT NOT NULL DEFAULT '';

-- Member that the sign-up became. NULL: it becomes one at the next sign-in by link.
ALTER TABLE signups ADD COLUMN member TEXT;

-- Member who changed the billing details. NULL: the operator, or a key without a member.
ALTER TABLE billing_details ADD COLUMN member TEXT;
