-- Step 11: how the engine ran the statements that were measured.

CREATE TABLE plans (
    trial      INTEGER NOT NULL REFERENCES trials(id),
    position   INTEGER NOT NULL,
    statement  TEXT NOT NULL,         -- scan, lookup, update
    hash       TEXT NOT NULL,         -- of the text: the same plan has the same
    text       TEXT NOT NULL,         -- as the engine printed it before the measurement
    analysis   TEXT,                  -- what it said of one run before the measurement; NULL: not asked for
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;
