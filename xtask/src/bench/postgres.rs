//! What our load costs beside PostgreSQL's own client programs, on one server.

use super::peer_server::{PeerServer, Used, used};
use super::run::Bench;
use super::{mean_and_interval, median_and_range};
use serde_json::Value;
use std::path::Path;

/// Rounds of A and B.
const ROUNDS: u64 = 5;
/// Seconds of a measurement.
const SECONDS: u64 = 3;
const CONNECTIONS: [u32; 3] = [1, 16, 64];
/// 100,000 accounts each.
const SCALE: u32 = 5;
/// Rows of the population.
const ROWS: u64 = 5_000_000;

/// A load as pgbench and we are asked for it.
struct Load {
    name: &'static str,
    pgbench: &'static [&'static str],
    ours: &'static str,
}

const INSERT_SCRIPT: &str = "insert.sql";

const LOADS: [Load; 2] = [
    Load { name: "select-only", pgbench: &["-S"], ours: "builtin = \"select-only\"" },
    Load { name: "single-row insert", pgbench: &["-f", INSERT_SCRIPT], ours: "script = \"insert.sql\"" },
];

/// One run: transactions a second and CPU of the client for each transaction.
#[derive(Debug, Clone, Copy)]
struct Cost {
    tps: f64,
    cpu_us: f64,
}

/// Client CPU for each transaction and throughput against `pgbench -M prepared`.
pub fn client_cpu(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench)?;
    for load in &LOADS {
        for connections in CONNECTIONS {
            let pairs = alternate(
                || pgbench(&server, bench, load, connections),
                || ours(&server, bench, load.ours, connections, "observe.waits = false"),
            )?;
            println!("{}, {connections} connections ({ROUNDS} pairs of {SECONDS} s):", load.name);
            let cost =
                |of: fn(&(Cost, Cost)) -> f64| median_and_range(&pairs.iter().map(of).collect::<Vec<_>>());
            line("  pgbench CPU, us a transaction", cost(|(peer, _)| peer.cpu_us));
            line("  ours CPU, us a transaction", cost(|(_, ours)| ours.cpu_us));
            line("  CPU ours / pgbench", cost(|(peer, ours)| ours.cpu_us / peer.cpu_us));
            line("  throughput ours / pgbench", cost(|(peer, ours)| ours.tps / peer.tps));
        }
    }
    Ok(())
}

/// pgbench's built-in scripts run by pgbench and by us: the same throughput when the server is the
/// limit, which shows that the load is the same.
pub fn same_load(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench)?;
    for script in ["tpcb-like", "simple-update", "select-only"] {
        let text = format!("builtin = \"{script}\"");
        let load = |server: &PeerServer| {
            let arguments = ["-b", script];
            run_pgbench(server, &arguments, 8)
        };
        let pairs = alternate(|| load(&server), || ours(&server, bench, &text, 8, "observe.waits = false"))?;
        let ratios: Vec<f64> = pairs.iter().map(|(peer, ours)| ours.tps / peer.tps).collect();
        let (_, low, high) = mean_and_interval(&ratios);
        line(&format!("{script}, 8 connections: throughput ours / pgbench"), median_and_range(&ratios));
        println!("  geometric mean within [{low:.3}, {high:.3}] (95 %, paired t)");
    }
    Ok(())
}

/// What watching waits costs the load: throughput with 100 samples a second against none.
pub fn observer(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench)?;
    let run = |waits: bool| {
        ours(&server, bench, "builtin = \"select-only\"", 16, &format!("observe.waits = {waits}"))
    };
    let pairs = alternate(|| run(false), || run(true))?;
    let ratios: Vec<f64> = pairs.iter().map(|(off, on)| on.tps / off.tps).collect();
    let (_, low, high) = mean_and_interval(&ratios);
    line("select-only, 16 connections: throughput with waits at 100 Hz / without", median_and_range(&ratios));
    println!("  geometric mean within [{low:.3}, {high:.3}] (95 %, paired t)");
    Ok(())
}

/// Filling `MyBigTable` against `psql \copy` of the same rows.
pub fn population(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench)?;
    server.sql(
        "CREATE TABLE mybigtable (c1 uuid NOT NULL DEFAULT gen_random_uuid(), c2 timestamp NOT NULL DEFAULT now(), \
         c3 char(111) NOT NULL DEFAULT 'a', c4 int NOT NULL DEFAULT 1, c5 int NOT NULL DEFAULT 2, \
         c6 bigint NOT NULL DEFAULT 42, PRIMARY KEY (c1))",
    )?;
    let keys = server.file("keys.txt");
    let keys_text = server.sql(&format!("SELECT gen_random_uuid() FROM generate_series(1, {ROWS})"))?;
    std::fs::write(&keys, keys_text).map_err(|error| format!("{}: {error}", keys.display()))?;
    let copy = format!("\\copy mybigtable (c1) from '{}'", keys.display());
    let mut ratios = Vec::new();
    for round in 0..3 {
        let psql = || -> Result<f64, String> {
            server.sql("TRUNCATE mybigtable; CHECKPOINT")?;
            let started = std::time::Instant::now();
            server.peer("psql", &["-qX", "-c", &copy])?;
            Ok(started.elapsed().as_secs_f64())
        };
        let ours = || -> Result<f64, String> {
            let text = format!(
                "[target]\nengine = \"postgres\"\nurl = \"{}\"\n[workload]\nprobe = \"insert\"\nmethod = \"copy\"\n\
                 connections = 1\nrows = {ROWS}\nrows_per_transaction = 100000\n[observe]\nwaits = false\n[repeats]\nblocks = 1\n",
                server.url()
            );
            let trials = bench.experiment("bench-population", &text)?;
            trials.first().map(|trial| trial.elapsed_s).ok_or_else(|| "no trial was finished".into())
        };
        let (psql_s, ours_s) = if round % 2 == 0 {
            let psql_s = psql()?;
            (psql_s, ours()?)
        } else {
            let ours_s = ours()?;
            (psql()?, ours_s)
        };
        println!("  {ROWS} rows: psql \\copy {psql_s:.1} s, ours {ours_s:.1} s");
        ratios.push(psql_s / ours_s);
    }
    line("speed ours / psql \\copy, one connection", median_and_range(&ratios));
    Ok(())
}

/// A server with pgbench's tables and the table of the insert script.
fn prepared_server(bench: &Bench) -> Result<PeerServer, String> {
    let server = PeerServer::start()?;
    server.peer("pgbench", &["-i", "-q", "-s", &SCALE.to_string()])?;
    server.sql("CREATE TABLE bench_insert (id bigserial PRIMARY KEY, a int, b text)")?;
    let script = "\\set a random(1, 1000000)\nINSERT INTO bench_insert (a, b) VALUES (:a, 'some text');\n";
    let path = bench.folder.join(INSERT_SCRIPT);
    std::fs::write(&path, script).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(server)
}

fn pgbench(server: &PeerServer, bench: &Bench, load: &Load, connections: u32) -> Result<Cost, String> {
    let script = bench.folder.join(INSERT_SCRIPT);
    let in_folder = |argument: &&'static str| match *argument {
        INSERT_SCRIPT => script.to_string_lossy().into_owned(),
        other => other.to_owned(),
    };
    let arguments: Vec<String> = load.pgbench.iter().map(in_folder).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run_pgbench(server, &arguments, connections)
}

fn run_pgbench(server: &PeerServer, load: &[&str], connections: u32) -> Result<Cost, String> {
    let (connections, seconds) = (connections.to_string(), SECONDS.to_string());
    let common = ["-n", "-M", "prepared", "-j", "1", "-c", &connections, "-T", &seconds];
    let arguments: Vec<&str> = common.into_iter().chain(load.iter().copied()).collect();
    let Used { cpu_s, printed } = server.peer("pgbench", &arguments)?;
    let number = |label: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(label))?;
        line.split_whitespace().next()?.split('/').next()?.parse::<f64>().ok()
    };
    let transactions = number("number of transactions actually processed: ").ok_or(printed.clone())?;
    let tps = number("tps = ").ok_or(printed.clone())?;
    Ok(Cost { tps, cpu_us: cpu_s * 1e6 / transactions })
}

/// Our run of the same load on the same tables. The CPU is that of the whole process, start and
/// report included, as it is for pgbench.
fn ours(
    server: &PeerServer,
    bench: &Bench,
    load: &str,
    connections: u32,
    observe: &str,
) -> Result<Cost, String> {
    let (section, setting) = observe.split_once('.').unwrap_or((observe, ""));
    let text = format!(
        "[experiment]\nname = \"bench-postgres\"\n[target]\nengine = \"postgres\"\nurl = \"{}\"\n[workload]\nprobe = \"script\"\n\
         {load}\nscale = {SCALE}\ninitialize = false\nconnections = {connections}\nduration = {SECONDS}\n\
         [{section}]\n{setting}\n[repeats]\nblocks = 1\n",
        server.url()
    );
    let file = bench.folder.join("bench-postgres.toml");
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let program = bench.steelbench.to_string_lossy().into_owned();
    let command = [&program, "run", &file.to_string_lossy(), "--fresh", "--json"].map(str::to_owned);
    let Used { cpu_s, printed } = used(Path::new(&bench.folder), &command)?;
    let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let finished =
        events.into_iter().find(|event| event["event"] == "trial_finished").ok_or(printed.clone())?;
    let response = |name: &str| {
        let found = finished["responses"].as_array()?.iter().find(|response| response["name"] == name)?;
        found["value"].as_f64()
    };
    let (tps, elapsed_s) = response("throughput").zip(response("elapsed")).ok_or("no throughput")?;
    Ok(Cost { tps, cpu_us: cpu_s * 1e6 / (tps * elapsed_s) })
}

/// Runs A and B in turn, which of them first in turn too.
fn alternate(
    a: impl Fn() -> Result<Cost, String>,
    b: impl Fn() -> Result<Cost, String>,
) -> Result<Vec<(Cost, Cost)>, String> {
    (0..ROUNDS)
        .map(|round| {
            if round % 2 == 0 {
                let first = a()?;
                Ok((first, b()?))
            } else {
                let first = b()?;
                Ok((a()?, first))
            }
        })
        .collect()
}

fn line(what: &str, (median, low, high): (f64, f64, f64)) {
    println!("{what}: median {median:.3} (range {low:.3} to {high:.3})");
}
