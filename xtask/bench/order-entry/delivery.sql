\set home random(1, 1)
\set carrier random(1, 10)
CALL order_entry_delivery(:home, :carrier, now()::timestamp)
