//! Findings of `queries` about what holds a PostgreSQL server back, on servers that were brought
//! into that state; before, there are no such findings.

use crate::common::{Lab, wait_until};
use crate::servers::by_url::{OWNER, Server, bindirs};
use postgres::client::Client;
use serde_json::Value;

/// The server freezes from the smallest age on that it accepts.
const FREEZE_AGE: u32 = 100_000;
/// Seconds after which an idle or prepared transaction is reported, and then some.
const REPORTED_S: u32 = 11;

/// Kind and subject of each finding about the state of the server.
fn findings(lab: &Lab, server: &Server) -> Vec<(String, String)> {
    let ended = lab.steelbench(&["queries", &server.conninfo(), "--json"]).expect(0);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = found["advice"].as_array().unwrap().iter();
    all.map(|advice| (text(&advice["kind"]), text(&advice["subject"])))
        .filter(|(kind, _)| ["exhaustion", "held_up", "replication"].contains(&kind.as_str()))
        .collect()
}

fn is_true(client: &mut Client, sql: &str) -> bool {
    client.cell(sql).unwrap().as_deref() == Some("t")
}

#[test]
fn what_holds_a_server_back_is_found_and_nothing_before() {
    for bin in bindirs() {
        let age = FREEZE_AGE.to_string();
        let settings = [
            ("autovacuum_freeze_max_age", age.as_str()),
            ("max_prepared_transactions", "2"),
            ("synchronous_commit", "off"),
            ("wal_level", "replica"),
        ];
        let server = Server::start(&bin, "local replication all trust", &settings);
        let replica = server.replica(&settings);
        let lab = Lab::new();
        let mut admin = server.connect();
        let is_streaming = "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'";
        wait_until("the replica streams", || is_true(&mut admin, is_streaming));
        admin.batch("CREATE TABLE held (n int)").unwrap();
        let is_level =
            "SELECT bool_and(replay_lsn = pg_current_wal_insert_lsn()) FROM pg_stat_replication";
        wait_until("the replica has replayed all", || is_true(&mut admin, is_level));
        assert_eq!(findings(&lab, &server), []);
        assert_eq!(findings(&lab, &replica), []);

        replica.connect().batch("SELECT pg_wal_replay_pause()").unwrap();
        let mut forgotten = server.connect();
        forgotten.batch("BEGIN; SELECT txid_current()").unwrap();
        admin
            .batch(
                "CREATE TABLE filled AS SELECT g, repeat('x', 100) FROM \
                 generate_series(1, 200000) g;
                 CREATE PROCEDURE burn(transactions bigint) LANGUAGE plpgsql AS 'BEGIN FOR i IN \
                 1..transactions LOOP PERFORM txid_current(); COMMIT; END LOOP; END'",
            )
            .unwrap();
        admin.batch("BEGIN; INSERT INTO held VALUES (1); PREPARE TRANSACTION 'held''s'").unwrap();
        admin.batch("SELECT pg_create_physical_replication_slot('left', true)").unwrap();
        // Autovacuum would freeze what the forgotten transaction does not hold back.
        admin.batch(&format!("CALL burn({})", 2 * FREEZE_AGE)).unwrap();
        admin.batch(&format!("SELECT pg_sleep({REPORTED_S})")).unwrap();

        let found = findings(&lab, &server);
        let has = |kind: &str, subject: &str| {
            found.iter().any(|advice| advice.0 == kind && advice.1.starts_with(subject))
        };
        let expected = [
            ("exhaustion", "transaction numbers of database postgres".to_owned()),
            ("held_up", format!("session {} of {OWNER}", forgotten.backend_pid())),
            ("held_up", "prepared transaction held's".to_owned()),
            ("held_up", "replication slot left".to_owned()),
            ("replication", "replica walreceiver at local".to_owned()),
        ];
        for (kind, subject) in expected {
            assert!(has(kind, &subject), "{kind} {subject}: {found:#?}");
        }
        let of_replica = findings(&lab, &replica);
        let late = ("replication".to_owned(), "this replica".to_owned());
        assert!(of_replica.contains(&late), "{of_replica:#?}");
    }
}
