//! `steelbench queries` on real servers of MariaDB with planted faults.

use crate::captures;
use testing::installed as servers;

use crate::common::{Exit, Lab};
use mariadb::client::Client;
use mariadb::server::PrivateServer;
use serde_json::Value;

fn connect(server: &PrivateServer) -> Client {
    Client::connect(&server.config()).unwrap()
}

const TABLES: &str = "
    CREATE DATABASE shop; USE shop;
    CREATE TABLE customers (id int PRIMARY KEY, name varchar(40) NOT NULL, city int NOT NULL, zip \
                      int NOT NULL,
        KEY customers_city_idx (city), KEY customers_city_name_idx (city, name));
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL, amount int NOT NULL, note \
                      varchar(60) NOT NULL,
        KEY orders_note_idx (note));
    INSERT INTO customers SELECT seq, concat('name ', seq), seq % 50, (seq % 50) * 100 + 7 FROM \
                      seq_1_to_50000;
    INSERT INTO orders SELECT seq, seq % 10000, seq % 977, concat('note of order number ', seq) \
                      FROM seq_1_to_60000;
    ANALYZE TABLE customers, orders";

/// A missing index, a spill, single rows in a loop; and indexes that are read as they should be.
fn plant(server: &PrivateServer) {
    let mut client = connect(server);
    client
        .run(
            "UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name IN \
             ('events_statements_current', 'events_statements_history', \
             'events_statements_history_long')",
        )
        .unwrap();
    client.run(TABLES).unwrap();
    client.run("TRUNCATE performance_schema.events_statements_summary_by_digest").unwrap();
    client.run("SET SESSION sort_buffer_size = 32768").unwrap();
    for number in 1..=20 {
        let mut run = |sql: &str| client.query(sql).unwrap().len();
        // MariaDB's plans call the table as the statement does.
        assert_eq!(run(&format!("SELECT * FROM orders AS o WHERE o.customer_id = {number}")), 6);
        assert_eq!(
            run(&format!("SELECT name FROM customers WHERE city = {number} ORDER BY name LIMIT 5")),
            5
        );
        run("SELECT amount, note FROM orders ORDER BY amount");
        let first = number * 100;
        run(&format!("SELECT id, zip FROM customers WHERE id >= {first} AND id < {}", first + 100));
        for id in first..first + 100 {
            run(&format!("SELECT name FROM customers WHERE id = {id}"));
        }
    }
    client.run("CREATE TEMPORARY TABLE gone (a int)").unwrap();
    client.run("SELECT a FROM gone WHERE a = 'S3cret'").unwrap();
    client.run("DROP TABLE gone").unwrap();
}

fn json(ended: &Exit) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

fn advice(found: &Value) -> Vec<(&str, &str)> {
    let all = found["advice"].as_array().unwrap().iter().filter(|array| array["kind"] != "setting");
    let mut found: Vec<_> = all
        .map(|advice| (advice["kind"].as_str().unwrap(), advice["subject"].as_str().unwrap()))
        .collect();
    found.sort_unstable();
    found
}

/// The number of the statement whose text begins so but for its quotes, from 1.
fn number(found: &Value, text: &str) -> usize {
    let statements = found["statements"].as_array().unwrap();
    let plain = |value: &Value| value["text"].as_str().unwrap().replace('`', "").to_lowercase();
    let at =
        statements.iter().position(|statement| plain(statement).starts_with(&text.to_lowercase()));
    at.unwrap_or_else(|| panic!("{text}: {statements:#?}")) + 1
}

#[test]
fn planted_faults_are_found_and_nothing_else_is_claimed() {
    servers::on_each_mariadb(true, |server, url| {
        plant(server);
        let lab = Lab::new();
        let ended = lab.steelbench(&["queries", url, "--json", "--html", "q.html"]).expect(0);
        let found = json(&ended);
        let statement = |text: &str| format!("statement {}", number(&found, text));
        let (spill, repeated) = (
            statement("SELECT amount , note FROM orders"),
            statement("SELECT name FROM customers WHERE id"),
        );
        let expected = [
            ("missing_index", "orders"),
            ("redundant_index", "customers (customers_city_idx)"),
            ("repeated_statement", repeated.as_str()),
            ("spill", spill.as_str()),
            ("unused_index", "orders (orders_note_idx)"),
        ];
        assert_eq!(advice(&found), expected, "{:#?}", found["advice"]);
        let all = found["advice"].as_array().unwrap();
        let missing = all.iter().find(|advice| advice["kind"] == "missing_index").unwrap();
        assert_eq!(
            missing["ddl"],
            "CREATE INDEX `orders_customer_id` ON `shop`.`orders` (`customer_id`) \
             ALGORITHM=INPLACE LOCK=NONE"
        );
        let price = missing["price"].as_str().unwrap();
        assert!(price.contains("update of its columns") && !price.contains("HOT"), "{price}");
        let lookup =
            &found["statements"][number(&found, "SELECT name FROM customers WHERE id") - 1];
        assert_eq!(
            (&lookup["counters"]["calls"], &lookup["counters"]["rows"]),
            (&2000.into(), &2000.into())
        );
        assert_eq!(lookup["plans"][0]["origin"], "sample");
        let temporary = &found["statements"][number(&found, "SELECT a FROM gone") - 1];
        assert!(
            temporary["not_explained"].as_str().unwrap().contains("doesn't exist"),
            "{temporary}"
        );
        let texts: Vec<&str> = found["statements"]
            .as_array()
            .unwrap()
            .iter()
            .map(|array| array["text"].as_str().unwrap())
            .collect();
        assert!(
            texts
                .iter()
                .all(|text| !text.contains("information_schema") && !text.contains("steelbench")),
            "{texts:#?}"
        );
        for form in [&ended.stdout, &lab.read("q.html")] {
            assert!(!form.contains("S3cret"), "{form}");
        }
        captures::say_the_same(&lab, url, &["S3cret", "FROM `customers`"]);
        captures::tell_of_the_time_between(&lab, url, "SELECT `zip` FROM", 7, || {
            let mut client = connect(server);
            for id in 1..=7 {
                client.query(&format!("SELECT zip FROM shop.customers WHERE id = {id}")).unwrap();
            }
        });
        let mut client = connect(server);
        for array in found["advice"].as_array().unwrap() {
            if let Some(ddl) = array["ddl"].as_str() {
                client.run(ddl).unwrap();
            }
        }
    });
}

#[test]
fn what_may_not_be_read_is_said_and_nothing_is_claimed_of_it() {
    servers::on_each_mariadb(true, |server, url| {
        plant(server);
        let mut client = connect(server);
        client.run("CREATE USER reader; GRANT SELECT ON shop.* TO reader").unwrap();
        let reader = url.replacen("//root", "//reader", 1);
        assert_ne!(reader, url);
        let read = || json(&Lab::new().steelbench(&["queries", &reader, "--json"]).expect(0));
        let found = read();
        let unread = found["unread"].to_string();
        assert!(
            unread.contains("denied to user 'reader'")
                && unread.contains("mysql.innodb_index_stats"),
            "{unread}"
        );
        assert_eq!(
            advice(&found),
            [("redundant_index", "customers (customers_city_idx)")],
            "{found:#}"
        );
        // Counters of which only a part may be read.
        for table in ["setup_instruments", "global_status", "events_statements_summary_by_digest"] {
            client.run(&format!("GRANT SELECT ON performance_schema.{table} TO reader")).unwrap();
        }
        let found = read();
        assert!(found["unread"].to_string().contains("index usage"), "{found:#}");
        assert!(advice(&found).iter().all(|(kind, _)| *kind != "unused_index"), "{found:#}");
        let lookup =
            &found["statements"][number(&found, "SELECT name FROM customers WHERE id") - 1];
        // Without a text with values, a value of any kind shows the way to the rows.
        assert_eq!(lookup["plans"][0]["origin"], "generic", "{lookup}");
    });
}

#[test]
fn without_the_performance_schema_it_says_so_and_shows_the_indexes() {
    servers::on_each_mariadb(false, |server, url| {
        let sql = "CREATE DATABASE `odd ``d`; USE `odd ``d`; CREATE TABLE `t; --` (id int PRIMARY \
                   KEY, `a b` int, c int, KEY `k 1` (`a b`), KEY `k 2` (`a b`, c), UNIQUE KEY u \
                   (`a b`))";
        connect(server).run(sql).unwrap();
        let found = json(&Lab::new().steelbench(&["queries", url, "--json"]).expect(0));
        assert!(
            found["unread"].to_string().contains("set performance_schema = ON"),
            "{}",
            found["unread"]
        );
        let all = found["advice"].as_array().unwrap().iter();
        let advice: Vec<&Value> = all.filter(|advice| advice["kind"] != "setting").collect();
        assert_eq!(advice.len(), 1, "{advice:#?}");
        let ddl = "ALTER TABLE `odd ``d`.`t; --` DROP INDEX `k 1`, ALGORITHM=INPLACE, LOCK=NONE";
        assert_eq!(advice[0]["ddl"], ddl);
        connect(server).run(ddl).unwrap();
    });
}
