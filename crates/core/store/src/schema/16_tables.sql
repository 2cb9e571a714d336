-- Format 16, the first that later versions read. Conventions that hold in all tables:
--  * names end in their unit: _s seconds, _ms milliseconds, _us microseconds, _ns nanoseconds;
--  * `position` counts from 0 and keeps the order in which things were written or listed;
--  * a REAL that is NULL where the text does not say what NULL means was not a number (NaN);
--  * times of day are milliseconds since 1970-01-01 00:00 UTC.

CREATE TABLE runs (
    id          INTEGER PRIMARY KEY,  -- from 1
    name        TEXT NOT NULL,        -- name of the experiment
    question    TEXT,                 -- its question, if it states one
    source      TEXT NOT NULL,        -- the whole experiment file as it was
    seed        TEXT NOT NULL,        -- decimal: an unsigned 64-bit number is too large for an INTEGER
    response    TEXT,                 -- the response to compare by; NULL: the first one
    baseline    INTEGER,              -- position of the configuration to compare with; NULL: none
    started_ms  INTEGER NOT NULL,
    steelbench  TEXT NOT NULL,        -- version that made the run
    -- Adaptive repeats in two stages: the spread within blocks_min blocks decides how many there are,
    -- blocks_max at most, so that the half width of every 95 % interval is at most blocks_until of its
    -- mean. NULL: the file states the number of blocks.
    blocks_min          INTEGER,
    blocks_max          INTEGER,
    blocks_until        REAL,
    equivalence_margin  REAL NOT NULL DEFAULT 0.05,  -- a smaller relative difference does not matter
    label               TEXT,     -- the user's name of the run; NULL: none
    git_commit          TEXT,     -- checked out in the experiment file's folder at the start; NULL: unknown
    git_changed         INTEGER   -- 1: tracked files differed from that commit
) STRICT;

CREATE TABLE environments (
    run       INTEGER NOT NULL REFERENCES runs(id),
    position  INTEGER NOT NULL,       -- 0 at the start, then one each time a resumed run found another one
    json      TEXT NOT NULL,          -- machine, kernel, volumes and engines as a JSON object
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE factors (
    id              INTEGER PRIMARY KEY,
    run             INTEGER NOT NULL REFERENCES runs(id),
    position        INTEGER NOT NULL,
    name            TEXT NOT NULL,    -- dotted path of the setting, or the name of a group of linked levels
    is_numeric      INTEGER NOT NULL, -- 1: every level is a number (an ordered factor)
    hard_to_change  INTEGER NOT NULL, -- 1: changed as seldom as possible
    UNIQUE (run, position)
) STRICT;

CREATE TABLE levels (
    factor    INTEGER NOT NULL REFERENCES factors(id),
    position  INTEGER NOT NULL,
    label     TEXT NOT NULL,          -- as written in the experiment file
    number    REAL,                   -- the level as a number; NULL when the factor is not numeric
    PRIMARY KEY (factor, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE configurations (
    id        INTEGER PRIMARY KEY,
    run       INTEGER NOT NULL REFERENCES runs(id),
    position  INTEGER NOT NULL,
    key       TEXT NOT NULL,          -- hash of the settings: the same in every run with the same settings
    label     TEXT NOT NULL,          -- data_files=4 synchronous=full
    UNIQUE (run, position)
) STRICT;

CREATE TABLE configuration_levels (
    configuration  INTEGER NOT NULL REFERENCES configurations(id),
    position       INTEGER NOT NULL,
    factor         TEXT NOT NULL,     -- factors.name
    level          TEXT NOT NULL,     -- levels.label
    PRIMARY KEY (configuration, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    configuration  INTEGER NOT NULL REFERENCES configurations(id),
    position       INTEGER NOT NULL,
    path           TEXT NOT NULL,     -- dotted path
    value          TEXT NOT NULL,     -- JSON; defaults are included
    PRIMARY KEY (configuration, position)
) STRICT, WITHOUT ROWID;

-- One run of one configuration, in the order in which they ended. Failed ones are data too.
CREATE TABLE trials (
    id             INTEGER PRIMARY KEY,
    run            INTEGER NOT NULL REFERENCES runs(id),
    configuration  INTEGER NOT NULL REFERENCES configurations(id),
    block          INTEGER NOT NULL,  -- round, from 1
    sequence       INTEGER NOT NULL,  -- position in the planned order, from 1
    attempt        INTEGER NOT NULL,  -- 1 for the first try, more for retries
    started_ms     INTEGER NOT NULL,  -- preparation included
    wall_s         REAL,              -- whole trial, preparation and removal included
    status         TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    cause          TEXT,              -- why it failed; NULL when done
    observed       INTEGER NOT NULL,  -- 0: failed before there was anything to see; what follows is then NULL
    elapsed_s      REAL,              -- from "go" until the last connection had done its work
    connections    INTEGER,
    work_unit      TEXT,              -- row, I/O, operation
    work_amount    INTEGER,           -- units done
    transactions   INTEGER,           -- committed
    errors         INTEGER,           -- transactions that failed and were not repeated
    retries        INTEGER,           -- transactions repeated because the engine said so
    session_s      REAL,              -- connections x elapsed
    cpu_s          REAL,              -- on a processor, summed over connections
    cpu_user_s     REAL,              -- the part in user mode; NULL: not known
    synthetic      INTEGER,           -- 1: scripted figures, not a measurement
    setup          INTEGER NOT NULL DEFAULT 1,  -- set-up of the levels of hard-to-change factors, from 1
    timeout_s      REAL,              -- limits.trial_time, which ended it: it would have taken at least elapsed_s; NULL: no time-out
    sampled_running_s  REAL,          -- seconds without a wait event, by samples
    corrected_s    REAL               -- not used any more
) STRICT;
CREATE INDEX trials_of_run ON trials (run);

-- Measured figures of a trial; position 0 is the primary one unless runs.response names another.
CREATE TABLE responses (
    trial      INTEGER NOT NULL REFERENCES trials(id),
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,         -- elapsed, throughput, latency_p99
    unit       TEXT NOT NULL,
    direction  TEXT NOT NULL,         -- higher_is_better, lower_is_better
    value      REAL,
    resolution REAL NOT NULL DEFAULT 0,  -- step in which the value was counted or rounded, in its unit; 0: as fine as the clock
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- Time in which sessions could not run, summed over sessions. Wait = resource + signal.
CREATE TABLE waits (
    trial       INTEGER NOT NULL REFERENCES trials(id),
    position    INTEGER NOT NULL,
    wait_type   TEXT NOT NULL,        -- the engine's own name
    class       TEXT NOT NULL,        -- data-read, data-write, log, lock, latch, cpu-queue, client, checkpoint, other, idle
    count       INTEGER,              -- NULL: the engine does not count them
    resource_s  REAL,                 -- suspended
    signal_s    REAL,                 -- runnable, waiting for a processor
    source      TEXT NOT NULL CHECK (source IN ('counted', 'sampled')),
    sampled_hz  REAL,                 -- samples a second; NULL when counted
    samples     INTEGER,              -- of this wait; NULL: not sampled
    error_s     REAL,                 -- standard error of resource_s + signal_s that comes from sampling
    counter     TEXT,                 -- the server's counter that timed it (pg_stat_wal); NULL: none
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- Latency distributions. The columns beside the histogram are computed from it, for queries.
CREATE TABLE latencies (
    trial      INTEGER NOT NULL REFERENCES trials(id),
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,         -- transaction: from the intended start; service: from the actual start
    count      INTEGER NOT NULL,
    min_ns     INTEGER NOT NULL,
    mean_ns    REAL NOT NULL,
    p50_ns     INTEGER NOT NULL,
    p95_ns     INTEGER NOT NULL,
    p99_ns     INTEGER NOT NULL,
    p999_ns    INTEGER NOT NULL,
    max_ns     INTEGER NOT NULL,
    histogram  BLOB NOT NULL,         -- HdrHistogram, V2 format, compressed with deflate
    UNIQUE (trial, position)
) STRICT;

-- Calls of each I/O and lock operation, whether or not they waited.
CREATE TABLE operations (
    trial     INTEGER NOT NULL REFERENCES trials(id),
    position  INTEGER NOT NULL,
    name      TEXT NOT NULL,
    count     INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    wall_s    REAL,
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- Figures over time: value i covers start_s + i * interval_s to one interval later; "go" is 0 s.
-- The values stay together in one JSON array (json_each() opens it): a row for each of them would
-- be most of the file and would be needed in no other order.
CREATE TABLE series (
    trial            INTEGER NOT NULL REFERENCES trials(id),
    position         INTEGER NOT NULL,
    name             TEXT NOT NULL,
    unit             TEXT NOT NULL,
    start_s          REAL,            -- negative for warm-up
    interval_s       REAL,
    interval_values  TEXT NOT NULL,   -- JSON array; null: not a number; 9e999: infinite
    UNIQUE (trial, position)
) STRICT;

-- How the load generator fared: was it, and not the target, the limit?
CREATE TABLE load_health (
    trial              INTEGER PRIMARY KEY REFERENCES trials(id),
    client_share       REAL,             -- of the sessions' time, 0 to 1: in the generator's own code
    run_delay_share    REAL,             -- of the sessions' time, 0 to 1: ready, waiting for a processor
    sends_intended     INTEGER NOT NULL, -- by an open-loop schedule
    sends_missed       INTEGER NOT NULL, -- started later than 1 ms after the intended time
    send_delay_us_max  INTEGER NOT NULL,
    -- NULL: not an open loop.
    sends_late         INTEGER,          -- started later than 1 ms because every connection was busy
    schedule_s         REAL,             -- from "go" to the last intended start
    free_until_s       REAL              -- the last intended start for which a connection was free
) STRICT;

-- What the whole machine did during the measured part, in processor seconds.
CREATE TABLE machine_load (
    trial     INTEGER PRIMARY KEY REFERENCES trials(id),
    cpus      INTEGER NOT NULL,       -- online
    busy_s    REAL,                   -- all processes, interrupts included
    own_s     REAL,                   -- ours, our children's and a local server's under test
    steal_s   REAL,                   -- taken away by a hypervisor
    iowait_s  REAL                    -- idle while I/O was pending
) STRICT;

-- Reasons to trust a trial less.
CREATE TABLE warnings (
    trial     INTEGER NOT NULL REFERENCES trials(id),
    position  INTEGER NOT NULL,
    kind      TEXT NOT NULL,          -- load_limited, other_load, steal, cache_state, short, unaccounted
    detail    TEXT NOT NULL,
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- What the hook commands of a trial printed.
CREATE TABLE hooks (
    trial      INTEGER NOT NULL REFERENCES trials(id),
    position   INTEGER NOT NULL,
    hook       TEXT NOT NULL,
    command    TEXT NOT NULL,
    exit_code  INTEGER,               -- NULL: killed
    elapsed_s  REAL,
    output     TEXT NOT NULL,
    UNIQUE (trial, position)
) STRICT;

-- Figures of a trial that have no better or worse.
CREATE TABLE facts (
    trial      INTEGER NOT NULL REFERENCES trials(id),
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,         -- sockets, shared_lines
    unit       TEXT NOT NULL,
    value      REAL,
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- What the block devices under the target did during the measured part, by the kernel's own
-- counters (Documentation/block/stat.rst): for everybody on the machine, not only for the trial.
CREATE TABLE devices (
    trial        INTEGER NOT NULL REFERENCES trials(id),
    position     INTEGER NOT NULL,
    volume       TEXT NOT NULL,       -- volume or volumes that it carries; of existing files and devices their path
    device       TEXT NOT NULL,       -- vda, loop3
    reads        INTEGER NOT NULL,    -- ended, after the kernel merged adjacent ones
    read_bytes   INTEGER NOT NULL,
    read_s       REAL,                -- under way, summed over reads
    writes       INTEGER NOT NULL,    -- ended, after the kernel merged adjacent ones
    write_bytes  INTEGER NOT NULL,
    write_s      REAL,                -- under way, summed over writes
    flushes      INTEGER NOT NULL,    -- of its write cache
    flush_s      REAL,                -- under way, summed over flushes
    busy_s       REAL,                -- with at least one I/O under way
    queue_s      REAL,                -- I/Os under way, summed over seconds: over elapsed_s, the mean queue
    elapsed_s    REAL,                -- between the two readings of the counters
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- Where the target spent its processor time, as sampled call stacks. The columns beside the stacks
-- are computed from them, for queries.
CREATE TABLE profiles (
    trial           INTEGER PRIMARY KEY REFERENCES trials(id),
    target          TEXT NOT NULL,     -- what was sampled
    elapsed_s       REAL,              -- from "go" to the end of the measured part
    hz              REAL,              -- samples for each second on a processor: samples / hz are processor seconds
    threads         INTEGER NOT NULL,  -- with at least one sample
    samples         INTEGER NOT NULL,
    kernel_samples  INTEGER NOT NULL,  -- found in the kernel
    lost            INTEGER NOT NULL,  -- records without room: samples and others
    profiler_cpu_s  REAL,              -- what collecting them took
    stacks          BLOB NOT NULL      -- JSON, compressed with zlib: modules, frames, stacks, missing
) STRICT;

-- Scripts, what hooks run, a job file that was imported: as they were when the run was begun.
CREATE TABLE files (
    run       INTEGER NOT NULL REFERENCES runs(id),
    position  INTEGER NOT NULL,
    named_by  TEXT NOT NULL,          -- path of a setting, hook of a volume, or option of a quick command
    path      TEXT NOT NULL,          -- as named
    sha256    TEXT NOT NULL,          -- of the content, as sha256sum prints it
    content   TEXT NOT NULL,          -- with stars for passwords
    UNIQUE (run, position)
) STRICT;

-- What sessions that waited were sampled to wait for, where the server names it.
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

-- How each statement of a script fared, over all connections of the trial.
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

-- How the engine ran the statements that were measured.
CREATE TABLE trial_plans (
    trial      INTEGER NOT NULL REFERENCES trials(id),
    position   INTEGER NOT NULL,
    statement  TEXT NOT NULL,         -- scan, lookup, update
    hash       TEXT NOT NULL,         -- of the text: the same plan has the same
    analysis   TEXT,                  -- what the engine said of one run before the measurement; NULL: not asked for
    estimated_rows  REAL,             -- by the optimizer
    estimated_cost  REAL,
    reason     TEXT,                  -- why the statement has no plan; NULL: it has one
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

-- A plan is kept once, by its hash.
CREATE TABLE plan_texts (
    hash  TEXT PRIMARY KEY,
    text  TEXT NOT NULL              -- as the engine printed it, without what the optimizer estimated
) STRICT, WITHOUT ROWID;

-- What is read and written as one row.
CREATE VIEW plans AS
    SELECT trial, position, statement, hash, ifnull((SELECT text FROM plan_texts WHERE hash = own.hash), '') AS text,
           analysis, estimated_rows, estimated_cost, reason
    FROM trial_plans AS own;
CREATE TRIGGER plans_insert INSTEAD OF INSERT ON plans BEGIN
    INSERT OR IGNORE INTO plan_texts SELECT new.hash, new.text WHERE new.reason IS NULL;
    INSERT INTO trial_plans VALUES
        (new.trial, new.position, new.statement, new.hash, new.analysis, new.estimated_rows, new.estimated_cost, new.reason);
END;

-- Observations of servers by `steelbench waits`. An observation belongs to no run.
CREATE TABLE server_activities (
    id          INTEGER PRIMARY KEY,
    started_ms  INTEGER NOT NULL,
    steelbench  TEXT NOT NULL,        -- version that recorded it
    address     TEXT NOT NULL,        -- the server as it was named, without a password
    activity    TEXT NOT NULL         -- JSON, as `waits --json` prints it less what was computed from it
) STRICT;

-- Statements of servers that `steelbench queries --every` counted. An interval belongs to no run.
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

-- Views for people who open the file with a general SQLite tool. Steelbench itself reads the
-- tables only.

CREATE VIEW trial_responses AS
SELECT t.run, t.id AS trial, c.label AS configuration, t.block, t.attempt, r.name, r.unit, r.value
FROM trials t
JOIN configurations c ON c.id = t.configuration
JOIN responses r ON r.trial = t.id
WHERE t.status = 'done';

CREATE VIEW trial_waits AS
SELECT t.run, t.id AS trial, c.label AS configuration, t.block, t.attempt, w.wait_type, w.class,
       w.resource_s + w.signal_s AS wait_s, w.resource_s, w.signal_s, w.count AS wait_count, w.source
FROM trials t
JOIN configurations c ON c.id = t.configuration
JOIN waits w ON w.trial = t.id
WHERE t.status = 'done';

CREATE VIEW trial_devices AS
SELECT t.run, t.id AS trial, c.label AS configuration, t.block, t.attempt, d.volume, d.device,
       d.reads / d.elapsed_s AS reads_per_s, d.read_bytes / 1e6 / d.elapsed_s AS read_mb_per_s,
       1e6 * d.read_s / d.reads AS read_latency_us,
       d.writes / d.elapsed_s AS writes_per_s, d.write_bytes / 1e6 / d.elapsed_s AS write_mb_per_s,
       1e6 * d.write_s / d.writes AS write_latency_us,
       d.flushes / d.elapsed_s AS flushes_per_s, d.busy_s / d.elapsed_s AS busy_share,
       d.queue_s / d.elapsed_s AS mean_queue
FROM trials t
JOIN configurations c ON c.id = t.configuration
JOIN devices d ON d.trial = t.id
WHERE t.status = 'done';

CREATE VIEW server_waits AS
SELECT a.id AS observation, a.started_ms, a.address, json_extract(a.activity, '$.elapsed_s') AS elapsed_s,
       json_extract(w.value, '$.wait_type') AS wait_type, json_extract(w.value, '$.class') AS class,
       json_extract(w.value, '$.resource_s') + json_extract(w.value, '$.signal_s') AS wait_s,
       json_extract(w.value, '$.count') AS wait_count
FROM server_activities a, json_each(a.activity, '$.waits') w;

CREATE VIEW query_times AS
SELECT i.id AS interval, i.address, i.from_ms, i.to_ms, c.digest, c.database_name, c.user_name, c.text,
       json_extract(c.counters, '$.calls') AS calls, json_extract(c.counters, '$.time_ns') / 1e9 AS time_s,
       json_extract(c.counters, '$.rows') AS row_count, c.plan_hash
FROM query_intervals i JOIN query_counts c ON c.interval = i.id;
