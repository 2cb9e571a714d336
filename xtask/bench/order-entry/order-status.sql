\set home random(1, 1)
\set district random(1, 10)
\set customer ((random(0, 1023) | random(1, 3000)) + 259) % 3000 + 1
CALL order_entry_order_status(:home, :district, :customer::int, '')
