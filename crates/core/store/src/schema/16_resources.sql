-- Step 16: what sessions that waited were sampled to wait for, where the server names it.

CREATE TABLE resources (
    trial        INTEGER NOT NULL REFERENCES trials(id),
    position     INTEGER NOT NULL,
    wait_type    TEXT NOT NULL,       -- the engine's own name
    class        TEXT NOT NULL,
    resource     TEXT NOT NULL,       -- in the engine's words: 5:1:1520544
    kind         TEXT,                -- what that is, as far as it can be told: PFS page
    remedy       TEXT,                -- what would make sessions wait less for things of this kind
    samples      INTEGER NOT NULL,    -- of sessions that waited for it
    sessions_max INTEGER NOT NULL,    -- most at the same time
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;
