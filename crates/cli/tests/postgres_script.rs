//! The script probe on real servers: pgbench's scripts and those of users.

use crate::common::Lab;
use crate::servers::by_url::{OWNER, Server, bindirs};
use crate::servers::{create_log, lab, managed, newest, nothing_is_left, say, versions};
use postgres::client::Client;
use std::process::Command;

/// An experiment on a server by URL, whose tables the scripts find.
fn file(server: &Server, workload: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \"host={} port={} \
         user={OWNER} dbname=postgres\"\n[workload]\nprobe = \
         \"script\"\n{workload}\n[repeats]\nblocks = 1\n{more}",
        server.folder().display(),
        server.port
    )
}

/// The rows of a query, columns joined by a space, rows by a comma.
fn ask(client: &mut Client, sql: &str) -> String {
    let rows = client.query(sql, &[]).unwrap();
    let text =
        |row: engine::Row<'_>| (0..).map_while(|at| row.get(at)).collect::<Vec<_>>().join(" ");
    rows.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn work(lab: &Lab) -> Vec<String> {
    lab.rows("t", "SELECT transactions, errors, retries > 0 FROM trials ORDER BY id")
}

fn pgbench(bin: &std::path::Path, server: &Server, arguments: &[&str]) {
    let mut pgbench = Command::new(bin.join("pgbench"));
    pgbench
        .env("PGHOST", server.folder())
        .env("PGPORT", server.port.to_string())
        .env("PGUSER", OWNER);
    let output = pgbench.env("PGDATABASE", "postgres").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Query of pgbench's tables after the load: transactions, and whether every balance agrees with
/// the history.
const BALANCES: &str = "SELECT (SELECT count(*) FROM pgbench_history),
    (SELECT sum(abalance) FROM pgbench_accounts) = d.sum, (SELECT sum(tbalance) FROM \
                        pgbench_tellers) = d.sum,
    (SELECT sum(bbalance) FROM pgbench_branches) = d.sum FROM (SELECT sum(delta) FROM \
                        pgbench_history) d";

#[test]
fn built_in_scripts_do_to_pgbenchs_tables_what_pgbench_does() {
    for bin in bindirs() {
        let server = Server::start(&bin, "", &[]);
        let mut client = server.connect();
        for protocol in ["prepared", "simple"] {
            pgbench(&bin, &server, &["-i", "-q"]);
            pgbench(&bin, &server, &["-n", "-c", "3", "-t", "100", "-M", protocol]);
            let theirs = ask(&mut client, BALANCES);
            assert_eq!(theirs, "300 t t t");
            client.batch("TRUNCATE pgbench_history").unwrap();
            pgbench(&bin, &server, &["-i", "-q"]);
            let workload = format!(
                "builtin = \"tpcb-like\"\ninitialize = false\nconnections = 3\ntransactions = \
                 300\nprotocol = \"{protocol}\""
            );
            let lab = lab(&file(&server, &workload, ""));
            lab.run(0);
            assert_eq!(
                (ask(&mut client, BALANCES), work(&lab)),
                (theirs, vec!["300|0|0".to_owned()])
            );
        }
    }
}

#[test]
fn tables_of_our_own_have_the_scale_and_each_script_its_latencies() {
    let Some(versions) = versions() else { return };
    let workload = "probe = \"script\"\nbuiltin = [\"tpcb-like@2\", \"simple-update\", \
                    \"select-only@3\"]\nscale = 2\nscript = \"count.sql@1\"\nconnections = \
                    4\nthreads = 2\ntransactions = 403\nvariables.wanted = 200000";
    let lab = lab(&managed(1, &versions, ["", workload, ""]));
    lab.write(
        "count.sql",
        "SELECT count(*) AS accounts, min(aid) AS first, max(aid) AS last FROM pgbench_accounts \
         \\gset\nSELECT count(*) AS tellers FROM pgbench_tellers \\gset t_\n\\if :accounts != \
         :wanted or :first != 1 or :last != :scale * 100000 or :t_tellers != 20\nSELECT 1 / \
         0;\n\\endif\n",
    );
    lab.run(0);
    for work in work(&lab) {
        assert_eq!(work, "403|0|0");
    }
    let latencies = "SELECT DISTINCT name FROM latencies ORDER BY 1";
    let names = lab.rows("t", latencies);
    for script in ["tpcb-like", "simple-update", "select-only", "count.sql"] {
        assert!(
            names.iter().any(|name| name.starts_with("transaction: ") && name.contains(script)),
            "{names:?}"
        );
    }
    nothing_is_left(&lab);
}

#[test]
fn sleeps_variables_conditions_and_results_work_in_both_protocols() {
    let Some(versions) = versions() else { return };
    let workload = "probe = \"script\"\nscript = \"s.sql\"\nconnections = 1\ntransactions = \
                    3\nvariables.given = 2.5";
    let factor = "\"workload.protocol\" = [\"simple\", \"prepared\"]\n";
    let lab = lab(&managed(1, &newest(&versions), ["", workload, factor]));
    create_log(&lab);
    let script = "\\set a random(7, 7) * 6\n\\set b :a % 5\n\\sleep 2 ms\nSELECT :a + 1 AS next, \
                  CAST(:given AS float) * 2 AS twice \\gset r_\n\\if :r_next = 43 and :b = \
                  2\nCREATE TABLE IF NOT EXISTS seen (n int, w float);\nINSERT INTO seen VALUES \
                  (:r_next, :r_twice);\n\\elif true\nSELECT 1 / 0;\n\\else\nSELECT 1 / \
                  0;\n\\endif\n";
    lab.write(
        "s.sql",
        &(script.to_owned() + &say(&lab, "SELECT count(*), min(n), max(w) FROM seen")),
    );
    lab.run(0);
    // Each trial has a table of its own, which the next one does not see.
    assert_eq!(lab.read("said"), "1\t43\t5\n2\t43\t5\n3\t43\t5\n".repeat(2));
    nothing_is_left(&lab);
}

#[test]
fn serialization_failures_and_deadlocks_are_tried_again_and_counted() {
    for bin in bindirs() {
        let server = Server::start(&bin, "", &[("deadlock_timeout", "10ms")]);
        let mut client = server.connect();
        client.batch("CREATE TABLE counters (id int PRIMARY KEY, n int)").unwrap();
        client.batch("INSERT INTO counters SELECT g, 0 FROM generate_series(1, 2) g").unwrap();
        let serializable = "BEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT n AS old FROM counters \
                            WHERE id = 1 \\gset\nSELECT pg_sleep(0.001);\nUPDATE counters SET n = \
                            :old + 1 WHERE id = 1;\nCOMMIT;\n";
        let deadlock = "\\set one random(1, 2)\nBEGIN;\nUPDATE counters SET n = n + 1 WHERE id = \
                        :one;\nSELECT pg_sleep(0.002);\nUPDATE counters SET n = n + 1 WHERE id = \
                        3 - :one;\nCOMMIT;\n";
        for (script, rows) in [(serializable, 1), (deadlock, 2)] {
            for protocol in ["simple", "prepared"] {
                for tries in [1, 100_000] {
                    client.batch("UPDATE counters SET n = 0").unwrap();
                    let workload = format!(
                        "script = \"s.sql\"\nconnections = 4\ntransactions = 80\nmax_tries = \
                         {tries}\nprotocol = \"{protocol}\""
                    );
                    let lab = lab(&file(&server, &workload, ""));
                    lab.write("s.sql", script);
                    lab.run(0);
                    let work = lab.rows("t", "SELECT transactions, errors, retries FROM trials");
                    let work: Vec<u32> =
                        work[0].split('|').map(|number| number.parse().unwrap()).collect();
                    let [done, errors, retries] = work[..] else { panic!("{work:?}") };
                    // Every committed transaction, and none that was rolled back, has counted.
                    assert_eq!(
                        ask(&mut client, "SELECT sum(n) FROM counters"),
                        (done * rows).to_string()
                    );
                    assert_eq!(done + errors, 80);
                    let again = (errors == 0 && retries > 0, errors > 0 && retries == 0);
                    assert_eq!(again, (tries > 1, tries == 1), "{protocol} {script} {work:?}");
                }
            }
        }
    }
}

#[test]
fn a_rate_makes_an_open_loop_and_a_number_of_transactions_ends_it() {
    let Some(versions) = versions() else { return };
    let workload = "probe = \"script\"\nbuiltin = \"select-only\"\nconnections = 4\ntransactions \
                    = 200\nrate = \"400/s\"";
    let lab = lab(&managed(1, &newest(&versions), ["", workload, ""]));
    lab.run(0);
    assert_eq!(work(&lab), ["200|0|0"]);
    assert_eq!(lab.rows("t", "SELECT sends_intended FROM load_health"), ["200"]);
    nothing_is_left(&lab);
}

#[test]
fn many_connections_of_a_thread_share_a_schedule_and_too_high_a_rate_is_told() {
    let Some(versions) = versions() else { return };
    let workload = "probe = \"script\"\nscript = \"s.sql\"\nduration = \"300 ms\"";
    let factors = "\"workload.connections\" = [2, 9]\n\"workload.threads\" = [1, \
                   2]\n\"workload.rate\" = [\"100/s\", \"5000/s\"]";
    let lab = lab(&managed(1, &newest(&versions), ["", workload, factors]));
    lab.write("s.sql", "\\sleep 5 ms\nSELECT 1;\n");
    lab.run(0);
    // Whatever the connections and threads; the rate stretches it, and what is due after 300 ms is
    // not begun.
    let starts = "SELECT count(DISTINCT sends_intended) FROM load_health JOIN trials ON trials.id \
                  = trial
                  JOIN settings USING (configuration) WHERE path = 'workload.rate' GROUP BY value";
    assert_eq!(lab.rows("t", starts), ["1", "1"]);
    let overloaded = "SELECT value, count(*) FROM warnings JOIN trials ON trials.id = trial
                      JOIN settings USING (configuration) WHERE path = 'workload.rate' AND kind = \
                      'overloaded' GROUP BY value";
    let overloaded = lab.rows("t", overloaded);
    assert_eq!(overloaded.len(), 1, "{overloaded:?}");
    assert!(overloaded[0].starts_with("5000") && overloaded[0].ends_with("|4"), "{overloaded:?}");
    assert_eq!(lab.rows("t", "SELECT named_by, path FROM files"), ["workload.script|s.sql"]);
    nothing_is_left(&lab);
}

#[test]
fn what_is_wrong_with_a_script_is_told_by_check_with_its_place() {
    let lab = lab("");
    let check = |workload: &str, script: &str| {
        lab.write("s.sql", script);
        lab.write(
            "e.toml",
            &managed(1, "[15]", ["", &format!("probe = \"script\"\nduration = 1\n{workload}"), ""]),
        );
        lab.steelbench(&["check", "e.toml"]).expect(2)
    };
    let text = "script = \"s.sql\"";
    check(text, "SELECT 1;\n\\set a 1 +\n").says("s.sql:2:");
    check(text, "SELECT 1;\n\n\\sett a 1\n").says("s.sql:3:").says("sett");
    check(text, "\\if true\nSELECT 1;\n").says("s.sql").says("endif");
    check(text, "").says("s.sql");
    check("script = \"missing.sql\"", "").says("missing.sql");
    check("builtin = \"tpcb-liek\"", "").says("tpcb-liek").says("tpcb-like");
    check(&format!("{text}\ntransactions = 5"), "SELECT 1;").says("give one of them");
    let wrong = "[experiment]\nname = \"t\"\n[target]\nengine = \"null\"\n[workload]\nprobe = \
                 \"script\"\nbuiltin = \"tpcb-like\"\nduration = 1\n";
    lab.write("e.toml", wrong);
    lab.steelbench(&["check", "e.toml"]).expect(2).says("cannot run user statements");
}
