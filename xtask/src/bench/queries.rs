//! What `queries` costs the server that it asks.

use super::figures::{pairs, print, print_ratios, ratios};
use super::peer_server::PeerServer;
use super::run::Bench;
use crate::process::output;
use std::fmt::Write;
use std::fs::read_to_string;
use std::process::{Command, Stdio};

/// Pairs of a load that is watched and one that is not.
const ROUNDS: u64 = 8;
/// Twelve times as often as once a minute.
const EVERY: &str = "5s";
/// Intervals in a load of 30 s.
const INTERVALS: f64 = 6.0;
/// Statements that the server knows besides the load's.
const STATEMENTS: u32 = 5_000;
/// pgbench's load, the same work each time: about half a minute.
const LOAD: [&str; 11] = ["-n", "-M", "prepared", "-c", "4", "-j", "1", "-R", "1500", "-T", "30"];

/// Processor time of a server's processes, and of those of our sessions, s.
type Cost = (f64, f64);

/// Processor time of a server under the same load with `queries --every` and without, in turns.
pub fn server_share(bench: &Bench) -> Result<(), String> {
    let server = PeerServer::start_with(
        "-c shared_preload_libraries=pg_stat_statements -c pg_stat_statements.max=10000",
    )?;
    server.peer("pgbench", &["-i", "-q", "-s", "5"])?;
    server.sql("CREATE EXTENSION pg_stat_statements")?;
    let mut many = String::new();
    for number in 0..STATEMENTS {
        // By constants and names of columns the server does not tell statements apart. Writing to a text cannot fail.
        let (table, columns) = (number / 50, (number % 50) as usize);
        if columns == 0 {
            let _ = writeln!(many, "CREATE TABLE many_{table} (a int PRIMARY KEY);");
        }
        let _ = writeln!(many, "SELECT a{} FROM many_{table} WHERE a = 1;", ", a".repeat(columns));
    }
    let file = server.file("many.sql");
    std::fs::write(&file, many).map_err(|error| format!("{}: {error}", file.display()))?;
    server.peer("psql", &["-qAtX", "-o", "/dev/null", "-f", &file.to_string_lossy()])?;
    let pairs = pairs(ROUNDS, |_| cost(bench, &server, true), |_| cost(bench, &server, false))?;
    let (all, shares): (Vec<_>, Vec<_>) =
        pairs.iter().map(|(with, without)| ((with.0, without.0), 100.0 * with.1 / with.0)).unzip();
    println!("{STATEMENTS} statements, --every {EVERY}, {ROUNDS} pairs of 30 s:");
    print("  our sessions' share of the server's CPU", &shares, 2, " %");
    let each_ms: Vec<f64> = pairs.iter().map(|(with, _)| 1e3 * with.1 / INTERVALS).collect();
    print("  our sessions' CPU for each interval", &each_ms, 1, " ms");
    print_ratios("  CPU of the server with / without", &ratios(&all));
    Ok(())
}

fn cost(bench: &Bench, server: &PeerServer, is_watched: bool) -> Result<Cost, String> {
    let file = bench.folder.join("bench-queries.steelbench");
    let _ = std::fs::remove_file(&file);
    let before_s = server_cpu_s(server)?;
    let watch = || {
        let mut watch = bench.command(&["queries", &server.url(), "--every", EVERY, "--output"]);
        watch.arg(&file).stdout(Stdio::null()).spawn().map_err(|error| format!("steelbench: {error}"))
    };
    let mut watch = is_watched.then(watch).transpose()?;
    server.peer("pgbench", &LOAD)?;
    let ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'steelbench queries'";
    let own_s = server.sql(ours)?.lines().map(on_processor_s).sum::<Result<f64, String>>()?;
    let all_s = server_cpu_s(server)? - before_s;
    if let Some(watch) = &mut watch {
        output(Command::new("kill").args(["-INT", &watch.id().to_string()]))?;
        watch.wait().map_err(|error| format!("steelbench: {error}"))?;
    }
    Ok((all_s, own_s))
}

/// Of a process, by the scheduler's own count.
fn on_processor_s(pid: &str) -> Result<f64, String> {
    let text = read(&format!("/proc/{pid}/schedstat"))?;
    let ns = text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
    ns.map(|ns| ns / 1e9).ok_or_else(|| format!("/proc/{pid}/schedstat: {text}"))
}

/// Of a server: its processes, and those that have ended.
fn server_cpu_s(server: &PeerServer) -> Result<f64, String> {
    let pid = read(&server.file("data/postmaster.pid").to_string_lossy())?;
    let pid = pid.lines().next().unwrap_or_default().to_owned();
    let ended_s = ticks(&pid, 13..17)?;
    let children = read(&format!("/proc/{pid}/task/{pid}/children"))?;
    // One that ends meanwhile is counted with those that have ended next time.
    let living_s: f64 = children.split_whitespace().filter_map(|child| ticks(child, 13..15).ok()).sum();
    Ok(ended_s + living_s)
}

/// The sum of some fields of `proc_pid_stat(5)`, in ticks of 10 ms, as seconds.
fn ticks(pid: &str, fields: std::ops::Range<usize>) -> Result<f64, String> {
    let text = read(&format!("/proc/{pid}/stat"))?;
    // The name may have spaces.
    let behind_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let numbers = behind_name.split_whitespace().skip(fields.start - 2).take(fields.len());
    Ok(numbers.filter_map(|number| number.parse::<f64>().ok()).sum::<f64>() / 100.0)
}

fn read(path: &str) -> Result<String, String> {
    read_to_string(path).map_err(|error| format!("{path}: {error}"))
}
