//! The replica of a private server, on real servers of every installed version.

use engine::{Disturbance, Node, Nodes as _, lock};
use mariadb::client::{Client, Config};
use servers::pair::Pair;
use std::sync::{Arc, Mutex};
use testing::installed::{folder, mariadb, mariadb_installations};
use work::Cancel;

fn value(pair: &Pair<mariadb::server::MariaProduct>, node: Node, sql: &str) -> Option<String> {
    pair.ask(node, sql).unwrap().last.into_iter().next().flatten()
}

#[test]
fn a_primary_admits_only_its_replica_by_tcp_and_the_replica_takes_over() {
    for installation in mariadb_installations() {
        let folder = folder();
        let server = mariadb(installation, folder.path(), false);
        let sql = "CREATE DATABASE steelbench; CREATE TABLE steelbench.t (a int)";
        server.connect().unwrap().run(sql).unwrap();
        let server = Arc::new(Mutex::new(server));
        let pair = Pair::new(&server, &Cancel::new());
        pair.attach_replica(true).unwrap();
        let port = value(&pair, Node::Primary, "SELECT @@port").unwrap();
        for user in ["root", "steelbench_replica", "mysql", "nobody"] {
            let config = Config::parse(&format!("mariadb://{user}@127.0.0.1:{port}/")).unwrap();
            let error = Client::connect(&config).map(drop).unwrap_err().to_string();
            assert!(error.contains("Access denied"), "{user}: {error}");
        }
        let listens = "SELECT @@bind_address";
        assert_eq!(value(&pair, Node::Primary, listens).as_deref(), Some("127.0.0.1"));
        assert_eq!(value(&pair, Node::Replica, "SELECT @@skip_networking").as_deref(), Some("1"));
        pair.ask(Node::Primary, "INSERT INTO t VALUES (7)").unwrap();
        pair.disturb(Node::Primary, Disturbance::ShutDown).unwrap();
        pair.promote().unwrap();
        assert_eq!(value(&pair, Node::Replica, "SELECT a FROM t").as_deref(), Some("7"));
        assert_eq!(value(&pair, Node::Replica, "SELECT @@read_only").as_deref(), Some("0"));
        pair.end().unwrap();
        let replica = lock(&server).layout.directory.join("replica");
        assert!(!replica.exists());
    }
}
