//! Loads on servers of MariaDB and MySQL, and the private servers of runs that are going on.

use super::mariadb::LONG;
use super::once;
use crate::common::{Lab, wait_until};
use mariadb::client::{Client, Config};
use std::path::Path;

/// Sessions of a load of two connections are there, and that of administration.
pub const LOAD_RUNS: &str =
    "SELECT count(*) > 2 FROM information_schema.processlist WHERE db = 'steelbench'";

/// The private server of a run that is going on, if it lets us in; it is another one than `not`.
fn private(lab: &Lab, not: Option<i32>) -> Option<(i32, Client)> {
    let find = |folder: &Path| {
        let pid =
            std::fs::read_to_string(folder.join("data/server.pid")).ok()?.trim().parse().ok()?;
        let socket =
            std::fs::read_link(folder.join("socket")).unwrap_or_else(|_| folder.join("socket"));
        // The server may be frozen.
        let config = Config::unix(&socket.join("server.sock"), "root").with_default_timeout(LONG);
        let client = Client::connect(&config).ok()?;
        (Some(pid) != not).then_some((pid, client))
    };
    let folders = std::fs::read_dir(lab.path("results/t.steelbench.work")).ok()?;
    folders.flatten().find_map(|folder| find(&folder.path()))
}

pub fn await_load(client: &mut Client) {
    wait_until("a load runs", || client.cell(LOAD_RUNS).unwrap().as_deref() == Some("1"));
}

pub fn running_load(lab: &Lab, not: Option<i32>) -> (i32, Client) {
    once_it_says(lab, not, LOAD_RUNS)
}

/// The private server of a run that is going on, once it answers this query with another number
/// than 0; it is another one than `not`.
pub fn once_it_says(lab: &Lab, not: Option<i32>, query: &str) -> (i32, Client) {
    once(
        query,
        || private(lab, not),
        |client| Some(client.cell(query).ok()?.is_some_and(|cell| cell != "0")),
    )
}
