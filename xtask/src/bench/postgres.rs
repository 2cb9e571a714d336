//! Cost of our load against PostgreSQL's own client programs, on one server.

use super::figures::{pairs, print, print_ratios, ratios};
use super::peer_server::PeerServer;
use super::run::{Bench, Used};
use std::time::Instant;

/// Rounds of A and B.
const ROUNDS: u64 = 5;
/// Seconds of a measurement.
const SECONDS: u64 = 3;
const CONNECTIONS: [u32; 3] = [1, 16, 64];
/// 100,000 accounts each.
const SCALE: u32 = 5;
/// Rows of the population.
const ROWS: u64 = 5_000_000;

const INSERT_SCRIPT: &str = "insert.sql";

/// A run: transactions a second and CPU of the client for each transaction.
#[derive(Debug, Clone, Copy)]
struct Cost {
    tps: f64,
    cpu_us: f64,
}

/// Client CPU for each transaction and throughput against `pgbench -M prepared`.
pub fn client_cpu(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench)?;
    let script = bench.folder.join(INSERT_SCRIPT);
    let script = script.to_string_lossy();
    let insert = format!("script = \"{INSERT_SCRIPT}\"");
    let loads: [(&str, &[&str], &str); 2] = [
        ("select-only", &["-S"], "builtin = \"select-only\""),
        ("single-row insert", &["-f", &script], &insert),
    ];
    for (name, pgbench, load) in loads {
        for connections in CONNECTIONS {
            let pairs = pairs(
                ROUNDS,
                |_| ours(&server, bench, load, connections, false),
                |_| run_pgbench(&server, pgbench, connections),
            )?;
            println!("{name}, {connections} connections ({ROUNDS} pairs of {SECONDS} s):");
            let (cpu, tps): (Vec<_>, Vec<_>) =
                pairs.iter().map(|(a, b)| ((a.cpu_us, b.cpu_us), (a.tps, b.tps))).unzip();
            let (ours_us, peer_us): (Vec<_>, Vec<_>) = cpu.iter().copied().unzip();
            print("  pgbench CPU of a transaction", &peer_us, 3, " us");
            print("  ours CPU of a transaction", &ours_us, 3, " us");
            print_ratios("  CPU ours / pgbench", &ratios(&cpu));
            print_ratios("  throughput ours / pgbench", &ratios(&tps));
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
        let ours = |_| ours(&server, bench, &text, 8, false).map(|cost| cost.tps);
        let peer = |_| run_pgbench(&server, &["-b", script], 8).map(|cost| cost.tps);
        let what = format!("{script}, 8 connections: throughput ours / pgbench");
        print_ratios(&what, &ratios(&pairs(ROUNDS, ours, peer)?));
    }
    Ok(())
}

/// Cost of watching waits: throughput with 100 samples per second against none.
pub fn observer(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench)?;
    let run =
        |waits| ours(&server, bench, "builtin = \"select-only\"", 16, waits).map(|cost| cost.tps);
    let ratios = ratios(&pairs(ROUNDS, |_| run(true), |_| run(false))?);
    print_ratios("select-only, 16 connections: throughput with waits at 100 Hz / without", &ratios);
    Ok(())
}

/// Filling `MyBigTable` against `psql \copy` of the same rows.
pub fn population(bench: &Bench) -> Result<(), String> {
    let server = prepared_server(bench)?;
    server.sql(
        "CREATE TABLE mybigtable (c1 uuid NOT NULL DEFAULT gen_random_uuid(), c2 timestamp NOT \
         NULL DEFAULT now(), c3 char(111) NOT NULL DEFAULT 'a', c4 int NOT NULL DEFAULT 1, c5 int \
         NOT NULL DEFAULT 2, c6 bigint NOT NULL DEFAULT 42, PRIMARY KEY (c1))",
    )?;
    let keys = server.file("keys.txt");
    let keys_text =
        server.sql(&format!("SELECT gen_random_uuid() FROM generate_series(1, {ROWS})"))?;
    std::fs::write(&keys, keys_text).map_err(|error| format!("{}: {error}", keys.display()))?;
    let copy = format!("\\copy mybigtable (c1) from '{}'", keys.display());
    let text = format!(
        "[target]\nengine = \"postgres\"\nurl = \"{}\"\n[workload]\nprobe = \"insert\"\nmethod = \
         \"copy\"\nconnections = 1\nrows = {ROWS}\nrows_per_transaction = \
         100000\n[observe]\nwaits = false\n[repeats]\nblocks = 1\n",
        server.url()
    );
    let pairs = pairs(
        3,
        |_| {
            server.sql("TRUNCATE mybigtable; CHECKPOINT")?;
            let started = Instant::now();
            server.peer("psql", &["-qX", "-c", &copy])?;
            Ok(started.elapsed().as_secs_f64())
        },
        |_| bench.experiment("bench-population", &text, &[])?.trial()?.response("elapsed"),
    )?;
    for (psql_s, ours_s) in &pairs {
        println!("  {ROWS} rows: psql \\copy {psql_s:.1} s, ours {ours_s:.1} s");
    }
    print_ratios("speed ours / psql \\copy, one connection", &ratios(&pairs));
    Ok(())
}

/// A server with pgbench's tables and the table of the insert script.
fn prepared_server(bench: &Bench) -> Result<PeerServer, String> {
    let server = PeerServer::start()?;
    server.peer("pgbench", &["-i", "-q", "-s", &SCALE.to_string()])?;
    server.sql("CREATE TABLE bench_insert (id bigserial PRIMARY KEY, a int, b text)")?;
    let script =
        "\\set a random(1, 1000000)\nINSERT INTO bench_insert (a, b) VALUES (:a, 'some text');\n";
    let path = bench.folder.join(INSERT_SCRIPT);
    std::fs::write(&path, script).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(server)
}

fn run_pgbench(server: &PeerServer, load: &[&str], connections: u32) -> Result<Cost, String> {
    let (connections, seconds) = (connections.to_string(), SECONDS.to_string());
    let common = ["-n", "-M", "prepared", "-j", "1", "-c", &connections, "-T", &seconds];
    let arguments: Vec<&str> = common.into_iter().chain(load.iter().copied()).collect();
    let Used { cpu_s, printed, .. } = server.peer("pgbench", &arguments)?;
    let number = |label: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(label))?;
        line.split_whitespace().next()?.split('/').next()?.parse::<f64>().ok()
    };
    let transactions =
        number("number of transactions actually processed: ").ok_or(printed.clone())?;
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
    waits: bool,
) -> Result<Cost, String> {
    let text = format!(
        "[target]\nengine = \"postgres\"\nurl = \"{}\"\n[workload]\nprobe = \
         \"script\"\n{load}\nscale = {SCALE}\ninitialize = false\nconnections = \
         {connections}\nduration = {SECONDS}\n[observe]\nwaits = {waits}\n[repeats]\nblocks = 1\n",
        server.url()
    );
    let ran = bench.experiment("bench-postgres", &text, &[])?;
    let (tps, elapsed_s) =
        (ran.trial()?.response("throughput")?, ran.trial()?.response("elapsed")?);
    Ok(Cost { tps, cpu_us: ran.cpu_s * 1e6 / (tps * elapsed_s) })
}
