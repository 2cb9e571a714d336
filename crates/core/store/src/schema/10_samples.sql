-- Step 10: what sampled waits rest on, which waits a server's own counter timed, and what samples and kernel say of the
-- same time independently of each other.

ALTER TABLE waits ADD COLUMN samples INTEGER;        -- samples of this wait; NULL: not sampled, or recorded before this step
ALTER TABLE waits ADD COLUMN error_s REAL;           -- standard error of resource_s + signal_s that comes from sampling
ALTER TABLE waits ADD COLUMN counter TEXT;           -- the server's counter that timed it (pg_stat_wal); NULL: none

ALTER TABLE trials ADD COLUMN sampled_running_s REAL; -- seconds without a wait event, by samples
ALTER TABLE trials ADD COLUMN corrected_s REAL;       -- seconds taken off sampled waits, to fit the kernel's figures
