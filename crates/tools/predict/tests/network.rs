//! Recordings whose truth is known: a closed queueing network makes their throughput.

use analysis::Summary;
use observations::{
    DeviceUse, Environment, MachineLoad, Observations, Recording, Response, TimeUse, WaitClass,
    Work,
};
use predict::models::network::{Service, Station, throughputs};
use predict::what_if;
use testing::recordings::{Random, done, plan, wait};

pub const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", "64"];

/// Seconds of a transaction on a processor, in a lock, waiting for its client.
pub const DEMANDS: [f64; 3] = [0.002, 0.0004, 0.006];

pub fn truth(processors: u32, [cpu, lock, client]: [f64; 3], n: f64) -> f64 {
    let queue = |demand_s, servers| Station { demand_s, service: Service::Servers(servers) };
    let stations = [
        queue(cpu, processors),
        queue(lock, 1),
        Station { demand_s: client, service: Service::Delay },
    ];
    *throughputs(&stations, n as usize).unwrap().last().unwrap()
}

/// A trial of ten seconds.
pub fn trial(n: f64, throughput: f64) -> Observations {
    let transactions = (throughput * 10.0) as u64;
    let waited = 10.0 * n - 10.0 * throughput * DEMANDS[0];
    Observations {
        elapsed_s: 10.0,
        connections: n as u32,
        responses: vec![Response::higher("throughput", "transactions/s", throughput)],
        work: Work {
            unit: "transaction".into(),
            amount: transactions,
            transactions,
            ..Work::default()
        },
        time: TimeUse {
            session_s: 10.0 * n,
            cpu_s: 10.0 * throughput * DEMANDS[0],
            ..TimeUse::default()
        },
        machine: MachineLoad {
            cpus: 2,
            own_s: 10.0 * throughput * DEMANDS[0],
            ..MachineLoad::default()
        },
        waits: vec![
            wait("WRITER_LOCK", WaitClass::Lock, 0.7 * waited, 0.0),
            wait("WAL_SYNC", WaitClass::Log, 0.3 * waited, 0.0),
        ],
        devices: vec![DeviceUse {
            volume: "log".into(),
            device: "vdb".into(),
            writes: transactions,
            write_s: throughput * 10.0 * 0.001,
            busy_s: 5.0,
            elapsed_s: 10.0,
            ..DeviceUse::default()
        }],
        ..Observations::default()
    }
}

/// Three blocks at each number of connections, errors of 2 %.
pub fn recording(of: impl Fn(f64) -> f64) -> Recording {
    recording_of("workload.connections", of)
}

/// A recording with levels of another factor.
pub fn recording_of(factor: &str, of: impl Fn(f64) -> f64) -> Recording {
    let mut recording = plan(&[(factor, &LEVELS)]);
    recording.environments = vec![Environment { cpus: 2, ..Environment::default() }];
    let mut random = Random::new(7);
    for (position, level) in LEVELS.iter().enumerate() {
        let n: f64 = level.parse().unwrap();
        for block in 1..=3 {
            recording.trials.push(done(
                position,
                block,
                trial(n, of(n) * (1.0 + 0.02 * random.normal())),
            ));
        }
    }
    recording
}

pub fn network() -> Recording {
    recording(|n| truth(2, DEMANDS, n))
}

pub fn sets(changes: &[&str]) -> Vec<String> {
    changes.iter().map(|&change| change.to_owned()).collect()
}

/// The truth of a target whose part that is not done side by side is served like this.
pub fn served(service: Service, [cpu, other, client]: [f64; 3], n: f64) -> f64 {
    let stations = [(cpu, Service::Servers(2)), (other, service), (client, Service::Delay)]
        .map(|(demand_s, service)| Station { demand_s, service });
    *throughputs(&stations, n as usize).unwrap().last().unwrap()
}

/// The law of a prediction, and its error against the truth at a number of connections.
pub fn law_and_error(summary: &Summary<'_>, connections: &str, truth: f64) -> (String, f64) {
    let found = what_if(summary, &sets(&[&format!("connections={connections}")])).unwrap();
    assert!(found.interval.contains(truth), "{found:?} {truth}");
    (found.changes[0].law.clone(), (found.throughput / truth - 1.0).abs())
}
