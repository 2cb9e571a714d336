-- YCSB: reads up to 100 records in the order of their keys, from a loaded one on.
\set number abs(hash_fnv1a(random_zipfian(0, 10000000000, 0.99), 0)) % :rows
\set key abs(hash_fnv1a(:number, 0))
\set length random(1, 100)
SELECT * FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :length;
