-- TATP: access data of a type, which not every subscriber has.
\set s_id (random(0, :a) | random(1, :rows)) % :rows + 1
\set ai_type random(1, 4)
\set data1 null
SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = :s_id AND ai_type = :ai_type \aset
\if :data1 is not null
\count found
\endif
