-- Step 3: what the block devices under the target did during the measured part, by the kernel's own
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
