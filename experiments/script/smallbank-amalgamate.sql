-- SmallBank: all that one customer has goes to the checking account of another one.
\set from random(1, :rows)
\set to (:from + random(0, :rows - 2)) % :rows + 1
\set name zero_pad(:from, 64)
\set other zero_pad(:to, 64)
BEGIN;
SELECT custid AS from_id FROM accounts WHERE name = :name \gset
SELECT custid AS to_id FROM accounts WHERE name = :other \gset
SELECT bal AS savings FROM savings WHERE custid = :from_id \gset
SELECT bal AS checking FROM checking WHERE custid = :from_id \gset
UPDATE savings SET bal = bal - :savings WHERE custid = :from_id;
UPDATE checking SET bal = bal - :checking WHERE custid = :from_id;
UPDATE checking SET bal = bal + :savings + :checking WHERE custid = :to_id;
COMMIT;
