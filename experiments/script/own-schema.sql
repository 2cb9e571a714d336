-- Orders of some customers, for SQLite and PostgreSQL.
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL,
    amount INTEGER NOT NULL
);

INSERT INTO orders (id, customer, amount)
WITH RECURSIVE numbers (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers WHERE id < :rows)
SELECT id, id % :customers + 1, id % 97 FROM numbers;
