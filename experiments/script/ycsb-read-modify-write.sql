-- YCSB: reads a record, then writes one of its fields; two statements without a transaction.
\set number abs(hash_fnv1a(random_zipfian(0, 10000000000, 0.99), 0)) % :rows
\set key abs(hash_fnv1a(:number, 0))
\set value random_text(100)
\set field random(0, 9)
SELECT * FROM usertable WHERE ycsb_key = :key;
\if :field = 0
UPDATE usertable SET field0 = :value WHERE ycsb_key = :key;
\elif :field = 1
UPDATE usertable SET field1 = :value WHERE ycsb_key = :key;
\elif :field = 2
UPDATE usertable SET field2 = :value WHERE ycsb_key = :key;
\elif :field = 3
UPDATE usertable SET field3 = :value WHERE ycsb_key = :key;
\elif :field = 4
UPDATE usertable SET field4 = :value WHERE ycsb_key = :key;
\elif :field = 5
UPDATE usertable SET field5 = :value WHERE ycsb_key = :key;
\elif :field = 6
UPDATE usertable SET field6 = :value WHERE ycsb_key = :key;
\elif :field = 7
UPDATE usertable SET field7 = :value WHERE ycsb_key = :key;
\elif :field = 8
UPDATE usertable SET field8 = :value WHERE ycsb_key = :key;
\elif :field = 9
UPDATE usertable SET field9 = :value WHERE ycsb_key = :key;
\endif
