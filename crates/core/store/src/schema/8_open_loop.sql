-- Step 8: how an open loop kept its schedule. NULL: not an open loop, or not counted by the version that recorded it.

ALTER TABLE load_health ADD COLUMN sends_late INTEGER;    -- started later than 1 ms because every connection was busy
ALTER TABLE load_health ADD COLUMN schedule_s REAL;       -- from "go" to the last intended start
ALTER TABLE load_health ADD COLUMN free_until_s REAL;     -- the last intended start for which a connection was free
