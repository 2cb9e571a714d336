\if :locks = 0
SELECT count(*), sum(abalance) FROM pgbench_accounts;
\elif :locks = 1
BEGIN;
SELECT count(*), sum(abalance) FROM pgbench_accounts LOCK IN SHARE MODE;
COMMIT;
\else
LOCK TABLES pgbench_accounts READ;
SELECT count(*), sum(abalance) FROM pgbench_accounts;
UNLOCK TABLES;
\endif
