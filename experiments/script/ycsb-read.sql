-- YCSB: reads a record. Its number has a scrambled Zipf distribution: the hash of a rank among
-- ten billion. The key is the hash of the number.
\set number abs(hash_fnv1a(random_zipfian(0, 10000000000, 0.99), 0)) % :rows
\set key abs(hash_fnv1a(:number, 0))
SELECT * FROM usertable WHERE ycsb_key = :key;
