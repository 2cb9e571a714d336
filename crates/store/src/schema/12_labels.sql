-- Step 12: what a run is of. NULL: not said, not known, or recorded before this step.

ALTER TABLE runs ADD COLUMN label TEXT;           -- what the user called it
ALTER TABLE runs ADD COLUMN git_commit TEXT;      -- checked out in the experiment file's folder when the run was begun
ALTER TABLE runs ADD COLUMN git_changed INTEGER;  -- 1: tracked files differed from that commit
