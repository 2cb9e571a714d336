-- Step 5: reasons to trust a trial less are called warnings, and what has no better or worse (how many sockets the
-- threads ran on) is a fact, not a response.

ALTER TABLE marks RENAME TO warnings;

-- Figures of a trial that have no better or worse.
CREATE TABLE facts (
    trial      INTEGER NOT NULL REFERENCES trials(id),
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,         -- sockets, shared_lines
    unit       TEXT NOT NULL,
    value      REAL,
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

INSERT INTO facts
SELECT trial, position, name, unit, value FROM responses
WHERE name IN ('shared_lines', 'processors', 'cores', 'sockets', 'nodes');

DELETE FROM responses WHERE name IN ('shared_lines', 'processors', 'cores', 'sockets', 'nodes');
