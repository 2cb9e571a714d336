//! A primary that its replica reaches by TCP, on real servers of every installed version.

use availability::pair::{Node, Pair};
use availability::replication::for_engine;
use engine::server::{AdminOptions, by_url};
use engine::{Disturbance, EngineError};
use experiment::{Configuration, Invalid};
use observations::Observations;
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use testing::installed::mariadb_installations;
use testing::trials::{TestEngine, text};
use work::Stop;

/// Makes a replica, tries to log in on the primary by TCP, and lets the replica take over.
struct Doors;

impl Probe for Doors {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("doors", &[]) }
    }

    fn plan(&self, _: &Configuration, _: &Target) -> Vec<Invalid> {
        Vec::new()
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let server = context.instance.parts().private_server.unwrap();
        let folder = server.facts().folder.join("replica");
        let pair = Pair::new(server, for_engine("mariadb").unwrap(), context.cancel);
        let value = |node, sql: &str| -> Result<Option<String>, EngineError> {
            Ok(pair.ask(node, sql)?.cell().map(str::to_owned))
        };
        pair.ask(Node::Primary, "CREATE TABLE t (a int)")?;
        pair.attach_replica(true)?;
        let port = value(Node::Primary, "SELECT @@port")?.unwrap();
        for user in ["root", "steelbench_replica", "mysql", "nobody"] {
            let url = format!("mariadb://{user}@127.0.0.1:{port}/");
            let reached = by_url(&[testing::engine("mariadb")], &url).unwrap();
            let session = reached.session(&AdminOptions::default(), &Stop::when(|| false));
            let error = session.map(drop).unwrap_err().to_string();
            assert!(error.contains("Access denied"), "{user}: {error}");
        }
        let listens = "SELECT @@bind_address";
        assert_eq!(value(Node::Primary, listens)?.as_deref(), Some("127.0.0.1"));
        assert_eq!(value(Node::Replica, "SELECT @@skip_networking")?.as_deref(), Some("1"));
        pair.ask(Node::Primary, "INSERT INTO t VALUES (7)")?;
        pair.disturb(Disturbance::ShutDown)?;
        pair.promote()?;
        assert_eq!(value(Node::Replica, "SELECT a FROM t")?.as_deref(), Some("7"));
        assert_eq!(value(Node::Replica, "SELECT @@read_only")?.as_deref(), Some("0"));
        pair.end()?;
        assert!(!folder.exists());
        Ok(Observations::default())
    }
}

#[test]
fn a_primary_admits_only_its_replica_by_tcp_and_the_replica_takes_over() {
    for installation in mariadb_installations() {
        let engine = TestEngine {
            name: format!("mariadb {}", installation.version),
            engine: testing::engine("mariadb"),
            settings: vec![
                ("target.bindir", text(installation.server.parent().unwrap().to_str().unwrap())),
                ("target.version", text(installation.version.clone())),
                ("target.settings.innodb_log_file_size", text("8M")),
            ],
        };
        let removed = engine.measured(&Doors, &[], |_, observations| {
            observations.unwrap();
        });
        removed.unwrap();
    }
}
