-- Step 15: what `steelbench queries --every` saw of servers' statements. An interval belongs to no run.

CREATE TABLE query_intervals (
    id          INTEGER PRIMARY KEY,
    steelbench  TEXT NOT NULL,        -- version that recorded it
    address     TEXT NOT NULL,        -- the server as it was named, without a password
    engine      TEXT NOT NULL,
    server      TEXT NOT NULL,        -- product and version
    from_ms     INTEGER NOT NULL,     -- by the server's clock; the end of the interval before, where they adjoin
    to_ms       INTEGER NOT NULL,
    block_bytes INTEGER NOT NULL,     -- of a page
    evictions   INTEGER,              -- how often the server forgot statements; NULL: not known
    notes       TEXT NOT NULL         -- JSON array
) STRICT;

CREATE TABLE query_texts (
    id             INTEGER PRIMARY KEY,
    digest         TEXT NOT NULL,     -- the server's number of the statement
    database_name  TEXT NOT NULL,
    user_name      TEXT NOT NULL,
    is_top         INTEGER NOT NULL,  -- 0: a function sent it
    text           TEXT NOT NULL,
    UNIQUE (digest, database_name, user_name, is_top, text)
) STRICT;

CREATE TABLE counted_statements (
    interval    INTEGER NOT NULL REFERENCES query_intervals(id),
    position    INTEGER NOT NULL,     -- 0: took most time
    statement   INTEGER NOT NULL REFERENCES query_texts(id),
    is_partial  INTEGER NOT NULL,     -- 1: the server began to count it anew within the interval
    counters    TEXT NOT NULL,        -- JSON object; what the server does not count is not in it
    plan_hash   TEXT,                 -- its plan is in plan_texts; NULL: none is known
    PRIMARY KEY (interval, position)
) STRICT, WITHOUT ROWID;

-- What is read and written as one row.
CREATE VIEW query_counts AS
    SELECT interval, position, digest, database_name, user_name, is_top, text, is_partial, counters, plan_hash,
           (SELECT text FROM plan_texts WHERE hash = plan_hash) AS plan
    FROM counted_statements JOIN query_texts ON query_texts.id = statement;
CREATE TRIGGER query_counts_insert INSTEAD OF INSERT ON query_counts BEGIN
    INSERT OR IGNORE INTO plan_texts SELECT new.plan_hash, new.plan WHERE new.plan_hash IS NOT NULL;
    INSERT OR IGNORE INTO query_texts (digest, database_name, user_name, is_top, text)
        VALUES (new.digest, new.database_name, new.user_name, new.is_top, new.text);
    INSERT INTO counted_statements
        SELECT new.interval, new.position, id, new.is_partial, new.counters, new.plan_hash FROM query_texts
        WHERE (digest, database_name, user_name, is_top, text)
            = (new.digest, new.database_name, new.user_name, new.is_top, new.text);
END;

CREATE VIEW query_times AS
SELECT i.id AS interval, i.address, i.from_ms, i.to_ms, c.digest, c.database_name, c.user_name, c.text,
       json_extract(c.counters, '$.calls') AS calls, json_extract(c.counters, '$.time_ns') / 1e9 AS time_s,
       json_extract(c.counters, '$.rows') AS row_count, c.plan_hash
FROM query_intervals i JOIN query_counts c ON c.interval = i.id;
