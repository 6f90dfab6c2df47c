-- A file and its history. A file that is gone keeps its row and its path, so that it can be brought back; one that
-- another was renamed over is displaced and keeps only its history.
CREATE TABLE files (
    number      INTEGER PRIMARY KEY,
    path        TEXT    NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('there', 'gone', 'displaced')),
    newest      INTEGER NOT NULL,
    hash        INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX files_by_path ON files (path) WHERE state <> 'displaced';

-- Every text that a file had, the last hundred or so. `packing` is how `text` and `diff` are kept: 0 as they are,
-- 1 deflated. Texts are counted from 1 per file.
CREATE TABLE file_versions (
    file       INTEGER NOT NULL REFERENCES files (number),
    number     INTEGER NOT NULL,
    time_ms    INTEGER NOT NULL,
    author     TEXT    NOT NULL,
    activation TEXT,
    order_key  TEXT,
    chars      INTEGER NOT NULL,
    packing    INTEGER NOT NULL,
    text       BLOB    NOT NULL,
    diff       BLOB    NOT NULL,
    PRIMARY KEY (file, number)
) STRICT;

-- Orders that were carried out, with what was answered, so that none is carried out twice.
CREATE TABLE file_orders (
    number INTEGER PRIMARY KEY,
    key    TEXT    NOT NULL UNIQUE,
    what   INTEGER NOT NULL,
    answer TEXT    NOT NULL
) STRICT;

-- What is recorded above and may not have reached the disk yet.
CREATE TABLE file_steps (
    number INTEGER PRIMARY KEY,
    step   TEXT NOT NULL
) STRICT;
