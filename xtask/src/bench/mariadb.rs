//! Cost of our load against sysbench and MariaDB's own client programs, on servers of Debian's
//! version.

use super::figures::{cpu_s, pairs, print, print_ratios, ratios};
use super::maria_server::{OFF, Server};
use super::run::{Bench, Used, used};
use crate::process::output;
use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

/// Rounds of A and B.
const ROUNDS: u64 = 3;
/// Rounds for CPU times, which vary more from run to run.
const CPU_ROUNDS: u64 = 7;
/// Rounds of three servers, whose difference is small.
const SCHEMA_ROUNDS: usize = 9;
/// Seconds of a measurement.
const SECONDS: u64 = 3;
const CONNECTIONS: [u32; 2] = [16, 64];
/// Rows of sysbench's table.
const ROWS: u64 = 100_000;
/// Statements of a run of mariadb-slap.
const SLAP: u64 = 100_000;
/// Scale factor of pgbench's tables that are populated: 100,000 accounts each.
const SCALE: u64 = 20;
const SCRIPT: &str = "point-select.sql";
/// Instruments of a private server, and the server's own defaults.
const OURS: &[&str] = &[
    "--performance-schema=ON",
    "--performance-schema-instrument=wait/%=ON",
    "--performance-schema-instrument=idle=ON",
];
const DEFAULTS: &[&str] = &["--performance-schema=ON"];

/// A run: transactions a second, and CPU of the client or of the server for each transaction.
#[derive(Debug, Clone, Copy)]
struct Cost {
    tps: f64,
    cpu_us: f64,
}

/// Runs the load by another program on this number of connections.
type Peer = fn(&Server, u32) -> Result<Cost, String>;

/// Client CPU for each point-select and throughput against sysbench and mariadb-slap, which sends
/// it as text.
pub fn client_cpu(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench, "cpu", OFF)?;
    let peers: [(&str, &str, Peer); 2] =
        [("sysbench", "prepared", sysbench), ("mariadb-slap", "simple", slap)];
    for (name, protocol, peer) in peers {
        for connections in CONNECTIONS {
            let pairs = pairs(
                CPU_ROUNDS,
                |_| ours(&server, bench, protocol, connections),
                |_| peer(&server, connections),
            )?;
            println!(
                "point-select, {connections} connections ({CPU_ROUNDS} pairs of {SECONDS} s):"
            );
            let (cpu, tps): (Vec<_>, Vec<_>) =
                pairs.iter().map(|(a, b)| ((a.cpu_us, b.cpu_us), (a.tps, b.tps))).unzip();
            let (ours_us, peer_us): (Vec<_>, Vec<_>) = cpu.iter().copied().unzip();
            print(&format!("  {name} CPU of a transaction"), &peer_us, 2, " us");
            print("  ours CPU of a transaction", &ours_us, 2, " us");
            print_ratios(&format!("  CPU ours / {name}"), &ratios(&cpu));
            print_ratios(&format!("  throughput ours / {name}"), &ratios(&tps));
        }
    }
    Ok(())
}

/// Cost of the Performance Schema for point-selects: off, on with its defaults, and on with the
/// instruments of private servers. Three servers, interleaved in a new order each round;
/// throughput, and the server's CPU time per transaction.
pub fn performance_schema(bench: &Bench) -> Result<(), String> {
    const KINDS: [(&str, &[&str]); 3] = [
        ("off", OFF),
        ("on, with its defaults", DEFAULTS),
        ("on, with all instruments of waits", OURS),
    ];
    let servers = KINDS
        .iter()
        .zip(["off", "on", "all"])
        .map(|((_, arguments), name)| prepared_server(bench, name, arguments));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    let mut costs = vec![Vec::new(); KINDS.len()];
    for round in 0..SCHEMA_ROUNDS {
        for turn in 0..KINDS.len() {
            let kind = (round + turn) % KINDS.len();
            costs[kind].push(servers[kind].cost_of_point_selects(bench)?);
        }
    }
    println!("point-select, 16 connections ({SCHEMA_ROUNDS} rounds of {SECONDS} s):");
    for ((kind, _), costs) in KINDS.iter().zip(&costs) {
        let cpu: Vec<f64> = costs.iter().map(|cost| cost.cpu_us).collect();
        print(&format!("  server CPU of a transaction, {kind}"), &cpu, 2, " us");
    }
    for ((kind, _), on) in KINDS.iter().zip(&costs).skip(1) {
        let (cpu, tps): (Vec<_>, Vec<_>) = on
            .iter()
            .zip(&costs[0])
            .map(|(on, off)| ((on.cpu_us, off.cpu_us), (on.tps, off.tps)))
            .unzip();
        print_ratios(&format!("  throughput {kind} / off"), &ratios(&tps));
        print_ratios(&format!("  server CPU {kind} / off"), &ratios(&cpu));
    }
    Ok(())
}

/// Filling pgbench's accounts against LOAD DATA LOCAL by the `mariadb` client: the same rows into
/// the same table, created before, analysed and dropped afterwards.
pub fn population(bench: &Bench) -> Result<(), String> {
    let server = Server::start("fill", OFF)?;
    let rows = SCALE * 100_000;
    let file = server.file("rows.txt");
    let filler = " ".repeat(84);
    let mut text = String::new();
    for aid in 1..=rows {
        // Writing to memory cannot fail.
        let _ = writeln!(text, "{aid}\t{}\t0\t{filler}", (aid - 1) / 100_000 + 1);
    }
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let load = format!(
        "CREATE DATABASE peer CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; USE peer; SET \
         unique_checks = 0; CREATE TABLE accounts (aid int NOT NULL, bid int, abalance int, \
         filler char(84), PRIMARY KEY (aid)); LOAD DATA LOCAL INFILE '{}' INTO TABLE accounts; \
         ANALYZE TABLE accounts; DROP DATABASE peer",
        file.display()
    );
    let pairs = pairs(
        ROUNDS,
        |_| {
            let started = Instant::now();
            server.sql(&load)?;
            Ok(started.elapsed().as_secs_f64())
        },
        |_| {
            let workload = format!(
                "builtin = \"select-only\"\nscale = {SCALE}\nconnections = 1\ntransactions = 1"
            );
            let ran = bench.experiment("bench-mariadb", &experiment(&server, &workload), &[])?;
            Ok(ran.trial()?.wall_s - ran.trial()?.response("elapsed")?)
        },
    )?;
    for (peer_s, ours_s) in &pairs {
        println!("  {rows} rows: LOAD DATA by mariadb {peer_s:.1} s, ours {ours_s:.1} s");
    }
    print_ratios("speed ours / LOAD DATA by mariadb", &ratios(&pairs));
    Ok(())
}

/// A server with sysbench's table, and the script of its point-select.
fn prepared_server(bench: &Bench, name: &str, options: &[&str]) -> Result<Server, String> {
    let server = Server::start(name, options)?;
    server.sql("CREATE DATABASE sbtest")?;
    output(server.sysbench(1).arg("prepare"))?;
    let script =
        format!("\\set id random(1, {ROWS})\nSELECT c FROM sbtest.sbtest1 WHERE id = :id;\n");
    let path = bench.folder.join(SCRIPT);
    std::fs::write(&path, script).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(server)
}

/// Our run. The CPU is that of the whole process, start and report included, as it is for the
/// peers.
fn ours(server: &Server, bench: &Bench, protocol: &str, connections: u32) -> Result<Cost, String> {
    let workload = format!(
        "script = \"{SCRIPT}\"\nprotocol = \"{protocol}\"\nconnections = {connections}\nduration \
         = {SECONDS}"
    );
    let ran = bench.experiment("bench-mariadb", &experiment(server, &workload), &[])?;
    let (tps, elapsed_s) =
        (ran.trial()?.response("throughput")?, ran.trial()?.response("elapsed")?);
    Ok(Cost { tps, cpu_us: ran.cpu_s * 1e6 / (tps * elapsed_s) })
}

fn experiment(server: &Server, workload: &str) -> String {
    format!(
        "[target]\nengine = \"mariadb\"\nurl = \
         \"mariadb://root@localhost/?socket={}\"\n[workload]\nprobe = \
         \"script\"\n{workload}\n[observe]\nwaits = false\n[repeats]\nblocks = 1\n",
        server.socket()
    )
}

fn sysbench(server: &Server, connections: u32) -> Result<Cost, String> {
    let Used { cpu_s, printed, .. } = used(server.sysbench(connections).arg("run"))?;
    let line = printed.lines().find_map(|line| line.trim().strip_prefix("transactions:"));
    let mut numbers =
        line.unwrap_or_default().split(['(', ' ']).filter_map(|part| part.parse::<f64>().ok());
    let (transactions, tps) = numbers.next().zip(numbers.next()).ok_or(printed.clone())?;
    Ok(Cost { tps, cpu_us: cpu_s * 1e6 / transactions })
}

fn slap(server: &Server, connections: u32) -> Result<Cost, String> {
    let queries = server.file("queries.sql");
    let mut text = String::new();
    for number in 0..1000 {
        let _ = writeln!(text, "SELECT c FROM sbtest1 WHERE id = {};", number * 97 % ROWS + 1);
    }
    std::fs::write(&queries, text).map_err(|error| format!("{}: {error}", queries.display()))?;
    let mut slap = Command::new("mysqlslap");
    slap.args([
        "--no-defaults",
        "--user=root",
        "--create-schema=sbtest",
        "--no-drop",
        "--delimiter=;",
    ]);
    slap.arg(format!("--socket={}", server.socket())).arg(format!("--query={}", queries.display()));
    slap.arg(format!("--concurrency={connections}")).arg(format!("--number-of-queries={SLAP}"));
    let Used { cpu_s, printed, .. } = used(&slap)?;
    let line = printed
        .lines()
        .find_map(|line| line.split_once("Average number of seconds to run all queries:"));
    let seconds = line.and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<f64>().ok());
    let seconds = seconds.filter(|seconds| *seconds > 0.0).ok_or(printed.clone())?;
    Ok(Cost { tps: SLAP as f64 / seconds, cpu_us: cpu_s * 1e6 / SLAP as f64 })
}

impl Server {
    /// Our run of point-selects, with the CPU of this server for each.
    fn cost_of_point_selects(&self, bench: &Bench) -> Result<Cost, String> {
        let before_s = cpu_s(&self.pid(), 2)?;
        let tps = ours(self, bench, "prepared", 16)?.tps;
        Ok(Cost { tps, cpu_us: (cpu_s(&self.pid(), 2)? - before_s) * 1e6 / (tps * SECONDS as f64) })
    }

    fn sysbench(&self, connections: u32) -> Command {
        let mut sysbench = Command::new("sysbench");
        sysbench.args([
            "oltp_point_select",
            "--db-driver=mysql",
            "--mysql-user=root",
            "--rand-type=uniform",
        ]);
        sysbench
            .arg(format!("--mysql-socket={}", self.socket()))
            .arg(format!("--table-size={ROWS}"));
        sysbench.arg(format!("--threads={connections}")).arg(format!("--time={SECONDS}"));
        sysbench
    }
}
