//! Order entry beside PostgreSQL's own programs: the client's CPU time against pgbench with the
//! same procedures, and the load against `psql \copy` of the same rows.

use super::figures::{pairs, print, print_ratios, ratios};
use super::peer_server::PeerServer;
use super::run::{Bench, Used};
use crate::process::{output, root};
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pairs of measurements, and the seconds of one.
const ROUNDS: u64 = 5;
const SECONDS: u64 = 5;
const CONNECTIONS: [u32; 2] = [1, 8];
/// Warehouses whose load is timed.
const WAREHOUSES: u32 = 2;
/// The nine tables.
pub const TABLES: [&str; 9] = [
    "warehouse",
    "district",
    "customer",
    "history",
    "orders",
    "new_order",
    "item",
    "stock",
    "order_line",
];
/// Schema of the peer's tables.
const PEER: &str = "peer";
/// Longest time until our load has filled the tables that the peer gets a copy of.
const FILLED_WITHIN: Duration = Duration::from_mins(5);

/// Scripts of pgbench and their cards in a deck: non-uniform customers and items, ten lines for
/// each order, customers by number.
const SCRIPTS: [(&str, u32, &str); 5] = [
    ("new-order", 10, ""),
    (
        "payment",
        10,
        "\\set district random(1, 10)\n\\set customer ((random(0, 1023) | random(1, 3000)) + 259) \
         % 3000 + 1\n\\set paid random(100, 500000)\nCALL order_entry_payment(:home, :district, \
         :home, :district, :customer::int, '', :paid / 100.0, now()::timestamp)\n",
    ),
    (
        "order-status",
        1,
        "\\set district random(1, 10)\n\\set customer ((random(0, 1023) | random(1, 3000)) + 259) \
         % 3000 + 1\nCALL order_entry_order_status(:home, :district, :customer::int, '')\n",
    ),
    (
        "delivery",
        1,
        "\\set carrier random(1, 10)\nCALL order_entry_delivery(:home, :carrier, \
         now()::timestamp)\n",
    ),
    (
        "stock-level",
        1,
        "\\set district random(1, 10)\n\\set threshold random(10, 20)\nCALL \
         order_entry_stock_level(:home, :district, :threshold)\n",
    ),
];

/// Throughput and the client's CPU time for each transaction.
pub struct Cost {
    /// Transactions a second.
    pub tps: f64,
    /// Microseconds of CPU time for each.
    pub cpu_us: f64,
}

/// Client CPU for each transaction and throughput against pgbench, both calling the same procedures
/// of the same tables.
pub fn client_cpu(bench: &Bench) -> Result<(), String> {
    let server = PeerServer::start()?;
    let warehouses = 1;
    fill_peer(bench, &server, warehouses)?;
    let scripts = write_scripts(bench, warehouses)?;
    for connections in CONNECTIONS {
        let pairs = pairs(
            ROUNDS,
            |_| ours(bench, &server, connections),
            |_| peer(&server, &scripts, connections),
        )?;
        println!("order entry, {connections} connections ({ROUNDS} pairs of {SECONDS} s):");
        print_costs("pgbench", &pairs);
    }
    Ok(())
}

/// Prints the costs of us and of a peer, in this order, and their ratios.
pub fn print_costs(peer: &str, pairs: &[(Cost, Cost)]) {
    let (cpu, tps): (Vec<_>, Vec<_>) =
        pairs.iter().map(|(a, b)| ((a.cpu_us, b.cpu_us), (a.tps, b.tps))).unzip();
    let (ours_us, peer_us): (Vec<_>, Vec<_>) = cpu.iter().copied().unzip();
    print(&format!("  {peer} CPU of a transaction"), &peer_us, 1, " us");
    print("  ours CPU of a transaction", &ours_us, 1, " us");
    print_ratios(&format!("  CPU ours / {peer}"), &ratios(&cpu));
    print_ratios(&format!("  throughput ours / {peer}"), &ratios(&tps));
}

/// The time of our load against that of `psql \copy` from existing files into the same tables, with
/// the same keys and indexes.
pub fn load(bench: &Bench) -> Result<(), String> {
    let server = PeerServer::start()?;
    fill_peer(bench, &server, WAREHOUSES)?;
    let file = |table: &str| server.file(&format!("{table}.csv"));
    for table in TABLES {
        let export = format!("\\copy {PEER}.{table} TO '{}' (FORMAT csv)", file(table).display());
        server.peer("psql", &["-qX", "-c", &export])?;
    }
    let indexes = server.sql(&format!(
        "SELECT replace(pg_get_indexdef(indexrelid), '{PEER}.', 'copied.') FROM pg_index JOIN \
         pg_class t ON t.oid = indrelid WHERE relnamespace = '{PEER}'::regnamespace"
    ))?;
    let text = experiment(&server, WAREHOUSES, "connections = 1\ntransactions = 1\n");
    let copied = || {
        server.sql("DROP SCHEMA IF EXISTS copied CASCADE; CREATE SCHEMA copied; CHECKPOINT")?;
        let start = Instant::now();
        for table in TABLES {
            server.sql(&format!("CREATE TABLE copied.{table} (LIKE {PEER}.{table})"))?;
            let copy =
                format!("\\copy copied.{table} FROM '{}' (FORMAT csv)", file(table).display());
            server.peer("psql", &["-qX", "-c", &copy])?;
        }
        for index in indexes.lines() {
            server.sql(index)?;
        }
        server.sql(&format!("VACUUM ANALYZE copied.{}", TABLES.join(", copied.")))?;
        Ok(start.elapsed().as_secs_f64())
    };
    let ours = || {
        // A kept copy would be no load.
        let _ = std::fs::remove_dir_all(bench.cache());
        bench.experiment(EXPERIMENT, &text, &[])?;
        load_s(bench, EXPERIMENT)
    };
    let pairs = pairs(ROUNDS, |_| ours(), |_| copied())?;
    for (ours_s, copied_s) in &pairs {
        println!("  {WAREHOUSES} warehouses: ours {ours_s:.1} s, psql \\copy {copied_s:.1} s");
    }
    print_ratios("load time ours / psql \\copy (goal 1.2)", &ratios(&pairs));
    Ok(())
}

/// Seconds of the load of an experiment's last trial.
pub fn load_s(bench: &Bench, experiment: &str) -> Result<f64, String> {
    let results = bench.folder.join("results").join(format!("{experiment}.steelbench"));
    let sql = "SELECT value FROM facts WHERE name = 'load_s' ORDER BY trial DESC LIMIT 1";
    let printed = output(Command::new("sqlite3").arg(results).arg(sql))?;
    printed.trim().parse::<f64>().map_err(|error| format!("load_s {printed:?}: {error}"))
}

/// Name of our experiments.
const EXPERIMENT: &str = "bench-order-entry";

fn experiment(server: &PeerServer, warehouses: u32, load: &str) -> String {
    format!(
        "[target]\nengine = \"postgres\"\nurl = \"{}\"\n[workload]\nprobe = \
         \"order-entry\"\nlogic = \"procedures\"\nwarehouses = \
         {warehouses}\n{load}[observe]\nwaits = false\n[repeats]\nblocks = 1\n",
        server.url()
    )
}

/// Copies our tables into a schema of the peer's, while our run has them.
fn fill_peer(bench: &Bench, server: &PeerServer, warehouses: u32) -> Result<(), String> {
    let endless = experiment(server, warehouses, "connections = 1\nduration = \"1 h\"\n");
    until_interrupted(bench, EXPERIMENT, &endless, &|| copy(server))
}

/// Starts an experiment and interrupts it once `use_tables` has used its tables: it is asked again
/// until it returns true.
pub fn until_interrupted(
    bench: &Bench,
    name: &str,
    experiment: &str,
    use_tables: &dyn Fn() -> Result<bool, String>,
) -> Result<(), String> {
    let file = bench.folder.join(format!("{name}-tables.toml"));
    let text = format!("[experiment]\nname = \"{name}-tables\"\n{experiment}");
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut run = bench.command(&["run"]);
    run.arg(&file).arg("--fresh").stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = run.spawn().map_err(|error| format!("steelbench: {error}"))?;
    let start = Instant::now();
    let used = loop {
        match use_tables() {
            Ok(false) if start.elapsed() <= FILLED_WITHIN => {
                std::thread::sleep(Duration::from_millis(200));
            }
            Ok(false) => break Err("the tables of order entry were not filled in time".into()),
            Ok(true) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    // An interrupted run removes its tables.
    let pid = child.id().to_string();
    output(Command::new("kill").args(["-s", "INT", &pid]))?;
    child.wait().map_err(|error| format!("steelbench: {error}"))?;
    used
}

/// Copies our tables, once they are filled; false: they are not yet.
fn copy(server: &PeerServer) -> Result<bool, String> {
    // The procedures are created once all tables are filled.
    let ready = "SELECT count(*) FROM pg_proc WHERE proname = 'order_entry_stock_level'";
    if server.sql(ready)?.trim() != "1" {
        return Ok(false);
    }
    let copies = TABLES.map(|table| {
        format!(
            "CREATE TABLE {PEER}.{table} (LIKE steelbench.{table} INCLUDING ALL); INSERT INTO \
             {PEER}.{table} SELECT * FROM steelbench.{table}"
        )
    });
    // One snapshot of all tables, which our transactions change.
    let script = format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE SCHEMA {PEER}; {}; COMMIT",
        copies.join("; ")
    );
    server.sql(&script)?;
    let procedures = root().join("crates/studies/order_entry/src/procedures/postgres.sql");
    let procedures = std::fs::read_to_string(&procedures)
        .map_err(|error| format!("{}: {error}", procedures.display()))?;
    server.sql(&format!("SET search_path = {PEER}; {procedures}"))?;
    server.sql(&format!("ALTER ROLE CURRENT_USER SET search_path = {PEER}"))?;
    server.sql("VACUUM ANALYZE")?;
    Ok(true)
}

/// Writes the scripts of pgbench; gives the arguments that name them with their weights.
fn write_scripts(bench: &Bench, warehouses: u32) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    for (name, cards, text) in SCRIPTS {
        let path = bench.folder.join(format!("{name}.pgbench"));
        let text = if name == "new-order" { new_order() } else { text.to_owned() };
        std::fs::write(&path, format!("\\set home random(1, {warehouses})\n{text}"))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        arguments.extend(["-f".to_owned(), format!("{}@{cards}", path.display())]);
    }
    Ok(arguments)
}

/// A new order of ten lines.
fn new_order() -> String {
    let lines = 1..=10;
    let mut script = "\\set district random(1, 10)\n\\set customer ((random(0, 1023) | random(1, \
                      3000)) + 259) % 3000 + 1\n"
        .to_owned();
    for line in lines.clone() {
        // Writing to memory cannot fail.
        let _ = writeln!(
            script,
            "\\set item{line} ((random(0, 8191) | random(1, 100000)) + 7911) % 100000 + 1\n\\set \
             quantity{line} random(1, 10)"
        );
    }
    let list = |name: &str| {
        lines.clone().map(|line| format!(":{name}{line}")).collect::<Vec<_>>().join(", ")
    };
    script
        + &format!(
            "CALL order_entry_new_order(:home, :district, :customer::int, now()::timestamp, 1, \
             ARRAY[{}]::int[], ARRAY[{}]::int[], ARRAY[{}]::int[])\n",
            list("item"),
            [":home"; 10].join(", "),
            list("quantity")
        )
}

fn peer(server: &PeerServer, scripts: &[String], connections: u32) -> Result<Cost, String> {
    let (connections, seconds) = (connections.to_string(), SECONDS.to_string());
    let common = ["-n", "-M", "simple", "-j", "1", "-c", &connections, "-T", &seconds];
    let arguments: Vec<&str> =
        common.into_iter().chain(scripts.iter().map(String::as_str)).collect();
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

/// Our run on tables of its own. The CPU is that of the load's thread: the rest of the process
/// fills and checks the tables.
fn ours(bench: &Bench, server: &PeerServer, connections: u32) -> Result<Cost, String> {
    let load = format!("connections = {connections}\nduration = \"{SECONDS} s\"\n");
    let ran = bench.experiment(EXPERIMENT, &experiment(server, 1, &load), &[])?;
    let trial = ran.trial()?;
    Ok(Cost { tps: trial.response("throughput")?, cpu_us: trial.response("client_cpu")? })
}
