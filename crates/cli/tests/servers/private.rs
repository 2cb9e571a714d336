//! Private servers of PostgreSQL for tests of what its sessions leave in counters.

use crate::common::wait_until;
use postgres::client::Client;
use postgres::server::PrivateServer;
use std::collections::BTreeMap;
use testing::installed as servers;
use work::Cancel;

/// A server of each version with these settings, and what names it.
pub fn on_each_server(settings: &[(&str, &str)], test: impl Fn(&PrivateServer, &str)) {
    for installation in servers::installations() {
        let folder = servers::folder();
        let mut cluster = servers::running(servers::options(&installation, folder.path()));
        let settings: BTreeMap<String, String> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        cluster.apply(&settings, &Cancel::new()).unwrap();
        let ask = |setting: &str| servers::ask(&cluster, &format!("SHOW {setting}"));
        let (place, user) =
            (ask("unix_socket_directories"), servers::ask(&cluster, "SELECT session_user"));
        let url = format!(
            "host='{}' port={} user={user} dbname=postgres",
            place.trim_matches('"'),
            ask("port")
        );
        test(&cluster, &url);
        cluster.remove().unwrap();
    }
}

/// Runs `act` in a session and waits until it has ended, as sessions report their counters then.
pub fn in_a_session(cluster: &PrivateServer, act: impl FnOnce(&mut Client)) {
    let mut client = cluster.connect().unwrap();
    let pid = client.backend_pid().to_string();
    act(&mut client);
    drop(client);
    wait_until("the session has ended", || {
        servers::ask(cluster, &format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}"))
            == "0"
    });
}
