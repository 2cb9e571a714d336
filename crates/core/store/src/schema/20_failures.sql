-- Format 20: the kind of a failure. It was the end of the first line of the cause.

ALTER TABLE trials ADD COLUMN failure TEXT;  -- error; futile: a search ended it, it could not beat the leader; NULL when done

UPDATE trials SET failure = 'error' WHERE status = 'failed';
UPDATE trials SET failure = 'futile'
WHERE status = 'failed' AND timeout_s IS NOT NULL
  AND substr(cause, 1, instr(cause || char(10), char(10)) - 1) LIKE '%cannot beat the leader';
