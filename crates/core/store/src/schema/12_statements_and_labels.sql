-- Step 12: how each statement of a script fared, and what a run is of.

-- Over all connections of the trial.
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

-- NULL: not said, not known, or recorded before this step.
ALTER TABLE runs ADD COLUMN label TEXT;           -- what the user called it
ALTER TABLE runs ADD COLUMN git_commit TEXT;      -- checked out in the experiment file's folder when the run was begun
ALTER TABLE runs ADD COLUMN git_changed INTEGER;  -- 1: tracked files differed from that commit
