-- TATP: ends a call forwarding, which may not exist.
\set sub_nbr zero_pad((random(0, :a) | random(1, :rows)) % :rows + 1, 15)
\set sf_type random(1, 4)
\set start_time random(0, 2) * 8
\set deleted 0
BEGIN;
SELECT s_id FROM subscriber WHERE sub_nbr = :sub_nbr \gset
DELETE FROM call_forwarding
    WHERE s_id = :s_id AND sf_type = :sf_type AND start_time = :start_time
    RETURNING 1 AS deleted \aset
COMMIT;
\count deleted :deleted
