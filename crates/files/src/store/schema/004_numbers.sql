-- Numbers of records up to here may have been given out, and printed, whether or not the records were written: a run
-- that follows one that was cut off begins above. One row.
CREATE TABLE numbers (
    only     INTEGER PRIMARY KEY CHECK (only = 1),
    reserved INTEGER NOT NULL
) STRICT;
INSERT INTO numbers (only, reserved) SELECT 1, coalesce(max(seq), 0) FROM events;

-- Whether what the run began with, or some of what came in, was thinned: then it cannot be replayed.
ALTER TABLE runs ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;

-- The hash of the texts beside it, so that damage inside them is found; null where an earlier version wrote it.
ALTER TABLE snapshots ADD COLUMN hash INTEGER;
ALTER TABLE run_starts ADD COLUMN hash INTEGER;
