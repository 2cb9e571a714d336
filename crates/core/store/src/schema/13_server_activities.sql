-- Step 13: what `steelbench waits` saw of servers. An observation belongs to no run.

CREATE TABLE server_activities (
    id          INTEGER PRIMARY KEY,
    started_ms  INTEGER NOT NULL,
    steelbench  TEXT NOT NULL,        -- version that recorded it
    address     TEXT NOT NULL,        -- the server as it was named, without a password
    activity    TEXT NOT NULL         -- JSON, as `waits --json` prints it less what was computed from it
) STRICT;

CREATE VIEW server_waits AS
SELECT a.id AS observation, a.started_ms, a.address, json_extract(a.activity, '$.elapsed_s') AS elapsed_s,
       json_extract(w.value, '$.wait_type') AS wait_type, json_extract(w.value, '$.class') AS class,
       json_extract(w.value, '$.resource_s') + json_extract(w.value, '$.signal_s') AS wait_s,
       json_extract(w.value, '$.count') AS wait_count
FROM server_activities a, json_each(a.activity, '$.waits') w;
