\set home random(1, 1)
\set district random(1, 10)
\set customer ((random(0, 1023) | random(1, 3000)) + 259) % 3000 + 1
\set item1 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity1 random(1, 10)
\set item2 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity2 random(1, 10)
\set item3 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity3 random(1, 10)
\set item4 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity4 random(1, 10)
\set item5 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity5 random(1, 10)
\set item6 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity6 random(1, 10)
\set item7 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity7 random(1, 10)
\set item8 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity8 random(1, 10)
\set item9 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity9 random(1, 10)
\set item10 ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1
\set quantity10 random(1, 10)
CALL order_entry_new_order(:home, :district, :customer::int, now()::timestamp, 1, ARRAY[:item1, :item2, :item3, :item4, :item5, :item6, :item7, :item8, :item9, :item10]::int[], ARRAY[:home, :home, :home, :home, :home, :home, :home, :home, :home, :home]::int[], ARRAY[:quantity1, :quantity2, :quantity3, :quantity4, :quantity5, :quantity6, :quantity7, :quantity8, :quantity9, :quantity10]::int[])
