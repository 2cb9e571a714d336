-- Format 17: the part that each setting plays, as its engine or probe declares it.

CREATE TABLE roles (
    run      INTEGER NOT NULL REFERENCES runs(id),
    position INTEGER NOT NULL,
    path     TEXT NOT NULL,       -- of the setting: workload.connections
    role     TEXT NOT NULL,       -- concurrency, queue_depth, arrival_rate, data_identity, ...
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
