-- TATP: changes a subscriber and a facility, which not every subscriber has.
\set s_id (random(0, :a) | random(1, :rows)) % :rows + 1
\set bit_1 random(0, 1)
\set data_a random(0, 255)
\set sf_type random(1, 4)
BEGIN;
UPDATE subscriber SET bit_1 = :bit_1 WHERE s_id = :s_id;
UPDATE special_facility SET data_a = :data_a WHERE s_id = :s_id AND sf_type = :sf_type;
COMMIT;
