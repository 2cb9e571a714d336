-- SmallBank: a cheque of 5.00. It costs 1.00 more if both accounts together have less.
\set name zero_pad(random(1, :rows), 64)
BEGIN;
SELECT custid FROM accounts WHERE name = :name \gset
SELECT bal AS savings FROM savings WHERE custid = :custid \gset
SELECT bal AS checking FROM checking WHERE custid = :custid \gset
\set amount case when :savings + :checking < 500 then 600 else 500 end
UPDATE checking SET bal = bal - :amount WHERE custid = :custid;
COMMIT;
\count paid_out :amount
