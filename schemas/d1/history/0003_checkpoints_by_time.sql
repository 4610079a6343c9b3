-- Checkpoints of a day are listed without reading those of all years.
CREATE INDEX checkpoints_by_time ON checkpoints (chain, time_ms);
