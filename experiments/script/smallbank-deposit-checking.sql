-- SmallBank: a deposit of 1.30 to a checking account.
\set name zero_pad(random(1, :rows), 64)
BEGIN;
SELECT custid FROM accounts WHERE name = :name \gset
UPDATE checking SET bal = bal + 130 WHERE custid = :custid;
COMMIT;
\count paid_in 130
