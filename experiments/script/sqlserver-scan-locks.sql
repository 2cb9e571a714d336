\if :locks = 0
SELECT count(*), sum(abalance) FROM pgbench_accounts WITH (NOLOCK);
\elif :locks = 1
SELECT count(*), sum(abalance) FROM pgbench_accounts WITH (ROWLOCK);
\elif :locks = 2
SELECT count(*), sum(abalance) FROM pgbench_accounts WITH (PAGLOCK);
\else
SELECT count(*), sum(abalance) FROM pgbench_accounts WITH (TABLOCK);
\endif
