-- Long texts that belong to a record and are not exported with it: the prompt of a model call. Deflated; the newest
-- so many are kept.
CREATE TABLE enclosures (
    seq    INTEGER PRIMARY KEY,
    packed BLOB    NOT NULL
) STRICT;
