SELECT sum(abalance) FROM (SELECT aid, bid, abalance FROM pgbench_accounts ORDER BY aid % 1000, aid OFFSET 0) AS sorted;
