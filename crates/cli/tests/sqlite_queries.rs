//! `steelbench queries` on a SQLite database with planted faults.

use crate::common::Lab;
use rusqlite::Connection;
use serde_json::Value;

/// Among indexes and statements that are as they should be: no index for `customer_id` and for
/// `zip`, one that another begins with, one that nothing uses.
const TABLES: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city INT NOT NULL, mail \
                      TEXT UNIQUE);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT NOT NULL, amount INT NOT NULL, \
                      note TEXT NOT NULL);
    CREATE TABLE visits (zip INT, day INT); CREATE TABLE zips (zip INT, name TEXT);
    CREATE INDEX customers_city_idx ON customers (city);
    CREATE INDEX customers_city_name_idx ON customers (city, name);
    CREATE INDEX orders_note_idx ON orders (note);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO orders SELECT i, i % 10000, i % 977, 'note of order number ' || i FROM n;
    INSERT INTO customers SELECT id, note, id % 50, note FROM orders WHERE id <= 20000;
    INSERT INTO visits SELECT id % 500, id FROM orders WHERE id <= 3000;
    INSERT INTO zips SELECT id % 500, note FROM orders WHERE id <= 1000;
    VACUUM";

const STATEMENTS: &str = "-- statements
SELECT * FROM orders o WHERE o.customer_id=17; SELECT * FROM orders o WHERE o.customer_id=18;
SELECT count(*) FROM visits v JOIN zips z ON z.zip = v.zip;
SELECT name FROM customers WHERE city = 3 ORDER BY name LIMIT 5; SELECT name FROM customers WHERE \
                          city = 4;
SELECT amount FROM orders WHERE id = 4711;
SELECT mail FROM customers WHERE mail = 'S3cret';
UPDATE orders SET amount = 0 WHERE id = 1;
SELECT note FROM orders WHERE id = :id;
SELECT missing FROM nowhere WHERE a = 'S3cret';
VACUUM;
";

fn lab() -> Lab {
    let lab = Lab::new();
    Connection::open(lab.path("shop.sqlite")).unwrap().execute_batch(TABLES).unwrap();
    lab.write("shop.sql", STATEMENTS);
    lab
}

#[test]
fn planted_faults_are_found_and_nothing_else_is_claimed() {
    let lab = lab();
    let before = std::fs::read(lab.path("shop.sqlite")).unwrap();
    let line = ["queries", "shop.sqlite", "--sql", "shop.sql", "--json", "--html", "q.html"];
    let ended = lab.steelbench(&line).expect(0);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let advice: Vec<(String, String)> = found["advice"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| (text(&array["kind"]), text(&array["subject"])))
        .collect();
    let mut expected = [
        ("missing_index", "orders"),
        ("missing_index", "zips"),
        ("redundant_index", "customers (customers_city_idx)"),
        ("unused_index", "orders (orders_note_idx)"),
    ]
    .map(|(kind, subject)| (kind.to_owned(), subject.to_owned()));
    let mut copy = advice.clone();
    copy.sort();
    expected.sort();
    assert_eq!(copy, expected, "{:#?}", found["advice"]);
    let statement = |begin: &str| {
        let all = found["statements"].as_array().unwrap();
        all.iter()
            .find(|statement| statement["text"].as_str().unwrap().starts_with(begin))
            .unwrap_or_else(|| panic!("{all:#?}"))
    };
    // Two that differ in a constant are one; SQLite looked at every row but the first of both.
    let scan = &statement("SELECT * FROM orders")["counters"];
    assert_eq!(
        (&scan["calls"], &scan["rows"], &scan["rows_read"]),
        (&2.into(), &12.into(), &119_998.into())
    );
    // Of 1,000 rows it counts the steps from one to the next.
    assert_eq!(statement("SELECT count(*) FROM visits")["counters"]["automatic_index_rows"], 999);
    assert_eq!(statement("UPDATE orders")["counters"], serde_json::json!({}));
    assert_eq!(statement("UPDATE orders")["plans"][0]["plan"]["root"]["name"], "SEARCH");
    assert!(text(&statement("SELECT missing")["not_explained"]).contains("no such table: nowhere"));
    assert_eq!(statement("VACUUM")["not_explained"], "utility statement, no plan");
    let unread = found["unread"].to_string();
    for text in [
        "shop.sql:7",
        "it writes",
        "shop.sql:8",
        "parameters without values",
        "shop.sql:9",
        "shop.sql:10",
    ] {
        assert!(unread.contains(text), "{text}: {unread}");
    }
    for form in [&ended.stdout, &lab.read("q.html")] {
        assert!(!form.contains("S3cret"), "{form}");
    }
    assert_eq!(std::fs::read(lab.path("shop.sqlite")).unwrap(), before);
    // What is advised can be done, and then there is nothing to say.
    let database = Connection::open(lab.path("shop.sqlite")).unwrap();
    for array in found["advice"].as_array().unwrap() {
        database.execute_batch(array["ddl"].as_str().unwrap()).unwrap();
    }
    let ended =
        lab.steelbench(&["queries", "shop.sqlite", "--sql", "shop.sql", "--full"]).expect(0);
    ended.shows("No findings").shows("The given statements");
}

#[test]
fn bad_files_and_long_statements_are_said() {
    let lab = lab();
    lab.steelbench(&["queries", "shop.sqlite"]).expect(2).says(
        "give the statements with --sql \
                                                                FILE",
    );
    lab.steelbench(&["queries", "shop.sqlite", "--sql", "no.sql"]).expect(2).says("no.sql: ");
    let mut bytes = std::fs::read(lab.path("shop.sqlite")).unwrap();
    bytes[100..5000].fill(7);
    std::fs::write(lab.path("damaged.sqlite"), bytes).unwrap();
    lab.steelbench(&["queries", "damaged.sqlite", "--sql", "shop.sql"])
        .expect(1)
        .says("damaged.sqlite: cannot open it: ");
    lab.write(
        "long.sql",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
    );
    let ended =
        lab.steelbench(&["queries", "shop.sqlite", "--sql", "long.sql", "--full"]).expect(0);
    ended.shows("stopped after 10 s").shows("long.sql:1");
}
