//! `steelbench waits` and `survey --server` on real servers of MariaDB, with the Performance Schema
//! and without it.

use testing::installed as servers;
use testing::mariadb_client as by_hand;

use crate::common::{Lab, end, signal, wait_until};
use crate::screen::Screen;
use by_hand::with_blocked_sessions;
use mariadb::client::Client;
use mariadb::server::PrivateServer;
use serde_json::Value;

fn connect(server: &PrivateServer) -> Client {
    Client::connect(&server.config()).unwrap()
}

/// Text in which lines are not wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a command's JSON output.
fn json(lab: &Lab, arguments: &[&str]) -> Value {
    serde_json::from_str(&lab.steelbench(arguments).expect(0).stdout).unwrap()
}

fn wait_s(value: &Value, name: &str) -> f64 {
    let waits = value["waits"].as_array().unwrap().iter();
    let waits = waits.filter(|wait| wait["wait_type"] == name);
    waits
        .map(|wait| wait["resource_s"].as_f64().unwrap() + wait["signal_s"].as_f64().unwrap())
        .sum()
}

#[test]
fn a_blocked_session_its_blocker_and_what_they_wait_for_are_shown_recorded_and_read_again() {
    servers::on_each_mariadb(true, |server, url| {
        with_blocked_sessions(&server.config(), |[holder, waiter, changer]| {
            let lab = Lab::new();
            let options = ["--seconds", "2", "--tasks", "--output", "w.steelbench"];
            let mut ended =
                lab.steelbench(&[&["waits", "--full", url][..], &options].concat()).expect(0);
            ended.stdout = flat(&ended.stdout);
            let ended = ended
                .shows("from the process list, 100 per second")
                .shows(&format!("connection {holder} (user root) blocks 2 sessions"))
                .shows("idle in transaction for ")
                .shows(&format!("KILL {holder} rolls it back."))
                .shows(&format!("connection {waiter} (user root) waits for ROW_LOCK for "))
                .shows("row 7 of shop.stock, X")
                .shows(&format!(
                    "connection {changer} (user root) waits for table metadata lock for "
                ))
                .shows("table shop.stock, EXCLUSIVE")
                .shows("UPDATE shop.stock SET a = ? WHERE id = ?");
            assert!(!ended.stdout.contains("4711"), "constants are data: {}", ended.stdout);
            // Read again, and as of a program: two sessions were busy, one for a row and one for
            // the table.
            assert_eq!(
                flat(
                    &lab.steelbench(&["waits", "--full", "w.steelbench", "--tasks"])
                        .expect(0)
                        .stdout
                ),
                ended.stdout
            );
            let json = json(&lab, &["waits", "w.steelbench", "--json"]);
            let busy_s = json["time"]["session_s"].as_f64().unwrap();
            for wait in ["ROW_LOCK", "Waiting for table metadata lock"] {
                let share = wait_s(&json, wait) / busy_s;
                assert!((0.4..=0.55).contains(&share), "{wait} is {share} of {busy_s} s: {json:#}");
            }
            let unaccounted = json["accounting"]["unaccounted_s"].as_f64().unwrap() / busy_s;
            assert!((-0.05..0.05).contains(&unaccounted), "{unaccounted}: {json:#}");
        });
        survey(url, &["mariadb-buffer-pool-small"], &["mariadb-performance-schema"]);
    });
}

#[test]
fn without_the_performance_schema_the_process_list_is_sampled_and_that_is_said() {
    servers::on_each_mariadb(false, |server, url| {
        with_blocked_sessions(&server.config(), |[_, waiter, changer]| {
            let mut ended = Lab::new()
                .steelbench(&["waits", "--full", url, "--seconds", "1", "--tasks"])
                .expect(0);
            ended.stdout = flat(&ended.stdout);
            ended
                .shows("performance_schema is off")
                .shows(&format!("connection {waiter} (user root) waits for ROW_LOCK"))
                .shows("likely the blocker")
                .shows("Blocking during the interval")
                .shows(&format!("connection {changer} (user root) waits for table metadata lock"));
        });
        survey(url, &["mariadb-performance-schema"], &[]);
        // A load on it: idle time is sampled, and unlike on a private server the report says that
        // waits are missing.
        let lab = Lab::with(&format!(
            "[experiment]\nname = \"e\"\n[target]\nengine = \"mariadb\"\nurl = \
             \"{url}\"\n[workload]\nprobe = \"script\"\nbuiltin = \"tpcb-like\"\nconnections = \
             4\nduration = \"1 s\"\n[repeats]\nblocks = 1\n"
        ));
        let ended = lab.run(0);
        let text = flat(&ended.stdout);
        assert!(text.contains("performance_schema is off"), "{text}");
        assert!(text.contains("from sampled process list states"), "{text}");
        let trial = lab.rows(
            "e",
            "SELECT wait_type || ' ' || (count IS NULL) FROM waits WHERE wait_type IN ('idle', \
             'CPU_QUEUE') ORDER BY 1",
        );
        assert_eq!(
            trial,
            ["CPU_QUEUE 1", "idle 1"],
            "the kernel's run queue, and idle sessions without a count"
        );
    });
}

/// The advice about a server: these rules are there, and those are not.
fn survey(url: &str, there: &[&str], absent: &[&str]) {
    let json = json(&Lab::new(), &["survey", "--server", url, "--json"]);
    let server = &json["servers"][0];
    assert_eq!(
        (&server["engine"], &server["is_local"]),
        (&"mariadb".into(), &true.into()),
        "{server:#}"
    );
    assert!(!server["address"].as_str().unwrap().contains("root"), "{server:#}");
    let pool = server["settings"].as_array().unwrap().iter();
    let pool = pool.filter(|setting| setting["name"] == "innodb_buffer_pool_size").count();
    assert_eq!(pool, 1);
    let rules: Vec<&str> = json["advice"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|advice| advice["rule"].as_str())
        .collect();
    for rule in there {
        assert!(rules.contains(rule), "{rule} is not in {rules:?}");
    }
    for rule in absent {
        assert!(!rules.contains(rule), "{rule} is in {rules:?}");
    }
}

/// The whole screen, on a terminal, beside a load: what a second shows is what the sessions do.
#[test]
fn the_screen_shows_the_load_of_a_server_and_ends_at_a_key() {
    servers::on_each_mariadb(true, |server, url| {
        let lab = Lab::with(&format!(
            "[experiment]\nname = \"e\"\n[target]\nengine = \"mariadb\"\nurl = \
             \"{url}\"\n[workload]\nprobe = \"script\"\nbuiltin = \"select-only\"\nconnections = \
             4\nduration = \"60 s\"\n[observe]\nwaits = false\n[repeats]\nblocks = 1\n"
        ));
        let load = lab.start();
        let mut admin = connect(server);
        let runs =
            "SELECT count(*) > 3 FROM information_schema.processlist WHERE db = 'steelbench'";
        wait_until("a load runs", || admin.cell(runs).unwrap().as_deref() == Some("1"));
        with_blocked_sessions(&server.config(), |[holder, ..]| {
            let mut screen = Screen::start(&lab, 200, &["waits", url, "--watch"]);
            for (key, words) in [
                (b"1", &["from the process list", "CPU or run queue", "lock  ", "ROW_LOCK"][..]),
                (b"2", &["SELECT abalance FROM pgbench_accounts"]),
                (b"3", &["(root, steelbench)"]),
                (b"4", &["row 7 of shop.stock", "blocks 2"]),
            ] {
                screen.press(key);
                screen.await_words(words);
            }
            screen.await_words(&[&format!("connection {holder} (")]);
            screen.press(b"q");
            assert!(screen.end().success());
        });
        signal(&load, libc::SIGINT);
        end(load).expect(130);
    });
}

/// An inventory of ten servers shows the one with different settings: built from inventories of two
/// real ones.
#[test]
fn inventories_of_many_servers_are_one() {
    let mut files = Vec::new();
    let lab = Lab::new();
    let options = [&[][..], &["--innodb-io-capacity=555", "--table-definition-cache=999"]];
    for (number, options) in options.into_iter().enumerate() {
        let Some(server) = by_hand::Server::start(options) else { return };
        let file = format!("{number}.json");
        lab.steelbench(&["survey", "--server", &server.url("root"), "--output", &file]).expect(0);
        files.push(file);
    }
    let inventory =
        |number: usize| serde_json::from_str::<Value>(&lab.read(&files[number])).unwrap();
    let (usual, odd) = (inventory(0), inventory(1));
    let mut names = vec!["survey".to_owned(), "merge".to_owned()];
    for number in 0..10 {
        let mut shape = if number == 4 { odd.clone() } else { usual.clone() };
        shape["machine"]["host"] = format!("db{number}").into();
        lab.write(&format!("db{number}.json"), &shape.to_string());
        names.push(format!("db{number}.json"));
    }
    let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    let page = flat(&lab.steelbench(&arguments).expect(0).stdout);
    for words in [
        "10 machines, 10 servers",
        // Shown for every server, although only the one with another value than the default
        // reports it.
        "1 of 10 has mariadb innodb_io_capacity 555; 9 have 200",
        "1 of 10 has mariadb table_definition_cache 999; 9 have default",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("has its default on"), "of parallel workers: {page}");
    let merged = json(&lab, &[&arguments[..], &["--json"]].concat());
    let servers = &merged["machines"][0]["servers"];
    assert_eq!(servers[0]["shared_buffers_bytes"], 32 << 20, "{servers}");
}

#[test]
fn a_server_can_be_named_as_to_mariadbs_client() {
    let lab = Lab::new();
    lab.steelbench(&["waits", "-u", "me", "-U", "you"]).expect(2).says("use either");
    lab.steelbench(&["waits", "-S", "/nowhere/s.sock", "-u", "me"])
        .expect(1)
        .says("mariadb://me@localhost/?socket=/nowhere/s.sock");
    lab.steelbench(&["waits", "-h", "127.0.0.1", "-P", "1", "-D", "shop"])
        .expect(1)
        .says("@127.0.0.1:1/shop");
}
