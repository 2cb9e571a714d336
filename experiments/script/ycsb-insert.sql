-- YCSB: inserts the next record. All connections share the sequence of numbers.
\set key abs(hash_fnv1a(new_key(:rows), 0))
\set field0 random_text(100)
\set field1 random_text(100)
\set field2 random_text(100)
\set field3 random_text(100)
\set field4 random_text(100)
\set field5 random_text(100)
\set field6 random_text(100)
\set field7 random_text(100)
\set field8 random_text(100)
\set field9 random_text(100)
INSERT INTO usertable (ycsb_key, field0, field1, field2, field3, field4, field5, field6, field7,
    field8, field9)
    VALUES (:key, :field0, :field1, :field2, :field3, :field4, :field5, :field6, :field7,
    :field8, :field9);
\count inserted
