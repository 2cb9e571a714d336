-- Format 18: which percentile a response is, and of how many values of its trial.

ALTER TABLE responses ADD COLUMN percent REAL;  -- 99 of latency_p99; NULL: not a percentile
ALTER TABLE responses ADD COLUMN percent_of INTEGER;  -- values of the trial that it is taken from

-- Loads of transactions and of I/Os have recorded how many latencies their percentiles are of.
UPDATE responses
SET percent = CASE name WHEN 'latency_p50' THEN 50 WHEN 'latency_p95' THEN 95
                        WHEN 'latency_p99' THEN 99 ELSE 99.9 END,
    percent_of = (SELECT count FROM latencies
                  WHERE latencies.trial = responses.trial ORDER BY position LIMIT 1)
WHERE name IN ('latency_p50', 'latency_p95', 'latency_p99', 'latency_p99.9')
  AND EXISTS (SELECT 1 FROM latencies WHERE latencies.trial = responses.trial);
