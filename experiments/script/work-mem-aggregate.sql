SELECT sum(balance) FROM (SELECT aid + 1, sum(abalance) AS balance FROM pgbench_accounts GROUP BY aid + 1) AS grouped;
