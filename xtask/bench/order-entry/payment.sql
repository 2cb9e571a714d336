\set home random(1, 1)
\set district random(1, 10)
\set customer ((random(0, 1023) | random(1, 3000)) + 259) % 3000 + 1
\set paid random(100, 500000)
CALL order_entry_payment(:home, :district, :home, :district, :customer::int, '', :paid / 100.0, now()::timestamp)
