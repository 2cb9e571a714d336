-- SmallBank: the sum of a customer's two accounts.
\set name zero_pad(random(1, :rows), 64)
BEGIN;
SELECT custid FROM accounts WHERE name = :name \gset
SELECT bal FROM savings WHERE custid = :custid;
SELECT bal FROM checking WHERE custid = :custid;
COMMIT;
