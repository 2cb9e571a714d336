-- TATP: all data of a subscriber.
\set s_id (random(0, :a) | random(1, :rows)) % :rows + 1
SELECT * FROM subscriber WHERE s_id = :s_id;
