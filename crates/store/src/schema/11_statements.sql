-- Step 11: how each statement of a script fared, over all connections.

CREATE TABLE statements (
    trial       INTEGER NOT NULL REFERENCES trials(id),
    position    INTEGER NOT NULL,     -- in the order of the scripts
    script      TEXT NOT NULL,        -- its name
    text        TEXT NOT NULL,        -- as it stands there, with stars for passwords
    count       INTEGER NOT NULL,     -- successes
    wall_s      REAL,                 -- from sending it to its whole answer, of these together
    wall_s_max  REAL,                 -- the longest of them
    failures    INTEGER NOT NULL,     -- ended a transaction that was given up
    retries     INTEGER NOT NULL,     -- was repeated, or ended a transaction that was tried again
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;
