//! Faults of SQLite.

use super::{Advice, Case, check, load, missing_indexes, reads_less};
use crate::common::Lab;
use rusqlite::{Connection, StatementStatus};

const ROWS: &str = "CREATE TABLE numbers (n INTEGER PRIMARY KEY);
    WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 30000)
    INSERT INTO numbers SELECT n FROM i;";

const FAULTS: &[Case] = &[
    Case {
        tables: "CREATE TABLE eq (id INTEGER PRIMARY KEY, customer INT, note TEXT);
            INSERT INTO eq SELECT n, n % 5000, 'note of ' || n FROM numbers",
        load: &[(2, "SELECT id, note FROM eq WHERE customer = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "eq",
            ddl: "CREATE INDEX \"eq_customer\" ON \"eq\" (\"customer\")",
        }],
    },
    Case {
        tables: "CREATE TABLE since (id INTEGER PRIMARY KEY, at INT, kind INT, note TEXT);
            INSERT INTO since SELECT n, n, n % 50, 'note of ' || n FROM numbers",
        load: &[(2, "SELECT note FROM since WHERE at > 29000 AND kind = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "since",
            ddl: "CREATE INDEX \"since_kind_at\" ON \"since\" (\"kind\", \"at\")",
        }],
    },
    Case {
        tables: "CREATE TABLE latest (id INTEGER PRIMARY KEY, customer INT, at INT, note TEXT);
            INSERT INTO latest SELECT n, n % 5000, n, 'note of ' || n FROM numbers",
        load: &[(2, "SELECT * FROM latest WHERE customer = {n} ORDER BY at DESC LIMIT 3")],
        advice: &[Advice {
            kind: "missing_index",
            about: "latest",
            ddl: "CREATE INDEX \"latest_customer_at\" ON \"latest\" (\"customer\", \"at\")",
        }],
    },
    Case {
        tables: "CREATE TABLE best (id INTEGER PRIMARY KEY, score INT, note TEXT);
            INSERT INTO best SELECT n, n * 7919 % 30011, 'note of ' || n FROM numbers",
        load: &[(2, "SELECT id FROM best ORDER BY score DESC LIMIT 1{n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "best",
            ddl: "CREATE INDEX \"best_score\" ON \"best\" (\"score\")",
        }],
    },
    Case {
        tables: "CREATE TABLE people (id INTEGER PRIMARY KEY, mail TEXT);
            INSERT INTO people SELECT n, 'User' || n || '@example.org' FROM numbers",
        load: &[(2, "SELECT id FROM people WHERE lower(mail) = 'user{n}@example.org'")],
        advice: &[Advice {
            kind: "missing_index",
            about: "people",
            ddl: "CREATE INDEX \"people_lower_mail\" ON \"people\" ((lower(mail)))",
        }],
    },
    Case {
        tables: "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT);
            INSERT INTO words SELECT n, 'word ' || n || ' of many' FROM numbers",
        load: &[(2, "SELECT id FROM words WHERE word LIKE 'word 77{n}%'")],
        advice: &[Advice {
            kind: "missing_index",
            about: "words",
            ddl: "CREATE INDEX \"words_word\" ON \"words\" (\"word\" COLLATE NOCASE)",
        }],
    },
    Case {
        tables: "CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT);
            INSERT INTO texts SELECT n, 'a body of ' || n || ' words' FROM numbers",
        load: &[(2, "SELECT id FROM texts WHERE body LIKE '%of 77{n} %'")],
        advice: &[Advice { kind: "infix_search", about: "texts", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE days (id INTEGER PRIMARY KEY, at TEXT, note TEXT);
            INSERT INTO days SELECT n, datetime('2020-01-01', n || ' hours'), 'note' FROM numbers",
        load: &[(2, "SELECT note FROM days WHERE date(at) = '2020-02-0{n}'")],
        advice: &[Advice {
            kind: "unusable_index",
            about: "days",
            ddl: "CREATE INDEX \"days_at\" ON \"days\" (\"at\")",
        }],
    },
    Case {
        tables: "CREATE TABLE jobs (id INTEGER PRIMARY KEY, token TEXT, state INT);
            INSERT INTO jobs SELECT n, 'token ' || n, 0 FROM numbers",
        load: &[(1, "SELECT state FROM jobs WHERE token IN ('token 5', 'token 6')")],
        advice: &[Advice {
            kind: "missing_index",
            about: "jobs",
            ddl: "CREATE INDEX \"jobs_token\" ON \"jobs\" (\"token\")",
        }],
    },
    Case {
        tables: "CREATE TABLE sums (id INTEGER PRIMARY KEY, account INT, amount INT);
            INSERT INTO sums SELECT n, n % 3000, n FROM numbers",
        load: &[(2, "SELECT sum(amount) FROM sums WHERE account = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "sums",
            ddl: "CREATE INDEX \"sums_account\" ON \"sums\" (\"account\")",
        }],
    },
    Case {
        tables: "CREATE TABLE carts (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE items (id INTEGER PRIMARY KEY, cart INT REFERENCES carts, note TEXT);
            INSERT INTO carts SELECT n, 'code ' || n FROM numbers WHERE n <= 6000;
            INSERT INTO items SELECT n, 1 + n % 6000, 'note' FROM numbers",
        load: &[(1, "SELECT code FROM carts WHERE id = {n}")],
        advice: &[Advice {
            kind: "foreign_key_without_index",
            about: "items",
            ddl: "CREATE INDEX \"items_cart\" ON \"items\" (\"cart\")",
        }],
    },
    Case {
        tables: "CREATE TABLE cities (id INTEGER PRIMARY KEY, city INT, name TEXT);
            INSERT INTO cities SELECT n, n % 500, 'name ' || n FROM numbers;
            CREATE INDEX cities_city ON cities (city);
            CREATE INDEX cities_city_name ON cities (city, name)",
        load: &[(2, "SELECT name FROM cities WHERE city = {n} ORDER BY name LIMIT 5")],
        advice: &[Advice {
            kind: "redundant_index",
            about: "cities (cities_city)",
            ddl: "DROP INDEX \"cities_city\"",
        }],
    },
    Case {
        tables: "CREATE TABLE idle (id INTEGER PRIMARY KEY, a INT, b TEXT);
            INSERT INTO idle SELECT n, n, 'a text that takes a while to read ' || n FROM numbers;
            CREATE INDEX idle_b ON idle (b)",
        load: &[(1, "SELECT a FROM idle WHERE id = {n}")],
        advice: &[Advice {
            kind: "unused_index",
            about: "idle (idle_b)",
            ddl: "DROP INDEX \"idle_b\"",
        }],
    },
];

const INNOCENTS: &[Case] = &[Case {
    tables: "CREATE TABLE ok (id INTEGER PRIMARY KEY, customer INT, status INT, at INT, note TEXT);
        INSERT INTO ok SELECT n, n % 5000, n % 3, n, 'note' FROM numbers;
        CREATE INDEX ok_customer ON ok (customer, at)",
    load: &[
        (1, "SELECT note FROM ok WHERE id = 5"),
        (1, "SELECT note FROM ok WHERE customer = 5"),
        (1, "SELECT note FROM ok WHERE customer = 5 ORDER BY at DESC LIMIT 2"),
        (1, "SELECT count(*) FROM ok"),
        (1, "SELECT status, count(*) FROM ok GROUP BY status"),
        (1, "SELECT count(*) FROM ok WHERE status = 1"),
        (1, "SELECT * FROM ok ORDER BY id LIMIT 10"),
        (1, "SELECT max(id) FROM ok"),
        (1, "SELECT a.id FROM ok a JOIN ok b ON b.id = a.id WHERE a.customer = 7"),
        (1, "SELECT id FROM ok WHERE id IN (1, 2, 3)"),
    ],
    advice: &[],
}];

#[test]
fn each_planted_fault_is_found_with_its_remedy_and_nothing_else() {
    let lab = Lab::new();
    let database = Connection::open(lab.path("shop.sqlite")).unwrap();
    database.execute_batch(ROWS).unwrap();
    for case in FAULTS.iter().chain(INNOCENTS) {
        database.execute_batch(case.tables).unwrap();
    }
    drop(database);
    let statements: Vec<String> = load(FAULTS).chain(load(INNOCENTS)).collect();
    lab.write("shop.sql", &(statements.join(";\n") + ";\n"));
    let line = ["queries", "shop.sqlite", "--sql", "shop.sql", "--json", "--plans", "500"];
    let ended = lab.steelbench(&line).expect(0);
    check(&serde_json::from_str(&ended.stdout).unwrap(), FAULTS);
    let database = Connection::open(lab.path("shop.sqlite")).unwrap();
    for (sql, ddl) in missing_indexes(FAULTS) {
        let without = steps(&database, &sql);
        database.execute_batch(ddl).unwrap();
        reads_less(&sql, without, steps(&database, &sql));
    }
}

/// The steps of SQLite's virtual machine for a statement.
fn steps(database: &Connection, sql: &str) -> u64 {
    let mut statement = database.prepare(sql).unwrap();
    let mut rows = statement.raw_query();
    while rows.next().unwrap().is_some() {}
    drop(rows);
    statement.get_status(StatementStatus::VmStep) as u64
}
