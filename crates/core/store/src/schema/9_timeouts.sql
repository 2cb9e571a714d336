-- Step 9: a trial that limits.trial_time stopped is an observation of at least that long.
--  * timeout_s: that limit, at which the trial was stopped: elapsed_s ends there; NULL: measured to the end, or failed
--    otherwise. Of trials that older versions recorded: the seconds of the whole trial, and elapsed_s is not known.
--  * equivalence_margin: a relative difference below this is no difference that matters.

ALTER TABLE trials ADD COLUMN timeout_s REAL;

UPDATE trials
SET timeout_s = wall_s, observed = 1, connections = 0, work_unit = '', work_amount = 0, transactions = 0, errors = 0,
    retries = 0, session_s = 0, cpu_s = 0, synthetic = 0
WHERE status = 'failed' AND observed = 0 AND cause LIKE 'took longer than limits.trial_time%';

ALTER TABLE runs ADD COLUMN equivalence_margin REAL NOT NULL DEFAULT 0.05;
