\set customer random(1, :customers)
SELECT count(*), sum(amount) FROM orders WHERE customer = :customer;
