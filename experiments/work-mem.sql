\if :operation = 0
SELECT count(*) FROM (SELECT aid, bid, abalance FROM pgbench_accounts ORDER BY aid % 1000, aid OFFSET 0) AS sorted;
\elif :operation = 1
SELECT count(*) FROM pgbench_accounts AS a JOIN pgbench_accounts AS b ON a.aid = b.aid + 1 WHERE a.abalance + b.abalance >= 0;
\else
SELECT count(*) FROM (SELECT aid + 1, sum(abalance) FROM pgbench_accounts GROUP BY aid + 1) AS grouped;
\endif
