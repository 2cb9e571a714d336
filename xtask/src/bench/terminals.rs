//! The cost of many terminals of order entry, which are data and not threads.

use super::figures::print_goal;
use super::peer_server::PeerServer;
use super::run::Bench;

/// Runs of each logic, and the seconds of one after its ramp-up.
const ROUNDS: u64 = 3;
const SECONDS: u64 = 30;
/// All terminals have begun after the longest keying and a usual thinking time.
const WARMUP_S: u64 = 25;
const TERMINALS: u32 = 10_000;
const CONNECTIONS: u32 = 32;
/// Warehouses with a hundredth of the items and customers: the client's work is the same.
const WAREHOUSES: u32 = 200;
const REDUCED_BY: u32 = 100;
/// The most that they should take: CPUs, and megabytes of the process at its peak.
const CPUS_MAX: f64 = 1.0;
const MEMORY_MAX_MB: f64 = 300.0;

/// CPUs of the client while 10,000 terminals key in and think as specified, and the most memory of
/// its process, with the load and the check of the tables.
pub fn cost(bench: &Bench) -> Result<(), String> {
    let server = PeerServer::start()?;
    for logic in ["procedures", "client"] {
        let text = experiment(&server, logic);
        let (mut cpus, mut memory_mb, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let ran = bench.experiment("bench-terminals", &text, &[])?;
            let trial = ran.trial()?;
            let rate = trial.response("throughput")?;
            cpus.push(trial.response("client_cpu")? * rate / 1e6);
            memory_mb.push(ran.peak_mb);
            rates.push(rate);
        }
        println!("{TERMINALS} terminals on {CONNECTIONS} connections, logic = {logic}:");
        print_goal("  transactions a second", &rates, 0, "", f64::INFINITY);
        print_goal("  CPUs of the client", &cpus, 3, " CPUs", CPUS_MAX);
        print_goal("  most memory of the process", &memory_mb, 0, " MB", MEMORY_MAX_MB);
    }
    Ok(())
}

fn experiment(server: &PeerServer, logic: &str) -> String {
    format!(
        "[target]\nengine = \"postgres\"\nurl = \"{}\"\n[workload]\nprobe = \
         \"order-entry\"\nlogic = \"{logic}\"\nwarehouses = {WAREHOUSES}\nreduced_by = \
         {REDUCED_BY}\npace = 1\nterminals = {TERMINALS}\nconnections = \
         {CONNECTIONS}\nwarmup = \"{WARMUP_S} s\"\nduration = \"{SECONDS} \
         s\"\n[observe]\nwaits = false\n[repeats]\nblocks = 1\n",
        server.url()
    )
}
