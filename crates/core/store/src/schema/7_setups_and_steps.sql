-- Step 7: which set-up of the levels of its hard-to-change factors a trial belongs to, the rule by which adaptive repeats
-- ended, and the steps in which responses are counted or rounded. In files of before each level was set up once, how the
-- number of blocks came about is not known, and percentiles come from buckets of at most 1/1024 of the value, 1 ns at least.

ALTER TABLE trials ADD COLUMN setup INTEGER NOT NULL DEFAULT 1;

-- Two stages: the spread within blocks_min blocks decides how many there are, blocks_max at most, so that the half width
-- of every 95 % interval is at most blocks_until of its mean. NULL: the number of blocks was given.
ALTER TABLE runs ADD COLUMN blocks_min INTEGER;
ALTER TABLE runs ADD COLUMN blocks_max INTEGER;
ALTER TABLE runs ADD COLUMN blocks_until REAL;

-- The step in which the value was counted or rounded, in its unit; 0: as fine as the clock.
ALTER TABLE responses ADD COLUMN resolution REAL NOT NULL DEFAULT 0;

UPDATE responses
SET resolution = max(value / 1024.0, CASE unit WHEN 'ms' THEN 1e-6 WHEN 'us' THEN 1e-3 ELSE 1 END)
WHERE name GLOB '*_p[0-9]*' AND unit IN ('ms', 'us', 'ns') AND value > 0;
