//! Order entry on MariaDB beside other programs: the client's CPU time against go-tpc, and the load
//! against LOAD DATA of the same rows.

use super::figures::{pairs, print, print_ratios, ratios};
use super::maria_server::{OFF, Server};
use super::order_entry::{Cost, TABLES, load_s, print_costs, until_interrupted};
use super::run::{Bench, used};
use crate::process::{output, target};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Pairs of measurements, and the seconds of one.
const ROUNDS: u64 = 5;
const SECONDS: u64 = 5;
const CONNECTIONS: [u32; 2] = [1, 8];
/// Warehouses whose load is timed.
const WAREHOUSES: u32 = 2;
/// The peer and its version: the last one that its module has.
const GO_TPC: &str = "github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.7";
/// Databases: of the peer, of the structure of our tables, and of their copies.
const PEER: &str = "tpcc";
const EMPTY: &str = "empty";
const COPIED: &str = "copied";

/// Name of our experiments.
const EXPERIMENT: &str = "bench-order-entry-mariadb";

/// Client CPU for each transaction and throughput against go-tpc. Both send the statements of each
/// transaction themselves, prepared, over TCP, to tables of their own with one warehouse. Their
/// statements differ: go-tpc reads the items of an order at once.
pub fn client_cpu(bench: &Bench) -> Result<(), String> {
    let Some(go_tpc) = install_go_tpc(bench)? else {
        println!("SKIPPED: go is not installed, which builds the peer go-tpc");
        return Ok(());
    };
    let (server, port) = Server::start_on_port("order-entry", OFF)?;
    server.sql(&format!("CREATE DATABASE {PEER}"))?;
    output(peer(&go_tpc, port, 1).args(["prepare", "--no-check"]))?;
    for connections in CONNECTIONS {
        let pairs = pairs(
            ROUNDS,
            |_| ours(bench, port, connections),
            |_| run_peer(&go_tpc, port, connections),
        )?;
        println!("order entry, {connections} connections ({ROUNDS} pairs of {SECONDS} s):");
        print_costs("go-tpc", &pairs);
    }
    Ok(())
}

/// Builds the peer with the Go of this machine; `None` where there is none.
fn install_go_tpc(bench: &Bench) -> Result<Option<PathBuf>, String> {
    if Command::new("go").arg("version").output().is_err() {
        return Ok(None);
    }
    let folder = target().join("go");
    let program = folder.join("go-tpc");
    if !program.exists() {
        let mut install = Command::new("go");
        install.args(["install", GO_TPC]).env("GOBIN", &folder).current_dir(&bench.folder);
        output(&mut install)?;
    }
    Ok(Some(program))
}

fn peer(program: &Path, port: u16, connections: u32) -> Command {
    let mut command = Command::new(program);
    command.args(["tpcc", "--warehouses", "1", "-H", "127.0.0.1", "-U", "root", "-D", PEER]);
    command.args(["-P", &port.to_string(), "-T", &connections.to_string()]);
    command
}

fn run_peer(program: &Path, port: u16, connections: u32) -> Result<Cost, String> {
    let time = format!("{SECONDS}s");
    let mut run = peer(program, port, connections);
    // A thread would end with its first deadlock.
    run.args(["run", "--time", &time, "--ignore-error", "--silence"]);
    let ran = used(&run)?;
    let mut transactions = 0.0;
    // `[Summary] NEW_ORDER - Takes(s): 4.9, Count: 1234, TPM: ...`; failed ones are NEW_ORDER_ERR.
    for line in ran.printed.lines().filter_map(|line| line.strip_prefix("[Summary] ")) {
        let (name, figures) = line.split_once(" - ").ok_or(line)?;
        let count = figures.split_once("Count: ").and_then(|(_, rest)| rest.split(',').next());
        let count: f64 = count.and_then(|count| count.parse().ok()).ok_or(line)?;
        if !name.trim().ends_with("_ERR") {
            transactions += count;
        }
    }
    if transactions <= 0.0 {
        return Err(format!("go-tpc did nothing:\n{}", ran.printed));
    }
    let tps = transactions / SECONDS as f64;
    Ok(Cost { tps, cpu_us: ran.cpu_s * 1e6 / transactions })
}

/// Our run on tables of its own. The CPU is that of the load's thread: the rest of the process
/// fills and checks the tables.
fn ours(bench: &Bench, port: u16, connections: u32) -> Result<Cost, String> {
    let url = format!("mariadb://root@127.0.0.1:{port}/");
    let load = format!("connections = {connections}\nduration = \"{SECONDS} s\"\n");
    let ran = bench.experiment(EXPERIMENT, &experiment(&url, "client", 1, &load), &[])?;
    let trial = ran.trial()?;
    Ok(Cost { tps: trial.response("throughput")?, cpu_us: trial.response("client_cpu")? })
}

/// The time of our load against that of LOAD DATA LOCAL from existing files into the same tables,
/// whose secondary indexes are made afterwards.
pub fn load(bench: &Bench) -> Result<(), String> {
    let server = Server::start("order-entry-load", OFF)?;
    let url = format!("mariadb://root@localhost/?socket={}", server.socket());
    let text = experiment(&url, "procedures", WAREHOUSES, "connections = 1\ntransactions = 1\n");
    let endless =
        experiment(&url, "procedures", WAREHOUSES, "connections = 1\nduration = \"1 h\"\n");
    until_interrupted(bench, EXPERIMENT, &endless, &|| export(&server))?;
    let indexes = secondary_indexes(&server)?;
    let pairs = pairs(
        ROUNDS,
        |_| {
            // A kept copy would be no load.
            let _ = std::fs::remove_dir_all(bench.cache());
            bench.experiment(EXPERIMENT, &text, &[])?;
            load_s(bench, EXPERIMENT)
        },
        |_| copied(&server, &indexes),
    )?;
    let (ours_s, copied_s): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    println!("{WAREHOUSES} warehouses ({ROUNDS} pairs):");
    print("  LOAD DATA by mariadb, one connection", &copied_s, 1, " s");
    print("  our load", &ours_s, 1, " s");
    print_ratios("load time ours / LOAD DATA (goal 1.2)", &ratios(&pairs));
    Ok(())
}

/// Writes the rows of our tables to files and keeps their structure, once they are filled; false:
/// they are not yet.
fn export(server: &Server) -> Result<bool, String> {
    // The procedures are created once all tables are filled.
    let ready = "SELECT routine_schema FROM information_schema.routines WHERE routine_name = \
                 'order_entry_stock_level'";
    let found = server.sql(ready)?;
    let Some(schema) = found.lines().next().map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(false);
    };
    let tables = TABLES.map(|table| {
        let file = server.file(&format!("{table}.txt"));
        format!(
            "CREATE TABLE {EMPTY}.{table} LIKE `{schema}`.{table}; SELECT * FROM \
             `{schema}`.{table} INTO OUTFILE '{}'",
            file.display()
        )
    });
    server.sql(&format!("CREATE DATABASE {EMPTY}; {}", tables.join("; ")))?;
    Ok(true)
}

/// A secondary index.
struct Index {
    table: String,
    name: String,
    columns: String,
}

impl Index {
    /// Reads a row of the client: table, name and columns between tabs.
    fn parse(line: &str) -> Result<Self, String> {
        let mut cells = line.split('\t').map(str::to_owned);
        let mut next = || cells.next().ok_or_else(|| format!("no index: {line:?}"));
        Ok(Self { table: next()?, name: next()?, columns: next()? })
    }
}

fn secondary_indexes(server: &Server) -> Result<Vec<Index>, String> {
    let found = server.sql(&format!(
        "SELECT table_name, index_name, group_concat(column_name ORDER BY seq_in_index) FROM \
         information_schema.statistics WHERE table_schema = '{EMPTY}' AND index_name <> 'PRIMARY' \
         GROUP BY table_name, index_name"
    ))?;
    found.lines().map(Index::parse).collect()
}

/// The time to create the tables and fill them from the files.
fn copied(server: &Server, indexes: &[Index]) -> Result<f64, String> {
    server.sql(&format!("DROP DATABASE IF EXISTS {COPIED}; CREATE DATABASE {COPIED}"))?;
    let start = Instant::now();
    let setup = format!("USE {COPIED}; SET unique_checks = 0, foreign_key_checks = 0");
    let create = TABLES.map(|table| format!("CREATE TABLE {table} LIKE {EMPTY}.{table}"));
    let without_indexes = indexes
        .iter()
        .map(|Index { table, name, .. }| format!("ALTER TABLE {table} DROP INDEX {name}"));
    let fill = TABLES.map(|table| {
        let file = server.file(&format!("{table}.txt"));
        format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE {table}", file.display())
    });
    let with_indexes = indexes.iter().map(|Index { table, name, columns }| {
        format!("ALTER TABLE {table} ADD INDEX {name} ({columns})")
    });
    let analyze = format!("ANALYZE TABLE {}", TABLES.join(", "));
    let script: Vec<String> = std::iter::once(setup)
        .chain(create)
        .chain(without_indexes)
        .chain(fill)
        .chain(with_indexes)
        .chain([analyze])
        .collect();
    server.sql(&script.join("; "))?;
    Ok(start.elapsed().as_secs_f64())
}

fn experiment(url: &str, logic: &str, warehouses: u32, load: &str) -> String {
    format!(
        "[target]\nengine = \"mariadb\"\nurl = \"{url}\"\n[workload]\nprobe = \
         \"order-entry\"\nlogic = \"{logic}\"\nwarehouses = \
         {warehouses}\n{load}[observe]\nwaits = false\n[repeats]\nblocks = 1\n"
    )
}
