\if :locks = 0
SELECT count(*), sum(abalance) FROM pgbench_accounts;
\elif :locks = 1
BEGIN;
SELECT count(*), sum(abalance) FROM (SELECT abalance FROM pgbench_accounts FOR SHARE) AS locked;
COMMIT;
\else
BEGIN;
LOCK TABLE pgbench_accounts IN SHARE MODE;
SELECT count(*), sum(abalance) FROM pgbench_accounts;
COMMIT;
\endif
