-- YCSB: reads a record; the latest are the most frequent.
\set last latest_key(:rows)
\set key abs(hash_fnv1a(:last - random_zipfian(0, :last, 0.99), 0))
\set ycsb_key null
SELECT * FROM usertable WHERE ycsb_key = :key \aset
\if :ycsb_key is not null
\count found
\endif
