\set home random(1, 1)
\set district random(1, 10)
\set threshold random(10, 20)
CALL order_entry_stock_level(:home, :district, :threshold)
