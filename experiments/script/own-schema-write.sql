\set id random(1, :rows)
\set customer random(1, :customers)
UPDATE orders SET customer = :customer WHERE id = :id;
