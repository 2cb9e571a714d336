//! Faults of MariaDB.

use super::{Advice, Case, check, load, missing_indexes, reads_less};
use crate::common::Lab;
use mariadb::client::Client;
use testing::installed as servers;

const FAULTS: &[Case] = &[
    Case {
        tables: "CREATE TABLE eq (id int PRIMARY KEY, customer int, amount int, note varchar(40));
            INSERT INTO eq SELECT seq, seq % 5000, seq, concat('note of ', seq) FROM \
                 seq_1_to_30000",
        load: &[(20, "SELECT id, note FROM eq WHERE customer = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "eq",
            ddl: "CREATE INDEX `eq_customer` ON `shop`.`eq` (`customer`) ALGORITHM=INPLACE \
                  LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE two (id int PRIMARY KEY, shop int, day int, note varchar(40));
            INSERT INTO two SELECT seq, seq % 90, seq % 97, concat('note of ', seq) FROM \
                 seq_1_to_30000",
        load: &[(20, "SELECT id, note FROM two WHERE shop = {n} AND day = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "two",
            ddl: "CREATE INDEX `two_shop_day` ON `shop`.`two` (`shop`, `day`) ALGORITHM=INPLACE \
                  LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE since (id int PRIMARY KEY, at datetime, kind int, note varchar(40));
            INSERT INTO since SELECT seq, '2026-01-01' + INTERVAL seq MINUTE, seq % 50, 'note' \
                 FROM seq_1_to_30000",
        load: &[(20, "SELECT id, note FROM since WHERE at >= '2026-01-21 12:00' AND kind = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "since",
            ddl: "CREATE INDEX `since_kind_at` ON `shop`.`since` (`kind`, `at`) \
                  ALGORITHM=INPLACE LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE latest (id int PRIMARY KEY, customer int, at int, note varchar(40));
            INSERT INTO latest SELECT seq, seq % 5000, seq, 'note' FROM seq_1_to_30000",
        load: &[(20, "SELECT * FROM latest WHERE customer = {n} ORDER BY at DESC LIMIT 10")],
        advice: &[Advice {
            kind: "missing_index",
            about: "latest",
            ddl: "CREATE INDEX `latest_customer_at` ON `shop`.`latest` (`customer`, `at`) \
                  ALGORITHM=INPLACE LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE best (id int PRIMARY KEY, score int, note varchar(40));
            INSERT INTO best SELECT seq, seq * 7919 % 30011, 'note' FROM seq_1_to_30000",
        load: &[(20, "SELECT id, score FROM best ORDER BY score DESC LIMIT 10")],
        advice: &[Advice {
            kind: "missing_index",
            about: "best",
            ddl: "CREATE INDEX `best_score` ON `shop`.`best` (`score`) ALGORITHM=INPLACE LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE carts (id int PRIMARY KEY, code varchar(20), UNIQUE KEY (code));
            CREATE TABLE items (id int PRIMARY KEY, cart int, note varchar(40));
            INSERT INTO carts SELECT seq, concat('code ', seq) FROM seq_1_to_6000;
            INSERT INTO items SELECT seq, seq % 6000, 'note' FROM seq_1_to_30000",
        load: &[(
            20,
            "SELECT i.id, i.note FROM carts c JOIN items i ON i.cart = c.id WHERE c.code = 'code \
             {n}'",
        )],
        advice: &[Advice {
            kind: "missing_index",
            about: "items",
            ddl: "CREATE INDEX `items_cart` ON `shop`.`items` (`cart`) ALGORITHM=INPLACE LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE jobs (id int PRIMARY KEY, token varchar(20), state int);
            INSERT INTO jobs SELECT seq, concat('token ', seq), 0 FROM seq_1_to_30000",
        load: &[(20, "UPDATE jobs SET state = 1 WHERE token = 'token {n}'")],
        advice: &[Advice {
            kind: "missing_index",
            about: "jobs",
            ddl: "CREATE INDEX `jobs_token` ON `shop`.`jobs` (`token`) ALGORITHM=INPLACE LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE refs (id int PRIMARY KEY, ref int, note varchar(40));
            INSERT INTO refs SELECT seq, seq * 3, 'note' FROM seq_1_to_30000",
        load: &[(20, "DELETE FROM refs WHERE ref IN ({n}, 7, 8)")],
        advice: &[Advice {
            kind: "missing_index",
            about: "refs",
            ddl: "CREATE INDEX `refs_ref` ON `shop`.`refs` (`ref`) ALGORITHM=INPLACE LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE sums (id int PRIMARY KEY, account int, amount int, note varchar(40));
            INSERT INTO sums SELECT seq, seq % 3000, seq, 'note' FROM seq_1_to_30000",
        load: &[(20, "SELECT count(*), sum(amount) FROM sums WHERE account = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "sums",
            ddl: "CREATE INDEX `sums_account` ON `shop`.`sums` (`account`) ALGORITHM=INPLACE \
                  LOCK=NONE",
        }],
    },
    Case {
        tables:
            "CREATE TABLE phones (id int PRIMARY KEY, phone varchar(20), note varchar(40), KEY \
                 phones_phone (phone));
            INSERT INTO phones SELECT seq, concat('0', seq), 'note' FROM seq_1_to_30000",
        load: &[
            (20, "SELECT id, note FROM phones WHERE phone = 12{n}"),
            (5, "SELECT note FROM phones WHERE phone = '0{n}'"),
        ],
        advice: &[Advice { kind: "unusable_index", about: "phones", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE days (id int PRIMARY KEY, at datetime, note varchar(40));
            INSERT INTO days SELECT seq, '2020-01-01' + INTERVAL seq HOUR, 'note' FROM \
                 seq_1_to_30000",
        load: &[(20, "SELECT id, note FROM days WHERE date_format(at, '%Y%m%d') = 20200200 + {n}")],
        advice: &[Advice {
            kind: "unusable_index",
            about: "days",
            ddl: "CREATE INDEX `days_at` ON `shop`.`days` (`at`) ALGORITHM=INPLACE LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE pages (id int PRIMARY KEY, note varchar(40));
            INSERT INTO pages SELECT seq, 'note' FROM seq_1_to_30000",
        load: &[(20, "SELECT id, note FROM pages ORDER BY id LIMIT 20 OFFSET 250{n}")],
        advice: &[Advice { kind: "large_offset", about: "pages", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE cities (id int PRIMARY KEY, city int, name varchar(40), KEY \
                 cities_city (city), KEY cities_city_name (city, name));
            INSERT INTO cities SELECT seq, seq % 500, concat('name ', seq) FROM seq_1_to_30000",
        load: &[(20, "SELECT name FROM cities WHERE city = {n} ORDER BY name LIMIT 5")],
        advice: &[Advice {
            kind: "redundant_index",
            about: "cities (cities_city)",
            ddl: "ALTER TABLE `shop`.`cities` DROP INDEX `cities_city`, ALGORITHM=INPLACE, \
                  LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE idle (id int PRIMARY KEY, a int, b int, KEY idle_b (b));
            INSERT INTO idle SELECT seq, seq % 5000, seq FROM seq_1_to_30000",
        load: &[(20, "SELECT a FROM idle WHERE id = {n}")],
        advice: &[Advice {
            kind: "unused_index",
            about: "idle (idle_b)",
            ddl: "ALTER TABLE `shop`.`idle` DROP INDEX `idle_b`, ALGORITHM=INPLACE, LOCK=NONE",
        }],
    },
    Case {
        tables: "CREATE TABLE sorted (id int PRIMARY KEY, amount int, note varchar(40));
            INSERT INTO sorted SELECT seq, seq * 7919 % 30011, 'note' FROM seq_1_to_30000",
        load: &[(20, "SELECT amount, note FROM sorted ORDER BY amount")],
        advice: &[Advice { kind: "spill", about: "sorted", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE nameless (at int, note varchar(40), KEY nameless_at (at));
            INSERT INTO nameless SELECT seq % 7, 'note' FROM seq_1_to_5000",
        load: &[(5, "SELECT note FROM nameless WHERE at = 70 + {n}")],
        advice: &[Advice {
            kind: "no_primary_key",
            about: "nameless",
            ddl: "ALTER TABLE `shop`.`nameless` ADD COLUMN id BIGINT UNSIGNED NOT NULL \
                  AUTO_INCREMENT PRIMARY KEY FIRST",
        }],
    },
    Case {
        tables: "CREATE TABLE counted (id int AUTO_INCREMENT PRIMARY KEY, note varchar(9)) \
                 AUTO_INCREMENT = 2000000000;
            INSERT INTO counted (note) VALUES ('one')",
        load: &[(5, "SELECT note FROM counted WHERE id = {n}")],
        advice: &[Advice {
            kind: "exhaustion",
            about: "counted (id)",
            ddl: "ALTER TABLE `shop`.`counted` MODIFY `id` BIGINT NOT NULL AUTO_INCREMENT",
        }],
    },
    Case {
        tables: "CREATE TABLE lists (id int PRIMARY KEY, owner int, note varchar(40), KEY \
                 lists_owner (owner));
            INSERT INTO lists SELECT seq, seq % 300, 'note' FROM seq_1_to_30000",
        load: &[
            (13, "SELECT id FROM lists WHERE owner = {n}"),
            (1300, "SELECT note FROM lists WHERE id = {n}"),
        ],
        advice: &[Advice { kind: "repeated_statement", about: "FROM lists WHERE ID", ddl: "" }],
    },
];

const INNOCENTS: &[Case] = &[Case {
    tables: "CREATE TABLE ok_customers (id int PRIMARY KEY, name varchar(40), mail varchar(40), \
             UNIQUE KEY (mail));
        CREATE TABLE ok_orders (id int PRIMARY KEY, customer int NOT NULL, status varchar(8), \
             amount int, at datetime, KEY ok_orders_customer (customer, at), FOREIGN KEY \
             (customer) REFERENCES ok_customers (id));
        CREATE TABLE ok_small (id int PRIMARY KEY, word varchar(40));
        INSERT INTO ok_customers SELECT seq, concat('Name ', seq), concat('mail ', seq) FROM \
             seq_1_to_8000;
        INSERT INTO ok_orders SELECT seq, 1 + seq % 8000, if(seq % 9 = 0, 'open', 'done'), seq % \
             977, '2026-01-01' + INTERVAL seq MINUTE FROM seq_1_to_30000;
        INSERT INTO ok_small SELECT seq, concat('word ', seq) FROM seq_1_to_300",
    load: &[
        (20, "SELECT * FROM ok_orders WHERE id = {n}"),
        (20, "SELECT id, name FROM ok_customers WHERE mail = 'mail {n}'"),
        (20, "SELECT * FROM ok_orders WHERE customer = {n}"),
        (20, "SELECT * FROM ok_orders WHERE customer = {n} ORDER BY at DESC LIMIT 3"),
        (20, "SELECT count(*) FROM ok_orders"),
        (20, "SELECT status, count(*), sum(amount) FROM ok_orders GROUP BY status"),
        (20, "SELECT sum(amount) FROM ok_orders WHERE status = 'done'"),
        (20, "SELECT count(*) FROM ok_orders WHERE amount > {n}"),
        (20, "SELECT * FROM ok_orders ORDER BY id LIMIT 10"),
        (
            20,
            "SELECT o.id, c.name FROM ok_orders o JOIN ok_customers c ON c.id = o.customer WHERE \
              o.id = {n}",
        ),
        (
            20,
            "SELECT o.id FROM ok_customers c JOIN ok_orders o ON o.customer = c.id WHERE c.mail \
              = 'mail {n}'",
        ),
        (20, "SELECT * FROM ok_orders WHERE id IN ({n}, 100, 200)"),
        (20, "SELECT * FROM ok_small WHERE word LIKE '%{n}%'"),
        (20, "UPDATE ok_orders SET amount = amount + 1 WHERE id = {n}"),
        (20, "INSERT INTO ok_small VALUES (1000 + {n}, 'new') ON DUPLICATE KEY UPDATE word = 'x'"),
        (20, "DELETE FROM ok_small WHERE id = 1000 + {n}"),
        (5, "SELECT DISTINCT status FROM ok_orders"),
        (20, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'ok_small'"),
        (
            20,
            "SELECT id FROM ok_orders WHERE id = {n} UNION ALL SELECT id FROM ok_customers WHERE \
              id = {n}",
        ),
        (20, "SELECT id FROM ok_orders WHERE id >= {n} AND id < {n} + 100"),
        (
            20,
            "SELECT name FROM ok_customers c WHERE id = {n} AND EXISTS (SELECT 1 FROM ok_orders \
              o WHERE o.customer = c.id)",
        ),
        (20, "SELECT 1"),
        (20, "SELECT max(id) FROM ok_orders"),
        (20, "SELECT * FROM ok_orders WHERE customer = {n} AND status = 'open'"),
        (20, "SELECT count(*) FROM ok_orders WHERE customer = {n} AND at > '2026-01-02'"),
    ],
    advice: &[],
}];

#[test]
fn each_planted_fault_is_found_with_its_remedy_and_nothing_else() {
    servers::on_each_mariadb(true, |server, url| {
        let mut client = Client::connect(&server.config()).unwrap();
        client.run("CREATE DATABASE shop; USE shop").unwrap();
        for case in FAULTS.iter().chain(INNOCENTS) {
            client.run(case.tables).unwrap_or_else(|error| panic!("{error}: {}", case.tables));
        }
        let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop'";
        for row in client.query(tables).unwrap().iter() {
            client.query(&format!("ANALYZE TABLE {}", row.get(0).unwrap())).unwrap();
        }
        client.run("TRUNCATE performance_schema.events_statements_summary_by_digest").unwrap();
        client.run("SET SESSION sort_buffer_size = 32768").unwrap();
        for sql in load(FAULTS).chain(load(INNOCENTS)) {
            client.query(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
        }
        let line = ["queries", url, "--json", "--plans", "500", "--statements", "500"];
        let ended = Lab::new().steelbench(&line).expect(0);
        check(&serde_json::from_str(&ended.stdout).unwrap(), FAULTS);
        for (sql, ddl) in missing_indexes(FAULTS) {
            let without = rows_read(&mut client, &sql);
            client.query(ddl).unwrap_or_else(|error| panic!("{error}: {ddl}"));
            reads_less(&sql, without, rows_read(&mut client, &sql));
        }
    });
}

/// The rows that a statement reads from tables and indexes.
fn rows_read(client: &mut Client, sql: &str) -> u64 {
    client.query("FLUSH STATUS").unwrap();
    client.query(sql).unwrap();
    let counters = client.query("SHOW SESSION STATUS LIKE 'Handler_read%'").unwrap();
    counters.iter().map(|row| row.parse::<u64>(1).unwrap()).sum()
}
