-- Step 4: where the target spent its processor time, as sampled call stacks. The columns beside the stacks
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
