-- SmallBank: a withdrawal of 20.20 from savings, unless they are less.
\set name zero_pad(random(1, :rows), 64)
BEGIN;
SELECT custid FROM accounts WHERE name = :name \gset
SELECT bal AS savings FROM savings WHERE custid = :custid \gset
\if :savings >= 2020
UPDATE savings SET bal = bal - 2020 WHERE custid = :custid;
\count paid_out 2020
\else
\count insufficient_funds
\endif
COMMIT;
