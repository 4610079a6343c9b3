-- Incidents and planned maintenance, which the status page shows. See schemas/storage.md.

CREATE TABLE incidents (
  -- Never used again, because readers of the feed know it.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('incident', 'maintenance')),
  title TEXT NOT NULL,
  -- JSON array of component names.
  components TEXT NOT NULL,
  -- Window of a planned maintenance. NULL: none.
  starts INTEGER,
  ends INTEGER,
  created INTEGER NOT NULL,
  -- Time of the update that resolved or completed it. NULL: it is open.
  closed INTEGER
) STRICT;

CREATE TABLE incident_updates (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  incident INTEGER NOT NULL REFERENCES incidents (id),
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT;

CREATE INDEX incident_updates_by_incident ON incident_updates (incident, number);
