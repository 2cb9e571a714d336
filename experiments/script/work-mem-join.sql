SELECT count(*) FROM pgbench_accounts AS a JOIN pgbench_accounts AS b ON a.aid = b.aid + 1 WHERE a.abalance + b.abalance >= 0;
