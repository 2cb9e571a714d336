//! Remarks on real plans of MariaDB: each rule has a statement that triggers it and one that stays
//! silent.

use inspection::mariadb::PLANS;
use inspection::plans::{Rule, Terms, remarks};
use testing::mariadb_client::Server;

const SETUP: &str = "
    CREATE DATABASE d; USE d;
    CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, x INT, n VARCHAR(40), at DATETIME, y INT,
        KEY (x), KEY (n), KEY (at)) ENGINE = InnoDB;
    CREATE TABLE b (id INT PRIMARY KEY AUTO_INCREMENT, ax INT, bx INT, pad VARCHAR(100),
        KEY (ax)) ENGINE = InnoDB;
    CREATE TABLE c (id INT PRIMARY KEY, z INT NOT NULL) ENGINE = InnoDB;
    INSERT INTO a (x, n, at, y) SELECT seq % 1000, concat('n', seq),
        '2020-01-01' + INTERVAL seq MINUTE, seq FROM seq_1_to_40000;
    INSERT INTO b (ax, bx, pad) SELECT y % 5000, y % 777, repeat('p', 50) FROM a;
    INSERT INTO c SELECT y, y FROM a WHERE y < 3000;
    ANALYZE TABLE a, b, c;";

const CASES: [(Rule, &str, &str); 8] = [
    (
        Rule::ReadForNothing,
        "SELECT count(*) FROM a WHERE y = 5",
        "SELECT count(*) FROM a WHERE y <> 5",
    ),
    (
        Rule::Function,
        "SELECT count(*) FROM a WHERE year(at) = 2020 AND y > 3",
        "SELECT count(*) FROM a WHERE at >= now() - INTERVAL 1 DAY OR y > 3",
    ),
    (
        Rule::LeadingWildcard,
        "SELECT count(*) FROM a WHERE n LIKE '%9' AND y > 3",
        "SELECT count(*) FROM a WHERE n LIKE '9%' OR y > 3",
    ),
    (
        Rule::NullAware,
        "SELECT count(*) FROM a WHERE y NOT IN (SELECT ax FROM b)",
        "SELECT count(*) FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE ax = y)",
    ),
    (
        Rule::IndexBuilt,
        "SELECT count(*) FROM a JOIN (SELECT bx, count(*) n FROM b GROUP BY bx) t ON t.bx = a.y",
        "SELECT count(*) FROM a JOIN b ON b.ax = a.y",
    ),
    (
        Rule::ChosenPerRow,
        "SELECT count(*) FROM b JOIN a ON a.x = b.bx OR a.id = b.ax WHERE b.id < 30",
        "SELECT count(*) FROM b JOIN a ON a.x = b.bx WHERE b.id < 30",
    ),
    (Rule::Warning, "SELECT * FROM b ORDER BY pad, bx, ax, id", "SELECT * FROM b ORDER BY id"),
    (
        Rule::Materialized,
        "SELECT count(*) FROM a JOIN (SELECT bx, count(*) n FROM b GROUP BY bx) t ON t.bx = a.y",
        "SELECT bx, count(*) n FROM b GROUP BY bx",
    ),
];

#[test]
fn each_rule_is_triggered_and_stays_silent_by_a_real_plan() {
    let Some(server) = Server::start(&["--sort-buffer-size=32K"]) else { return };
    let mut client = server.connect();
    for statement in SETUP.split(';').filter(|statement| !statement.trim().is_empty()) {
        client.query(statement).unwrap();
    }
    let mut found = |statement: &str| {
        let text = client.cell(&format!("ANALYZE FORMAT=JSON {statement}")).unwrap().unwrap();
        let statements = (PLANS.read)(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let plan = statements[0].plan.clone().unwrap();
        assert_eq!(plan.unknown, Vec::<String>::new(), "{text}");
        (remarks(&plan, &Terms::NONE), text)
    };
    for (rule, triggers, silent) in CASES {
        let (remarks, text) = found(triggers);
        assert!(
            remarks.iter().any(|remark| remark.rule == rule),
            "{rule:?} is missing: {remarks:#?}\n{text}"
        );
        let (remarks, text) = found(silent);
        assert!(remarks.iter().all(|remark| remark.rule != rule), "{rule:?}: {remarks:#?}\n{text}");
    }
}
