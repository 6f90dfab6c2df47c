-- One row per run, from start to stop of a room. `last_tick` moves with every batch, so the row stays small.
CREATE TABLE runs (
    number     INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    scene      TEXT    NOT NULL,
    seed       INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    first_seq  INTEGER NOT NULL,
    first_tick INTEGER NOT NULL,
    last_tick  INTEGER NOT NULL,
    ended_ms   INTEGER,
    end_reason TEXT
) STRICT;
CREATE INDEX runs_by_scene ON runs (scene, number);

-- What a run began with. Apart from `runs`, because it may be large and never changes.
CREATE TABLE run_starts (
    run   INTEGER PRIMARY KEY REFERENCES runs (number),
    start TEXT    NOT NULL
) STRICT;

-- What happened. The runs of a workspace follow each other in `seq`.
CREATE TABLE events (
    seq        INTEGER PRIMARY KEY,
    run        INTEGER NOT NULL REFERENCES runs (number),
    tick       INTEGER NOT NULL,
    time_ms    INTEGER NOT NULL,
    type       TEXT    NOT NULL,
    agent      TEXT,
    activation TEXT,
    session    TEXT,
    cause      INTEGER,
    data       TEXT    NOT NULL
) STRICT;

-- What came through the door, counted up within its run.
CREATE TABLE inputs (
    run    INTEGER NOT NULL REFERENCES runs (number),
    tick   INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    data   TEXT    NOT NULL,
    PRIMARY KEY (run, tick, number)
) STRICT;

-- Whole rooms, to reopen a scene without replaying its run from the start.
CREATE TABLE snapshots (
    number   INTEGER PRIMARY KEY,
    scene    TEXT    NOT NULL,
    run      INTEGER NOT NULL REFERENCES runs (number),
    tick     INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    sections TEXT    NOT NULL,
    files    TEXT    NOT NULL,
    UNIQUE (scene, run, tick)
) STRICT;

-- The hash of the whole world after some ticks of a run, for replays to compare with.
CREATE TABLE hashes (
    run  INTEGER NOT NULL REFERENCES runs (number),
    tick INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    PRIMARY KEY (run, tick)
) STRICT;
