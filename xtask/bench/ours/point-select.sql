\set id random(1, 100000)
SELECT c FROM sbtest.sbtest1 WHERE id = :id;
