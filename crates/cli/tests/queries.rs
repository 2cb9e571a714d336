//! `steelbench queries` on real servers of PostgreSQL with planted faults.

use crate::captures;
use crate::servers::private::{in_a_session, on_each_server};
use crate::workbooks;
use testing::faults;
use testing::installed as servers;

use crate::common::{Exit, Lab, on_screen};
use observations::{CountedStatement, QueryInterval};
use postgres::server::PrivateServer;
use serde_json::Value;
use store::Store;

const COUNTED: [(&str, &str); 2] =
    [("shared_preload_libraries", "pg_stat_statements"), ("autovacuum", "off")];

/// The faults, a utility statement, and one of a table that is gone.
fn plant(cluster: &PrivateServer) {
    in_a_session(cluster, |client| client.batch(faults::TABLES).unwrap());
    in_a_session(cluster, |client| client.batch("CREATE EXTENSION pg_stat_statements").unwrap());
    in_a_session(cluster, |client| client.batch("VACUUM ANALYZE customers").unwrap());
    in_a_session(cluster, |client| client.batch("VACUUM ANALYZE orders").unwrap());
    in_a_session(cluster, |client| client.batch("SELECT pg_stat_statements_reset()").unwrap());
    in_a_session(cluster, |client| {
        for sql in faults::load().lines() {
            client.query(sql, &[]).unwrap();
        }
        client.batch("ALTER ROLE postgres PASSWORD 'S3cret-utility'").unwrap();
        client
            .batch("CREATE TEMPORARY TABLE gone (a int); SELECT * FROM gone; DROP TABLE gone")
            .unwrap();
    });
}

fn json(ended: &Exit) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

/// The number of the statement whose text begins so, from 1.
fn number(found: &Value, text: &str) -> usize {
    let statements = found["statements"].as_array().unwrap();
    let at = statements
        .iter()
        .position(|statement| statement["text"].as_str().unwrap().starts_with(text));
    at.unwrap_or_else(|| panic!("{text}: {statements:#?}")) + 1
}

/// Kinds and subjects, but for settings, which are those of the test's server.
fn advice(found: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = found["advice"].as_array().unwrap().iter().filter(|array| array["kind"] != "setting");
    let mut found: Vec<_> =
        all.map(|advice| (text(&advice["kind"]), text(&advice["subject"]))).collect();
    found.sort();
    found
}

/// The first advice of a kind.
fn of_kind(found: &Value, kind: &str) -> Value {
    let all = found["advice"].as_array().unwrap();
    let advice = all.iter().find(|advice| advice["kind"] == kind);
    advice.unwrap_or_else(|| panic!("{kind}: {all:#?}")).clone()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn planted_faults_are_found_and_nothing_else_is_claimed() {
    on_each_server(&COUNTED, |cluster, url| {
        plant(cluster);
        let lab = Lab::new();
        let ended = lab
            .steelbench(&["queries", url, "--json", "--html", "q.html", "--workbook", "q.xlsx"])
            .expect(0);
        let found = json(&ended);
        let statement = |text: &str| format!("statement {}", number(&found, text));
        let expected = [
            ("missing_index", "orders".to_owned()),
            ("spill", statement("SELECT count(*) FROM (SELECT")),
            ("repeated_statement", statement("SELECT name FROM customers WHERE id")),
            ("redundant_index", "customers (customers_city_idx)".to_owned()),
            ("unused_index", "orders (orders_note_idx)".to_owned()),
            ("estimate_off", statement("SELECT id FROM customers WHERE city")),
        ];
        let mut expected: Vec<(String, String)> =
            expected.map(|(kind, subject)| (kind.to_owned(), subject)).into();
        expected.sort();
        assert_eq!(advice(&found), expected, "{:#?}", found["advice"]);
        let ddl = |kind| of_kind(&found, kind)["ddl"].clone();
        assert_eq!(
            ddl("missing_index"),
            "CREATE INDEX CONCURRENTLY ON public.orders (customer_id)"
        );
        assert_eq!(ddl("unused_index"), "DROP INDEX CONCURRENTLY public.orders_note_idx");

        let lookup =
            &found["statements"][number(&found, "SELECT name FROM customers WHERE id") - 1];
        assert_eq!(
            (&lookup["counters"]["calls"], &lookup["counters"]["rows"]),
            (&2000.into(), &2000.into())
        );
        assert_eq!(lookup["plans"][0]["origin"], "generic");
        let scan = &lookup["plans"][0]["plan"]["root"];
        assert_eq!(scan["objects"][0]["index"], "customers_pkey");
        // Each index with the statements that use it.
        let tables = found["tables"].as_array().unwrap();
        let users = |name: &str| -> Vec<usize> {
            let is_it = |value: &&Value| {
                let table = &tables[value["table"].as_u64().unwrap() as usize];
                table["indexes"][value["index"].as_u64().unwrap() as usize]["name"] == name
            };
            let uses = found["uses"].as_array().unwrap().iter().filter(is_it);
            uses.map(|usage| usage["statement"].as_u64().unwrap() as usize + 1).collect()
        };
        let lookups = number(&found, "SELECT name FROM customers WHERE id");
        assert!(users("customers_pkey").contains(&lookups), "{:#?}", found["uses"]);
        assert!(users("orders_note_idx").is_empty());
        // A statement without a plan says why, and Steelbench's own statements are not listed.
        let temporary = &found["statements"][number(&found, "SELECT * FROM gone") - 1];
        assert!(
            temporary["not_explained"].as_str().unwrap().contains("it was dropped, is temporary"),
            "{temporary}"
        );
        let utility = &found["statements"][number(&found, "ALTER ROLE postgres PASSWORD") - 1];
        assert_eq!(utility["not_explained"], "utility statement, no plan");
        let texts: Vec<&str> = found["statements"]
            .as_array()
            .unwrap()
            .iter()
            .map(|array| array["text"].as_str().unwrap())
            .collect();
        assert!(
            texts.iter().all(|text| !text.contains("pg_catalog") && !text.contains("steelbench")),
            "{texts:#?}"
        );
        for form in [&ended.stdout, &lab.read("q.html")] {
            assert!(!form.contains("S3cret"), "{form}");
        }
        assert!(lab.read("q.html").contains("re-explained for any values"));
        workbook(&lab, &found);
        terminal(&lab, url);
        hypothetical(cluster, &lab, url);
        captured(cluster, &lab, url);
        // What is advised can be done.
        let mut client = cluster.connect().unwrap();
        for array in found["advice"].as_array().unwrap() {
            if let Some(ddl) = array["ddl"].as_str() {
                client.batch(ddl).unwrap();
            }
        }
    });
}

/// A capture says what the server says, and two of them what ran between them.
fn captured(cluster: &PrivateServer, lab: &Lab, url: &str) {
    captures::say_the_same(lab, url, &["S3cret", "FROM customers", "ALTER ROLE postgres"]);
    captures::tell_of_the_time_between(lab, url, "SELECT zip FROM customers", 7, || {
        in_a_session(cluster, |client| {
            for id in 1..=7 {
                drop(client.query(&format!("SELECT zip FROM customers WHERE id = {id}"), &[]));
            }
        });
    });
}

fn terminal(lab: &Lab, url: &str) {
    let screen = on_screen(lab, &["queries", url]);
    assert!(
        screen.contains("missing index: orders") && screen.contains("CREATE INDEX"),
        "{screen}"
    );
    let full = ["queries", url, "--full"];
    let ended: Exit = lab.command(&full).env("COLUMNS", "80").output().unwrap().into();
    let ended = ended
        .expect(0)
        .shows("missing index: orders")
        .shows("Statements by time")
        .shows("Indexes by size");
    let wide: Vec<&str> = ended.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

/// With hypopg the planner says what it expects of the index that is missing, and none is made.
fn hypothetical(cluster: &PrivateServer, lab: &Lab, url: &str) {
    let mut client = cluster.connect().unwrap();
    if client.batch("CREATE EXTENSION hypopg").is_err() {
        println!("SKIPPED, cannot be here: hypopg for this version of PostgreSQL");
        return;
    }
    let found = json(&lab.steelbench(&["queries", url, "--json"]).expect(0));
    let cost = &of_kind(&found, "missing_index")["hypothetical"];
    let (without, with) =
        (cost["cost_without"].as_f64().unwrap(), cost["cost_with"].as_f64().unwrap());
    assert!(with < without / 10.0, "{cost}");
    let there = "SELECT count(*) FROM pg_index WHERE indrelid = 'orders'::regclass";
    assert_eq!(servers::ask(cluster, there), "2");
}

/// Numbers are numbers, and a sheet has as many rows as there are of its kind.
fn workbook(lab: &Lab, found: &Value) {
    let Some(sheets) = workbooks::sheets(lab, "q.xlsx") else { return };
    let rows = |name: &str| sheets[name].as_array().unwrap_or_else(|| panic!("{name}: {sheets}"));
    let statements = found["statements"].as_array().unwrap();
    assert_eq!(rows("Statements").len(), statements.len());
    for (row, statement) in rows("Statements").iter().zip(statements) {
        assert_eq!(row["calls"], statement["counters"]["calls"]);
        let ms = statement["counters"]["time_ns"].as_f64().unwrap() / 1e6;
        assert!((row["time (ms)"].as_f64().unwrap() - ms).abs() < 1e-6 * ms, "{row}");
    }
    assert_eq!(rows("Advice").len(), found["advice"].as_array().unwrap().len());
    assert_eq!(rows("Index use").len(), found["uses"].as_array().unwrap().len());
    assert!(!rows("Plans").is_empty() && rows("Operators").len() >= rows("Plans").len());
    let sizes = rows("Indexes").iter().map(|row| row["size (B)"].as_u64().unwrap());
    assert!(sizes.min() > Some(0));
}

#[test]
fn an_interval_counts_what_ran_in_it() {
    on_each_server(&COUNTED, |cluster, url| {
        in_a_session(cluster, |client| {
            client.batch("CREATE EXTENSION pg_stat_statements; CREATE TABLE t (a int)").unwrap();
            client.batch("INSERT INTO t SELECT 1 FROM generate_series(1, 10)").unwrap();
        });
        let mut client = cluster.connect().unwrap();
        let (end, ended) = std::sync::mpsc::channel();
        let load = std::thread::spawn(move || {
            let mut runs = 0_u64;
            while ended.try_recv().is_err() {
                client.query("SELECT a FROM t WHERE a = 1", &[]).unwrap();
                runs += 1;
            }
            runs
        });
        let found =
            json(&Lab::new().steelbench(&["queries", url, "--seconds", "1", "--json"]).expect(0));
        end.send(()).unwrap();
        let all = load.join().unwrap();
        assert_eq!(found["span"]["is_interval"], true);
        let statements = found["statements"].as_array().unwrap();
        assert_eq!(statements.len(), 1, "{statements:#?}");
        let counters = &statements[0]["counters"];
        let calls = counters["calls"].as_u64().unwrap();
        assert!(calls > 0 && calls < all, "{calls} of {all}");
        assert_eq!(counters["rows"].as_u64().unwrap(), 10 * calls);
        assert_eq!(statements[0]["spread"]["max_ms"], Value::Null);
    });
}

#[test]
fn without_the_extension_or_rights_it_says_so_and_shows_the_rest() {
    on_each_server(&[], |cluster, url| {
        in_a_session(cluster, |client| {
            client
                .batch(
                    "CREATE ROLE reader LOGIN; CREATE SCHEMA \"Odd \"\"S\"; CREATE TABLE \"Odd \
                     \"\"S\".\"T; --\" (\"My Col\" int, \"select\" int); CREATE INDEX \"I 1\" ON \
                     \"Odd \"\"S\".\"T; --\" (\"My Col\") INCLUDE (\"select\"); CREATE INDEX \"I \
                     2\" ON \"Odd \"\"S\".\"T; --\" (\"My Col\", \"select\" DESC)",
                )
                .unwrap();
        });
        let lab = Lab::new();
        let ended = lab.steelbench(&["queries", url, "--json"]).expect(0);
        let found = json(&ended);
        assert_eq!(found["statements"], Value::Array(Vec::new()));
        let why = found["unread"][0]["why"].as_str().unwrap();
        assert!(why.contains("CREATE EXTENSION pg_stat_statements"), "{why}");
        assert_eq!(
            advice(&found),
            [("redundant_index".to_owned(), "Odd \"S.T; -- (I 1)".to_owned())]
        );
        let ddl = of_kind(&found, "redundant_index")["ddl"].clone();
        assert_eq!(ddl, "DROP INDEX CONCURRENTLY \"Odd \"\"S\".\"I 1\"");
        // Installed, but not loaded.
        in_a_session(cluster, |client| {
            client.batch("CREATE EXTENSION pg_stat_statements").unwrap();
        });
        let ended = lab.steelbench(&["queries", url, "--json"]).expect(0);
        assert!(
            ended.stdout.contains("not loaded; add it to shared_preload_libraries"),
            "{ended:?}"
        );
    });
    on_each_server(&COUNTED, |cluster, url| {
        in_a_session(cluster, |client| {
            client
                .batch(
                    "CREATE EXTENSION pg_stat_statements; CREATE ROLE reader LOGIN; CREATE TABLE \
                     t (a int)",
                )
                .unwrap();
            client.query("SELECT a FROM t WHERE a = 4711", &[]).unwrap();
        });
        let user = servers::ask(cluster, "SELECT session_user");
        let reader = url.replace(&format!("user={user}"), "user=reader");
        let found = json(&Lab::new().steelbench(&["queries", &reader, "--json"]).expect(0));
        let unread = found["unread"].to_string();
        assert!(unread.contains("not a member of pg_read_all_stats"), "{unread}");
        cluster.connect().unwrap().batch("GRANT pg_read_all_stats TO reader").unwrap();
        let found = json(&Lab::new().steelbench(&["queries", &reader, "--json"]).expect(0));
        let statement = &found["statements"][number(&found, "SELECT a FROM t") - 1];
        let why = statement["not_explained"].as_str().unwrap();
        assert!(why.contains("permission denied for table t"), "{why}");
        Lab::new()
            .steelbench(&["queries", &reader])
            .expect(0)
            .shows("This role may not explain 1 statement")
            .shows("GRANT pg_read_all_data TO ROLE");
        // This session was recorded, by the server's own account, and is left out.
        let recorded =
            "SELECT count(*) > 5 FROM pg_stat_statements WHERE query LIKE '%steelbench_queries%'";
        assert_eq!(servers::ask(cluster, recorded), "t");
        assert!(!found["statements"].to_string().contains("steelbench"), "{found:#}");
    });
    let lab = Lab::new();
    lab.steelbench(&["queries", "mongodb://x/"]).expect(2).says("unknown URL scheme mongodb://");
    lab.write("log", "nothing");
    lab.steelbench(&["queries", "--auto-explain", "log"]).expect(2).says("log: ");
}

/// The values of a log are those of a script, with which an index is tried: the statement that it
/// is for uses it.
fn a_trial_of_the_log(lab: &Lab, url: &str) {
    lab.write("faults.sql", faults::TABLES);
    let line = [
        "queries",
        "try",
        "--auto-explain",
        "server.log",
        "--sql",
        "faults.sql",
        "--test-server",
        url,
        "--index",
        "CREATE INDEX customers_name ON customers (name)",
        "-T",
        "0.2",
        "--warmup",
        "0",
        "--blocks",
        "2",
    ];
    lab.steelbench(&line).expect(0);
    let found = lab.json(&["show", "try"]).remove(0);
    let of = |part: &str, name: &str, text: &str| {
        let all = found[part].as_array().unwrap();
        let entry = all.iter().find(|entry| entry[name].as_str().unwrap().starts_with(text));
        entry.unwrap_or_else(|| panic!("{text}: {all:#?}")).clone()
    };
    for text in ["SELECT zip FROM customers WHERE name", "SELECT id FROM customers WHERE city"] {
        let gain = of("statement_gains", "text", text);
        assert!(gain["gain"]["value"].as_f64().unwrap() > 0.0, "{gain:#}");
    }
    let plans = of("plans", "statement", "SELECT zip FROM customers WHERE name")["plans"].clone();
    let [without, with] = [0, 1].map(|at| plans[at]["operators"].to_string());
    assert!(!without.contains("customers_name") && with.contains("customers_name"), "{plans:#}");
    let script = lab.read("try.statements.sql");
    assert!(
        script.contains("SELECT zip FROM customers WHERE name = 'it''s S3cret';\n"),
        "{script}"
    );
    assert!(script.contains("WHERE city = 7 AND zip = 707;\n"), "{script}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn plans_of_the_log_tell_what_ran() {
    on_each_server(&COUNTED, |cluster, url| {
        plant(cluster);
        in_a_session(cluster, |client| {
            client
                .batch(
                    "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET \
                     auto_explain.log_analyze = on; SET auto_explain.log_format = json; SET \
                     work_mem = '64kB'",
                )
                .unwrap();
            client.query("SELECT id FROM customers WHERE city = 7 AND zip = 707", &[]).unwrap();
            client
                .query(
                    "SELECT count(*) FROM (SELECT * FROM orders ORDER BY amount OFFSET 0) s",
                    &[],
                )
                .unwrap();
            // Before 16 auto_explain does not write values, this line does.
            client.batch("SET log_min_duration_statement = 0").unwrap();
            client
                .query("SELECT zip FROM customers WHERE name = $1", &[Some("it's S3cret")])
                .unwrap();
        });
        let lab = Lab::new();
        // A plan that is cut off does not keep the others from being read.
        let cut = "2026-11-22 18:56:28 UTC [1] LOG:  duration: 1.4 ms  plan:\n\t{\n\t  \"Query \
                   Text\": \"select 1\",\n\t  \"Plan\": {\n";
        lab.write("server.log", &format!("{cut}{}{cut}", cluster.log_since(0)));
        lab.steelbench(&["plan", "server.log"])
            .expect(1)
            .says("server.log: line 1: the JSON of EXPLAIN is damaged or cut off");
        let ended =
            lab.steelbench(&["queries", url, "--auto-explain", "server.log", "--json"]).expect(0);
        let found = json(&ended);
        assert!(!ended.stdout.contains("= 707"), "a constant of the log is shown");
        let of = |text: &str| {
            let statement = &found["statements"][number(&found, text) - 1];
            let logged = statement["plans"]
                .as_array()
                .unwrap()
                .iter()
                .find(|plan| plan["origin"] == "logged");
            logged.unwrap_or_else(|| panic!("{statement:#}")).clone()
        };
        assert_eq!(
            of("SELECT id FROM customers WHERE city")["plan"]["root"]["rows"]["actual"],
            1000.0
        );
        // The values of the log are those to explain with, too.
        let plans = &found["statements"][number(&found, "SELECT id FROM customers WHERE city") - 1]
            ["plans"];
        let origins: Vec<&str> =
            plans.as_array().unwrap().iter().map(|plan| plan["origin"].as_str().unwrap()).collect();
        assert_eq!(origins, ["generic", "sample", "logged"]);
        let prepared = &found["statements"]
            [number(&found, "SELECT zip FROM customers WHERE name") - 1]["plans"];
        assert_eq!(prepared[1]["origin"], "sample", "{prepared:#}");
        assert!(!ended.stdout.contains("S3cret"), "{ended:?}");
        assert!(
            found["notes"]
                .to_string()
                .contains("server.log, line 1: the JSON of EXPLAIN is damaged"),
            "{}",
            found["notes"]
        );
        a_trial_of_the_log(&lab, url);
        let evidence = |kind: &str| {
            let array = found["advice"]
                .as_array()
                .unwrap()
                .iter()
                .find(|array| array["kind"] == kind)
                .unwrap();
            (
                array["evidence"].as_str().unwrap().to_owned(),
                array["certainty"].as_str().unwrap().to_owned(),
            )
        };
        let (estimate, certainty) = evidence("estimate_off");
        assert!(
            estimate.contains("In a logged run") && estimate.contains("1000 came"),
            "{estimate}"
        );
        assert_eq!(certainty, "counted");
        assert!(evidence("spill").0.contains("Sort ("), "{}", evidence("spill").0);
    });
}

/// A recording has the constants that were wanted when it was made; a log has all.
#[test]
fn a_recording_beside_the_log() {
    let lab = Lab::new();
    let statement = CountedStatement {
        text: "SELECT id FROM customers WHERE city = 7 AND zip = $1".into(),
        ..CountedStatement::default()
    };
    let interval = QueryInterval {
        engine: "postgres".into(),
        to_ms: 1_000,
        statements: vec![statement],
        ..QueryInterval::default()
    };
    let mut store = Store::create_or_open(lab.path("watched.steelbench")).unwrap();
    store.record_queries(&interval).unwrap();
    lab.write(
        "server.log",
        "x LOG:  duration: 1.5 ms  plan:\n\tQuery Text: SELECT id FROM customers WHERE city = 7 \
         AND zip = 707\n\tSeq Scan on customers  (cost=0.00..1.00 rows=1 width=4)\n\t  Filter: \
         ((city = 7) AND (zip = 707))\n",
    );
    let shown = |more: &[&str]| {
        let line = [&["queries", "watched.steelbench", "--json"], more].concat();
        lab.steelbench(&line).expect(0).stdout
    };
    let with_log = shown(&["--auto-explain", "server.log"]);
    assert!(with_log.contains("\"logged\"") && !with_log.contains("707"), "{with_log}");
    assert!(shown(&["--auto-explain", "server.log", "--literals"]).contains("zip = 707"));
    assert!(shown(&[]).contains("city = 7"));
}

#[test]
fn a_statement_that_cannot_be_explained_says_why() {
    on_each_server(&COUNTED, |cluster, url| {
        let nested = |levels: usize| {
            (0..levels).fold("SELECT a FROM t".to_owned(), |inner, _| {
                format!("SELECT * FROM ({inner} LIMIT 9) s")
            })
        };
        let columns: Vec<String> =
            (0..300).map(|at| format!("a AS column_with_a_long_name_number_{at}")).collect();
        in_a_session(cluster, |client| {
            client.batch("CREATE EXTENSION pg_stat_statements; CREATE TABLE t (a int)").unwrap();
            for sql in [&nested(50), &nested(70), &format!("SELECT {} FROM t", columns.join(", "))]
            {
                client.query(sql, &[]).unwrap();
            }
            client
                .batch("SELECT date '2026-01-01' FROM t; CREATE ROLE secret PASSWORD 'S3cret'")
                .unwrap();
        });
        let lab = Lab::new();
        let why = |found: &Value, is_it: &dyn Fn(&str) -> bool| {
            let all = found["statements"].as_array().unwrap();
            let statement = all
                .iter()
                .find(|statement| is_it(statement["text"].as_str().unwrap()))
                .unwrap_or_else(|| panic!("{all:#?}"));
            statement["not_explained"].as_str().unwrap_or_default().to_owned()
        };
        let levels = |text: &str| text.matches("LIMIT").count();
        let found = json(&lab.steelbench(&["queries", url, "--json"]).expect(0));
        assert!(
            why(&found, &|text| levels(text) == 70).contains("nested deeper than 64 levels"),
            "{found:#}"
        );
        assert_eq!(why(&found, &|text| levels(text) == 50), "");
        assert!(
            why(&found, &|text| text.contains("long_name")).contains("first 10000 characters"),
            "{found:#}"
        );
        assert_eq!(why(&found, &|text| text.contains("date")), "", "{found:#}");
        lab.steelbench(&["capture", url, "-o", "c.json", "--seconds", "0.1", "--statements"])
            .expect(0);
        let captured = json(&lab.steelbench(&["queries", "c.json", "--json"]).expect(0));
        assert!(
            why(&captured, &|text| levels(text) == 50).contains("more than 40 levels"),
            "{captured:#}"
        );
        assert_eq!(
            captured["statements"].as_array().unwrap().len(),
            found["statements"].as_array().unwrap().len()
        );
        assert!(!lab.read("c.json").contains("S3cret"));
    });
}
