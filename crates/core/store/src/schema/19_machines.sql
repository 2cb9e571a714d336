-- Format 19: trials over several machines. A trial with block 0 belongs to the check between machines:
-- its sequence is the repeat, and it is in no estimate of the experiment.

ALTER TABLE trials ADD COLUMN machine TEXT;  -- name of the machine that ran it; NULL: that of the run
