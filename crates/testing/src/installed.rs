//! Needs of tests on real servers.

use experiment::Configuration;
use mariadb::server::MariaProduct;
pub use observe::processes::is_alive;
use postgres::client::Config;
use postgres::server::{DataOptions, Installation, PostgresProduct, PrivateServer, ServerOptions};
use servers::account::Account;
use servers::private::{Options, Product};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use work::Cancel;

/// Longer than any step of these tests.
pub const LONG: Duration = Duration::from_secs(60);

/// An installation of each major version to test on: those in `STEELBENCH_TEST_PG_BINDIRS`, or
/// what is installed. Says so when there is none.
pub fn installations() -> Vec<Installation> {
    let listed = std::env::var_os("STEELBENCH_TEST_PG_BINDIRS");
    let bindirs: Vec<PathBuf> = listed.iter().flat_map(std::env::split_paths).collect();
    let real: Vec<PathBuf> = bindirs.iter().filter_map(|place| place.canonicalize().ok()).collect();
    let mut found = Installation::find_all(&bindirs);
    found.retain(|installation| listed.is_none() || real.contains(&installation.bindir));
    let mut majors = BTreeSet::new();
    found.retain(|installation| majors.insert(installation.version.major));
    if found.is_empty() {
        println!("SKIPPED: no PostgreSQL server is installed");
    }
    found
}

/// The libraries of DuckDB to test on: those in `STEELBENCH_TEST_DUCKDB_LIBS`, or the one that is
/// found without being named. Says so when there is none.
pub fn duckdb_libraries() -> Vec<Option<String>> {
    let listed = std::env::var("STEELBENCH_TEST_DUCKDB_LIBS").unwrap_or_default();
    let listed: Vec<_> =
        listed.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if !listed.is_empty() {
        return listed.into_iter().map(Some).collect();
    }
    let engine = crate::engine("duckdb");
    if (engine.version)(&[&Configuration::default()], &Cancel::new().stop()).version == "none" {
        println!("SKIPPED: no libduckdb is installed");
        return Vec::new();
    }
    vec![None]
}

/// The MariaDB servers to test on. Says so when there is none.
pub fn mariadb_installations() -> Vec<mariadb::server::Installation> {
    let found = mariadb::server::Installation::find_all(&[]);
    if found.is_empty() {
        println!("SKIPPED: no MariaDB server is installed");
    }
    found
}

/// The URL of a SQL Server to test on: the one that `STEELBENCH_MSSQL_URL` names, or a stand-in.
/// Says so when there is none.
pub fn sql_server() -> Option<String> {
    std::env::var("STEELBENCH_MSSQL_URL").ok().or_else(|| sql_server_stand_in(&[]))
}

/// The URL of an emulator of SQL Server that has these databases, and runs until this process ends.
/// Says so when there is none.
pub fn sql_server_stand_in(databases: &[&str]) -> Option<String> {
    stand_in(databases, &[])
}

/// The URL of such an emulator whose login lacks VIEW SERVER STATE.
pub fn sql_server_that_hides_sessions() -> Option<String> {
    stand_in(&[], &[("STAND_IN_HIDES_SESSIONS", "yes")])
}

fn stand_in(databases: &[&str], variables: &[(&str, &str)]) -> Option<String> {
    let program = std::env::var_os("STEELBENCH_TEST_SQLSERVER").filter(|path| !path.is_empty());
    let Some(program) = program else {
        println!("SKIPPED: no stand-in of SQL Server is built");
        return None;
    };
    let folder = folder();
    let file = folder.path().join("port");
    let mut command = Command::new(program);
    command
        .arg(&file)
        .args(databases)
        .env("RUST_LOG", "off")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stderr(Stdio::null());
    // It ends when its standard input is closed.
    std::mem::forget(command.spawn().unwrap());
    assert!(until(|| file.exists()), "the stand-in does not start");
    let port = std::fs::read_to_string(file).unwrap();
    Some(format!("mssql://sa:S3c@127.0.0.1:{port}/master?encrypt=optional"))
}

/// A running MariaDB server in a folder, with its instruments of waits on or the Performance Schema
/// off.
pub fn mariadb(
    installation: mariadb::server::Installation,
    folder: &Path,
    instruments: bool,
) -> mariadb::server::PrivateServer {
    let product =
        MariaProduct { installation, table_directories: Vec::new(), page_bytes: None, instruments };
    let options = Options { connections: 20, ..plain(product, folder) };
    let mut server = mariadb::server::PrivateServer::create(options, &Cancel::new()).unwrap();
    server.apply(&BTreeMap::new(), &Cancel::new()).unwrap();
    server
}

/// Does something with a server of each version of MariaDB that is installed, and its URL.
pub fn on_each_mariadb(instruments: bool, test: impl Fn(&mariadb::server::PrivateServer, &str)) {
    for installation in mariadb_installations() {
        let folder = folder();
        let server = mariadb(installation, folder.path(), instruments);
        let url = server.config().to_string();
        test(&server, &url);
    }
}

/// A folder that servers of any user can reach.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The options of a plain server in this directory.
pub fn options(installation: &Installation, directory: &Path) -> ServerOptions {
    let installation = installation.clone();
    plain(PostgresProduct { installation, data: DataOptions::default() }, directory)
}

fn plain<P: Product>(product: P, directory: &Path) -> Options<P> {
    Options {
        product,
        directory: directory.into(),
        log_directory: None,
        account: Account::for_server(None, P::CONSTANTS.account).unwrap(),
        setup: None,
        connections: 1,
        cgroups: Vec::new(),
    }
}

/// A server that runs.
pub fn running(options: ServerOptions) -> PrivateServer {
    let cancel = Cancel::new();
    let mut server = PrivateServer::create(options, &cancel).unwrap();
    server.start(&cancel).unwrap();
    server
}

/// The first value of the first row of an answer.
pub fn ask(server: &PrivateServer, sql: &str) -> String {
    let rows = server.connect().unwrap().query(sql, &[]).unwrap();
    rows.iter().next().and_then(|row| row.get(0).map(str::to_owned)).unwrap_or_default()
}

/// How to connect, as superuser, to the private server whose directory this is, from the server's
/// own note: process, data directory, start, port, folder of the socket. `None` while it does not
/// accept connections.
pub fn private(directory: &Path) -> Option<(i32, Config)> {
    let note = std::fs::read_to_string(directory.join("data/postmaster.pid")).ok()?;
    let line: Vec<&str> = note.lines().map(str::trim).collect();
    (*line.get(7)? == "ready").then_some(())?;
    let config = Config::unix(Path::new(line[4]), line[3].parse().ok()?, "postgres", "postgres");
    // The server may be frozen.
    Some((line[0].parse().ok()?, config.with_connect_timeout(Some(LONG))))
}

/// When the server was started.
pub fn started(server: &PrivateServer) -> String {
    ask(server, "SELECT pg_postmaster_start_time()::text")
}

/// Looks until something is so; `false` when it does not come to that.
pub fn until(mut there: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !there() {
        if begin.elapsed() > LONG {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
