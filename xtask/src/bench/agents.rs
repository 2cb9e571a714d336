//! Load generators in other processes: the cost of their broker, and how far apart they start.

use super::run::Bench;
use crate::process::{cargo, succeed};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Numbers of agents that are measured, and the one that is only extrapolated to.
const AGENTS: [u32; 4] = [2, 4, 8, 16];
const EXTRAPOLATED: f64 = 100.0;
/// The broker's token: it listens on this machine only, and for these measurements.
const TOKEN: &str = "a-token-of-the-measurements";
/// Clock ticks a second of `/proc/PID/stat`.
const TICKS: f64 = 100.0;
/// Prints the start skews of all trials of a results file, in milliseconds.
const SKEWS: &str = "import sqlite3, sys\nfor (value,) in \
                     sqlite3.connect(sys.argv[1]).execute(\"SELECT value FROM facts WHERE name = \
                     'generator_start_skew'\"):\n    print(value)\n";

/// Messages and bytes a second through the broker, its CPU time, and the start skew, with 2 to 16
/// agents.
pub fn agents(bench: &Bench) -> Result<(), String> {
    succeed(&mut cargo(&["build", "--quiet", "--release", "--bin", "steelbench"]))?;
    let folder = bench.folder.join("agents");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let broker = Broker::start(&folder)?;
    println!("16 connections, 3 trials of about 10 s; rates are of the whole run");
    let mut rows = Vec::new();
    for count in AGENTS {
        let row = broker.measure(bench, count)?;
        println!("{count:>4} agents: {row}");
        rows.push((f64::from(count), row));
    }
    let at = |value: fn(&Row) -> f64| {
        let points: Vec<(f64, f64)> =
            rows.iter().map(|(count, row)| (*count, value(row))).collect();
        on_a_line(&points, EXTRAPOLATED)
    };
    println!(
        "{EXTRAPOLATED:>4.0} agents, extrapolated by a straight line and not measured: {:.0} \
         messages/s in, {:.0} out, {:.1} kB/s in, {:.1} out, {:.2} % of a core",
        at(|row| row.messages_in),
        at(|row| row.messages_out),
        at(|row| row.kilobytes_in),
        at(|row| row.kilobytes_out),
        at(|row| row.cpu_percent),
    );
    Ok(())
}

/// The value at `x` of the least-squares line through these points.
fn on_a_line(points: &[(f64, f64)], x: f64) -> f64 {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let products = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y));
    let squares = points.iter().map(|(x, _)| (x - mean_x).powi(2));
    mean_y + products.sum::<f64>() / squares.sum::<f64>() * (x - mean_x)
}

/// Figures of one number of agents.
struct Row {
    messages_in: f64,
    messages_out: f64,
    kilobytes_in: f64,
    kilobytes_out: f64,
    cpu_percent: f64,
    skews_ms: Vec<f64>,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let least = self.skews_ms.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.skews_ms.iter().copied().fold(0.0, f64::max);
        write!(
            f,
            "{:.0} messages/s in, {:.0} out, {:.1} kB/s in, {:.1} out, broker {:.2} % of a core, \
             start skew {least:.3} to {most:.3} ms in {} trials",
            self.messages_in,
            self.messages_out,
            self.kilobytes_in,
            self.kilobytes_out,
            self.cpu_percent,
            self.skews_ms.len(),
        )
    }
}

/// Processes that end with the measurement.
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A broker with counters.
struct Broker {
    process: Processes,
    folder: PathBuf,
    ports: Value,
}

/// Counters of the broker since its start.
struct Counted {
    at: Instant,
    messages: [f64; 2],
    bytes: [f64; 2],
    cpu_s: f64,
}

impl Broker {
    fn start(folder: &Path) -> Result<Self, String> {
        let config = folder.join("config");
        let place = folder.display();
        let text = format!(
            "listen: \"127.0.0.1:-1\"\nhttp: \"127.0.0.1:-1\"\nauthorization {{ token: \
             \"{TOKEN}\" }}\njetstream {{ store_dir: \"{place}/store\" }}\nports_file_dir: \
             \"{place}\"\n"
        );
        let written = std::fs::write(&config, text)
            .and_then(|()| std::fs::write(folder.join("token"), TOKEN))
            .and_then(|()| private(&folder.join("token")));
        written.map_err(|error| format!("{place}: {error}"))?;
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("nats-server: {error}"))?;
        let file = folder.join(format!("nats-server_{}.ports", child.id()));
        let mut server =
            Self { process: Processes(vec![child]), folder: folder.into(), ports: Value::Null };
        let started = Instant::now();
        while server.ports.is_null() {
            if started.elapsed() > Duration::from_secs(15) {
                return Err("nats-server does not start".into());
            }
            std::thread::sleep(Duration::from_millis(20));
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            server.ports = serde_json::from_str(&text).unwrap_or_default();
        }
        Ok(server)
    }

    fn url(&self, kind: &str) -> Result<&str, String> {
        self.ports[kind][0].as_str().ok_or_else(|| format!("the broker has no {kind} port"))
    }

    fn counted(&self) -> Result<Counted, String> {
        let address = self.url("monitoring")?.trim_start_matches("http://");
        let failed = |error: std::io::Error| format!("asking {address}: {error}");
        let mut stream = TcpStream::connect(address).map_err(failed)?;
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n").map_err(failed)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(failed)?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let varz: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let number = |name: &str| varz[name].as_f64().ok_or_else(|| format!("no {name} in varz"));
        Ok(Counted {
            at: Instant::now(),
            messages: [number("in_msgs")?, number("out_msgs")?],
            bytes: [number("in_bytes")?, number("out_bytes")?],
            cpu_s: self.cpu_s()?,
        })
    }

    fn cpu_s(&self) -> Result<f64, String> {
        let pid = self.process.0.first().map_or(0, Child::id);
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .map_err(|error| format!("/proc/{pid}/stat: {error}"))?;
        let fields =
            stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(11).take(2);
        Ok(fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS)
    }

    fn measure(&self, bench: &Bench, count: u32) -> Result<Row, String> {
        let token = self.folder.join("token").display().to_string();
        let url = self.url("nats")?;
        let start = |number: u32| {
            let mut agent = bench.command(&["agent", "--broker", url, "--token-file", &token]);
            agent.args(["--name", &format!("agent-{number}")]);
            agent.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let mut agents = Processes(Vec::new());
        for number in 1..=count {
            agents.0.push(start(number).map_err(|error| format!("an agent: {error}"))?);
        }
        let name = format!("bench-agents-{count}");
        let text = format!(
            "[target]\nengine = \"null\"\nreal_delay = \"5 ms\"\n[workload]\nprobe = \
             \"insert\"\nconnections = 16\nrows = 32000\nrows_per_transaction = 1\ngenerators = \
             {count}\n[repeats]\nblocks = 3\n"
        );
        let number = count.to_string();
        let before = self.counted()?;
        let flags = ["--agents", &number, "--broker", url, "--token-file", &token];
        bench.experiment(&name, &text, &flags)?;
        let after = self.counted()?;
        let results = bench.folder.join(format!("results/{name}.steelbench"));
        let mut python = Command::new("python3");
        let printed = crate::process::output(python.args(["-c", SKEWS]).arg(results))?;
        let seconds = after.at.duration_since(before.at).as_secs_f64();
        let a_second = |before: f64, after: f64| (after - before) / seconds;
        Ok(Row {
            messages_in: a_second(before.messages[0], after.messages[0]),
            messages_out: a_second(before.messages[1], after.messages[1]),
            kilobytes_in: a_second(before.bytes[0], after.bytes[0]) / 1e3,
            kilobytes_out: a_second(before.bytes[1], after.bytes[1]) / 1e3,
            cpu_percent: 100.0 * a_second(before.cpu_s, after.cpu_s),
            skews_ms: printed.lines().filter_map(|line| line.parse().ok()).collect(),
        })
    }
}

/// Only its owner can read the token.
fn private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}
