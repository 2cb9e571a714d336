-- Step 1: the tables. Conventions that hold in all of them:
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
    steelbench  TEXT NOT NULL         -- version that made the run
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
    synthetic      INTEGER            -- 1: scripted figures, not a measurement
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
    send_delay_us_max  INTEGER NOT NULL
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
CREATE TABLE marks (
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
