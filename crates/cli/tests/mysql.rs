//! MySQL on real servers: what differs there from MariaDB. What does not is tested with MariaDB
//! (`mariadb`, and the contract of engines).

use crate::common::{Exit, Lab, end};
use crate::screen::Screen;
use crate::servers;
use crate::servers::lab;
use crate::servers::mariadb::{Server, with_blocked_sessions};
use crate::servers::mariadb_load::running_load;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The server, which one test at a time has.
fn server() -> Option<(&'static Server, MutexGuard<'static, ()>)> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Some((Server::shared_mysql()?, turn))
}

fn experiment(server: &Server, target: &str, workload: &str, more: &str) -> Lab {
    lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nurl = \
         \"{}\"\n{target}\n[workload]\n{workload}\nconnections = 4\n[repeats]\nblocks = 1\n{more}",
        server.url("root").replace("mariadb://", "mysql://")
    ))
}

fn json(ended: &Exit) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Text in which lines are not wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "lane all: versions of mariadb"]
fn every_probe_runs_and_the_sessions_time_adds_up() {
    let Some((server, _turn)) = server() else { return };
    let methods = "[factors]\n\"workload.method\" = [\"statements\", \"pipelined\", \"copy\", \
                   \"procedure\"]\n";
    let insert = "probe = \"insert\"\nrows = \"8k\"\nrows_per_transaction = 10";
    let scripts =
        "[factors]\n\"workload.builtin\" = [\"tpcb-like\", \"select-only\", \"oltp_read_write\"]\n";
    for (target, workload, factors, trials) in [
        ("data_files = 2\nfinal_checkpoint = true", insert, methods, 4),
        ("compression = \"compressed-8k\"", insert, "", 1),
        ("", "probe = \"script\"\nscale = 1\nduration = \"1 s\"\nmax_tries = 100", scripts, 3),
        ("", "probe = \"scan\"\nrows = \"20k\"\nscans = 4", "", 1),
        ("", "probe = \"lookup\"\nrows = \"20k\"\nduration = \"500 ms\"", "", 1),
        ("", "probe = \"update\"\nrows = \"20k\"\nduration = \"500 ms\"", "", 1),
    ] {
        let lab = experiment(server, target, workload, factors);
        lab.run(0);
        assert_eq!(lab.rows("t", "SELECT status FROM trials"), vec!["done"; trials], "{workload}");
    }
    // With all instruments, sessions that commit: what the server times, what is sampled, and the
    // kernel's figures.
    server.connect().run(INSTRUMENTS).unwrap();
    let update = "probe = \"script\"\nbuiltin = \"simple-update\"\nscale = 1\nduration = \"3 s\"";
    let lab = experiment(server, "", update, "");
    lab.run(0);
    let parts = "SELECT round(sum(resource_s + signal_s), 2) FROM waits WHERE wait_type LIKE ";
    let seconds =
        |like: &str| lab.rows("t", &format!("{parts}'{like}'"))[0].parse::<f64>().unwrap_or(0.0);
    let rest = "SELECT (session_s - cpu_s - (SELECT sum(resource_s + signal_s) FROM waits)) / \
                session_s FROM trials";
    let unaccounted: f64 = lab.rows("t", rest)[0].parse().unwrap();
    assert!(unaccounted.abs() < 0.06, "{unaccounted}: {:?}", lab.rows("t", "SELECT * FROM waits"));
    let environment = flat(&lab.steelbench(&["show", "t", "--full"]).expect(0).stdout);
    assert!(environment.contains("(MySQL), Steelbench"), "{environment}");
    assert!(seconds("idle") > 0.0 && seconds("%MYSQL_BIN_LOG%") > 0.0);
}

/// Hints and switches of the optimizer work as on MariaDB, and EXPLAIN has plans and estimates.
#[test]
#[ignore = "lane all: versions of mariadb"]
fn the_optimizer_is_studied() {
    let Some((server, _turn)) = server() else { return };
    let lab = lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nurl = \"{}\"\n[workload]\n\
         probe = \"optimizer\"\nrows = \"20k\"\nruns = 2\nestimates = true\n[factors]\n\
         \"workload.selectivity\" = [\"1%\", \"60%\"]\n\"workload.alternative\" = [\"chosen\", \
         \"scan\", \"index\", \"no-semijoin\"]\n[repeats]\nblocks = 1\n",
        server.url("root").replace("mariadb://", "mysql://")
    ));
    lab.run(0);
    assert_eq!(lab.rows("t", "SELECT status FROM trials"), vec!["done"; 8]);
    let count = |sql: &str| lab.rows("t", &format!("SELECT count(*) FROM facts WHERE {sql}"));
    assert_eq!(count("name = 'forced' AND value = 1"), ["6"]);
    assert_eq!(count("name = 'forced' AND value = 0"), ["0"]);
    // By an index for one row, and no longer for all of them.
    assert_eq!(count("name = 'plan_crossover' AND value BETWEEN 0.01 AND 0.99"), ["2"]);
    let estimated = lab.rows("t", "SELECT DISTINCT value FROM facts WHERE name = 'estimated_rows'");
    assert!(estimated.iter().all(|rows| rows.parse::<f64>().unwrap() >= 100.0), "{estimated:?}");
    assert_eq!(lab.rows("t", "SELECT count(*) FROM responses WHERE name = 'q_error_max'"), ["8"]);
}

/// Everything that the server can time.
const INSTRUMENTS: &str = "UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed \
                           = 'YES' WHERE name LIKE 'wait/%'";

#[test]
fn what_mysql_does_not_have_is_said_and_limits_of_statements_are_kept() {
    let Some((server, _turn)) = server() else { return };
    let insert = "probe = \"insert\"\nrows = \"1k\"\nmethod = \"procedure\"\nkey = \"sequential\"";
    let script = "probe = \"script\"\nscript = \"s.sql\"\ntransactions = 4";
    for (target, workload, text) in [
        ("", insert, "MySQL has no sequences"),
        ("compression = \"page-zlib\"", insert, "MySQL's page compression is not supported"),
        ("statement_timeout = \"200 ms\"", script, "maximum statement execution time exceeded"),
    ] {
        let lab = experiment(server, target, workload, "");
        lab.write(
            "s.sql",
            "SELECT count(*) FROM information_schema.columns a, information_schema.columns b, \
             information_schema.columns c;\n",
        );
        lab.run(1);
        let causes = servers::causes(&lab);
        assert!(
            causes.iter().all(|cause| cause.contains(text)) && !causes.is_empty(),
            "{text}: {causes:?}"
        );
    }
}

#[test]
#[ignore = "lane all: versions of mariadb"]
fn variables_of_the_server_are_set_and_put_back_and_those_that_cannot_be_are_named() {
    let Some((server, _turn)) = server() else { return };
    let value =
        |name: &str| server.connect().cell(&format!("SELECT @@GLOBAL.{name}")).unwrap().unwrap();
    let before = value("innodb_io_capacity");
    let once = "probe = \"script\"\nscript = \"s.sql\"\ntransactions = 4";
    let tell = "\\if 1\nSELECT @@innodb_io_capacity + @@sort_buffer_size AS sum \
                \\gset\n\\endif\n\\if :sum <> 1048909\nSELECT wrong;\n\\endif\n";
    let settings = "settings = { innodb_io_capacity = 333, sort_buffer_size = \"1M\" }";
    for (target, code) in
        [(format!("allow_server_settings = true\n{settings}"), 0), (settings.to_owned(), 2)]
    {
        let lab = experiment(server, &target, once, "");
        lab.write("s.sql", tell);
        let ended = lab.run(code);
        assert!(code == 0 || ended.stderr.contains("is server-wide"), "{ended:?}");
        assert_eq!(value("innodb_io_capacity"), before);
        assert_eq!(servers::records(&lab), Vec::<std::path::PathBuf>::new());
    }
    for (settings, code, text) in [
        ("allow_server_settings = true\nsettings.innodb_page_size = 4096", 1, "read only variable"),
        ("settings.sort_buffer_sise = 4096", 2, "did you mean"),
        (
            "allow_server_settings = true\nsettings.sort_buffer_size = \"1M\"\nallow_restart = \
             \"true\"\noption_file = \"/tmp/x.cnf\"",
            2,
            "MySQL does not report which variables need a restart",
        ),
    ] {
        let lab = experiment(server, settings, once, "");
        lab.write("s.sql", tell);
        let ended = lab.run(code);
        let output = format!("{}{}{:?}", ended.stdout, ended.stderr, servers::causes(&lab));
        assert!(flat(&output).contains(text), "{text}: {output}");
    }
}

#[test]
#[ignore = "lane all: versions of mariadb"]
fn a_blocked_session_its_blocker_and_what_they_wait_for_are_shown() {
    let Some((server, _turn)) = server() else { return };
    let url = server.url("root");
    // As the server is by default, and with all instruments: no wait counts twice.
    for instruments in [false, true] {
        if instruments {
            server.connect().run(INSTRUMENTS).unwrap();
        }
        with_blocked_sessions(&server.config(), |[holder, waiter, changer]| {
            let lab = Lab::new();
            let options = ["--seconds", "2", "--tasks", "--output", "w.steelbench"];
            let mut ended =
                lab.steelbench(&[&["waits", "--full", &url][..], &options].concat()).expect(0);
            ended.stdout = flat(&ended.stdout);
            ended
                .shows("MySQL 9")
                .shows(&format!("connection {holder} (user root) blocks 2 sessions"))
                .shows(&format!("KILL {holder} rolls it back."))
                .shows(&format!("connection {waiter} (user root) waits for ROW_LOCK for "))
                .shows("row 7 of shop.stock, X")
                .shows(&format!(
                    "connection {changer} (user root) waits for table metadata lock for "
                ))
                .shows("table shop.stock, EXCLUSIVE");
            let json = json(&lab.steelbench(&["waits", "w.steelbench", "--json"]).expect(0));
            let busy_s = json["time"]["session_s"].as_f64().unwrap();
            for name in ["ROW_LOCK", "Waiting for table metadata lock"] {
                let array = json["waits"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|wait| wait["wait_type"] == name);
                let wait_s: f64 = array.map(|wait| wait["resource_s"].as_f64().unwrap()).sum();
                assert!(
                    (0.4..=0.55).contains(&(wait_s / busy_s)),
                    "{name} of {busy_s} s: {json:#}"
                );
            }
            let unaccounted = json["accounting"]["unaccounted_s"].as_f64().unwrap() / busy_s;
            assert!((-0.05..0.05).contains(&unaccounted), "{unaccounted}: {json:#}");
            let mut screen = Screen::start(&lab, 200, &["waits", &url, "--watch"]);
            for (key, words) in
                [(b"1", ["ROW_LOCK", "metadata lock"]), (b"4", ["row 7 of shop.stock", "blocks 2"])]
            {
                screen.press(key);
                screen.await_words(&words);
            }
            screen.press(b"q");
            assert!(screen.end().success());
        });
    }
    let survey = json(&Lab::new().steelbench(&["survey", "--server", &url, "--json"]).expect(0));
    let surveyed = &survey["servers"][0];
    assert!(surveyed["version"].as_str().unwrap().starts_with("MySQL 9"), "{surveyed:#}");
    assert_eq!(
        (&surveyed["is_local"], &surveyed["is_replica"]),
        (&true.into(), &false.into()),
        "{surveyed:#}"
    );
    let rules: Vec<&str> = survey["advice"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|advice| advice["rule"].as_str())
        .collect();
    assert!(
        rules.contains(&"mariadb-flush-log") && !rules.contains(&"mariadb-query-cache"),
        "{rules:?}"
    );
}

/// The server is killed in the first trial; the second one has a new one.
#[test]
#[ignore = "lane all: versions of mariadb"]
fn private_servers_have_their_settings_and_volumes_and_a_killed_one_fails_its_trial_only() {
    let Some(folder) =
        std::env::var_os("STEELBENCH_TEST_MYSQL").filter(|folder| !folder.is_empty())
    else {
        println!("SKIPPED: no MySQL server is installed");
        return;
    };
    let lab = lab(&format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nbindir = \
         {folder:?}\ndata_files = 2\nvolume = \"v\"\nlog_volume = \"v\"\ncache = \
         \"hot\"\n[[volume]]\nname = \"v\"\npath = \"v\"\n[workload]\n{}\n[repeats]\nblocks = \
         1\n[factors]\n\"target.settings.back_log\" = [50, 60]\n",
        servers::inserts(2.0)
    ));
    std::fs::create_dir(lab.path("v")).unwrap();
    let child = lab.start();
    let (pid, _) = running_load(&lab, None);
    servers::kill(pid, libc::SIGKILL);
    end(child).expect(1).says("FAILED");
    assert_eq!(lab.rows("t", "SELECT status FROM trials ORDER BY id"), ["failed", "done"]);
    let cause = servers::causes(&lab).pop().unwrap();
    assert!(
        cause.contains("connection to the server") || cause.contains("cannot connect"),
        "{cause}"
    );
    let environment = flat(&lab.steelbench(&["show", "t", "--full"]).expect(0).stdout);
    assert!(environment.contains("(MySQL), Steelbench"), "{environment}");
    servers::nothing_is_left(&lab);
}

const TABLES: &str = "CREATE DATABASE queried; USE queried; SET SESSION cte_max_recursion_depth = \
     100000; CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL, note varchar(60) \
     NOT NULL, KEY orders_note_idx (note)); INSERT INTO orders WITH RECURSIVE s (n) AS (SELECT 1 \
     UNION ALL SELECT n + 1 FROM s WHERE n < 60000) SELECT n, n % 10000, concat('note of order \
     number ', n) FROM s; ANALYZE TABLE orders; TRUNCATE \
     performance_schema.events_statements_summary_by_digest";

#[test]
#[ignore = "lane all: versions of mariadb"]
fn statements_have_their_plans_and_the_index_that_is_missing_is_found() {
    let Some((server, _turn)) = server() else { return };
    let (mut client, url) = (server.connect(), server.url("root"));
    client.run(TABLES).unwrap();
    for number in 1..=20 {
        let found =
            client.query(&format!("SELECT * FROM orders WHERE customer_id = {number}")).unwrap();
        assert_eq!(found.len(), 6);
        client
            .run(&format!(
                "UPDATE orders SET customer_id = customer_id WHERE customer_id = {number}"
            ))
            .unwrap();
    }
    // A text with values of each statement is kept by the server itself.
    drop(client);
    let found = json(&Lab::new().steelbench(&["queries", &url, "--json"]).expect(0));
    let all = found["statements"].as_array().unwrap();
    let texts: Vec<&str> =
        all.iter().map(|statement| statement["text"].as_str().unwrap()).collect();
    let statement = |verb: &str| {
        let statement =
            all.iter().find(|statement| statement["text"].as_str().unwrap().starts_with(verb));
        statement.unwrap_or_else(|| panic!("{verb} is not in {texts:#?}"))
    };
    let (select, update) = (statement("SELECT *"), statement("UPDATE"));
    assert_eq!(
        (&select["counters"]["calls"], &update["counters"]["calls"]),
        (&20.into(), &20.into())
    );
    assert_eq!(select["plans"][0]["origin"], "sample", "{select:#}");
    assert!(
        update["not_explained"].as_str().unwrap().contains("this session is read-only"),
        "{update:#}"
    );
    // The server does not count CPU time by default.
    assert!(select["counters"]["cpu_ns"].is_null(), "{select:#}");
    assert!(
        texts.iter().all(|text| !text.contains("steelbench") && !text.contains("SESSION")),
        "{texts:#?}"
    );
    let advice = found["advice"].as_array().unwrap();
    let of = |kind: &str| {
        advice.iter().find(|advice| advice["kind"] == kind).map(|advice| advice["ddl"].clone())
    };
    let ddl = "CREATE INDEX `orders_customer_id` ON `queried`.`orders` (`customer_id`) \
               ALGORITHM=INPLACE LOCK=NONE";
    assert_eq!(of("missing_index"), Some(ddl.into()), "{advice:#?}");
    server.connect().run(ddl).unwrap();
    server.connect().run("DROP DATABASE queried").unwrap();
}
