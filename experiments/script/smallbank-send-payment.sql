-- SmallBank: a payment of 5.00 between checking accounts, unless the balance is less.
\set from random(1, :rows)
\set to (:from + random(0, :rows - 2)) % :rows + 1
BEGIN;
SELECT bal AS checking FROM checking WHERE custid = :from \gset
\if :checking >= 500
UPDATE checking SET bal = bal - 500 WHERE custid = :from;
UPDATE checking SET bal = bal + 500 WHERE custid = :to;
\else
\count insufficient_funds
\endif
COMMIT;
