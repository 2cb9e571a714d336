-- TATP: a new call forwarding. Where the facility is missing or forwards calls at that hour
-- already, a constraint refuses it: that is a result, not an error.
\set sub_nbr zero_pad((random(0, :a) | random(1, :rows)) % :rows + 1, 15)
\set sf_type random(1, 4)
\set start_time random(0, 2) * 8
\set end_time :start_time + random(1, 8)
\set numberx random_digits(1, 15)
BEGIN;
SELECT s_id FROM subscriber WHERE sub_nbr = :sub_nbr \gset
SELECT sf_type FROM special_facility WHERE s_id = :s_id;
INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx)
    VALUES (:s_id, :sf_type, :start_time, :end_time, :numberx);
\refused refused
COMMIT;
\count inserted
