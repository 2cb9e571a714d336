//! Faults that are planted in a database of PostgreSQL, for the tests of `queries` and for `cargo
//! xtask bench advisors`.

/// A redundant index (city), an unused one (note), and zip codes that follow from cities, which the
/// planner does not know.
pub const TABLES: &str = "
    CREATE TABLE customers (
        id int PRIMARY KEY, name text NOT NULL, city int NOT NULL, zip int NOT NULL);
    CREATE TABLE orders (
        id int PRIMARY KEY, customer_id int NOT NULL, amount int NOT NULL, note text NOT NULL);
    CREATE INDEX customers_city_idx ON customers (city);
    CREATE INDEX customers_city_name_idx ON customers (city, name);
    CREATE INDEX orders_note_idx ON orders (note);
    INSERT INTO customers
        SELECT g, 'name ' || g, g % 50, (g % 50) * 100 + 7 FROM generate_series(1, 50000) g;
    INSERT INTO orders
        SELECT g, g % 10000, g % 977, 'note of order number ' || g FROM generate_series(1, 60000) g;
";

/// Statements that miss an index, spill, are estimated wrongly, are run for each row of a list; and
/// some that are as they should be, by indexes that are read as they should be. One a line.
pub fn load() -> String {
    let mut lines = vec!["SET work_mem = '64kB'".to_owned()];
    for number in 1..=20 {
        let first = number * 100;
        lines.extend([
            format!("SELECT * FROM orders WHERE customer_id = {number}"),
            format!("SELECT id FROM customers WHERE city = {number} AND zip = {number}07"),
            format!("SELECT name FROM customers WHERE city = {number} ORDER BY name LIMIT 5"),
            "SELECT count(*) FROM (SELECT * FROM orders ORDER BY amount OFFSET 0) s".to_owned(),
            format!("SELECT id, zip FROM customers WHERE id >= {first} AND id < {}", first + 100),
        ]);
        lines.extend(
            (first..first + 100).map(|id| format!("SELECT name FROM customers WHERE id = {id}")),
        );
    }
    lines.join(";\n") + ";\n"
}
