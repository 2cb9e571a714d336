-- Step 2: views for people who open the file with a general SQLite tool. Steelbench itself reads
-- the tables only.

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
