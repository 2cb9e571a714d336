-- Step 6: the files that an experiment names are kept with the run.

-- Scripts, what hooks run, a job file that was imported: as they were when the run was begun. A run that an older version
-- began has those that were there when it was resumed.
CREATE TABLE files (
    run       INTEGER NOT NULL REFERENCES runs(id),
    position  INTEGER NOT NULL,
    named_by  TEXT NOT NULL,          -- path of a setting, hook of a volume, or option of a quick command
    path      TEXT NOT NULL,          -- as named
    sha256    TEXT NOT NULL,          -- of the content, as sha256sum prints it
    content   TEXT NOT NULL,          -- with stars for passwords
    UNIQUE (run, position)
) STRICT;
