//! Waits of the sessions of a trial, over a measurement.

use super::accounting::{Counts, Instruments};
use super::reading::{Reading, Scope};
use super::sampler::{Sampler, Samples};
use super::source::local_process;
use crate::client::{Client, Config};
use crate::errors::failed_at;
use engine::{
    Collection, EngineError, EngineUse, PageUse, Result, SessionPart, WaitCollector, lock,
};
use servers::load::Sessions;
use std::collections::BTreeMap;
use work::Cancel;

/// Takes the differences of the server's counters over a measurement.
pub struct MariaCollector {
    config: Config,
    sessions: Sessions<u32>,
    /// The server's process, where we started it.
    pid: Option<i32>,
    hz: f64,
    cancel: Cancel,
    running: Option<Running>,
}

struct Running {
    client: Client,
    sampler: Sampler,
    /// The counters at the beginning of each part of the measurement.
    readings: Vec<Reading>,
    /// The samples of each part that has ended.
    samples: Vec<Samples>,
    /// The server's process, where it is one of this machine.
    pid: Option<i32>,
}

impl MariaCollector {
    /// A collector for the sessions with these numbers; `hz`: looks a second.
    pub fn new(
        config: Config,
        sessions: Sessions<u32>,
        pid: Option<i32>,
        hz: f64,
        cancel: Cancel,
    ) -> Self {
        Self { config, sessions, pid, hz, cancel, running: None }
    }

    fn connect(&self) -> Result<Client> {
        Client::connect_until(&self.config, &self.cancel.stop())
            .map_err(failed_at("observing the server's waits"))
    }
}

impl WaitCollector for MariaCollector {
    fn start(&mut self) -> Result<()> {
        let sessions = lock(&self.sessions).clone();
        let sampler = Sampler::start(self.connect()?, &sessions, self.hz)?;
        let mut client = self.connect()?;
        // A private server may be another process than when the trial was prepared: a cold one is
        // restarted.
        let pid = local_process(&mut client, &self.config).or(self.pid);
        let before = Reading::read(&mut client, Scope::Sessions(&sessions), pid)?;
        let (readings, samples) = (vec![before], Vec::new());
        self.running = Some(Running { client, sampler, readings, samples, pid });
        Ok(())
    }

    fn divide(&mut self) -> Result<()> {
        let sessions = lock(&self.sessions).clone();
        if let Some(Running { client, sampler, readings, samples, pid }) = &mut self.running {
            readings.push(Reading::read(client, Scope::Sessions(&sessions), *pid)?);
            samples.push(sampler.take());
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<Collection> {
        let Running { mut client, sampler, mut readings, mut samples, pid } =
            self.running.take().ok_or_else(|| {
                EngineError::failed("observing the server's waits", "the observer is not running")
            })?;
        samples.push(sampler.stop()?);
        let sessions = lock(&self.sessions).clone();
        let scope = Scope::Sessions(&sessions);
        readings.push(Reading::read(&mut client, scope, pid)?);
        let (before, after) = (&readings[0], &readings[readings.len() - 1]);
        let (mut instruments, mut lost) = instrumented(&mut client, pid.is_some())?;
        let resets = after.resets_since(before);
        lost.extend(resets.lost());
        let mut operations = after.operations_since(before);
        if resets.events {
            instruments = Instruments::default();
        }
        operations.retain(|_| !resets.operations);
        let counted = |before: &Reading, after: &Reading| Counts {
            session_s: sessions.len() as f64 * after.at.duration_since(before.at).as_secs_f64(),
            events: if resets.events { BTreeMap::new() } else { after.events_since(before, scope) },
            row_locks: after.row_locks_since(before),
            times: after.sessions.zip(before.sessions).map(|(after, before)| after.since(before)),
            instruments,
        };
        let divided = if samples.len() > 1 { &readings[..] } else { &[] };
        let parts = divided
            .windows(2)
            .zip(&samples)
            .map(|(ends, samples)| {
                let (waits, time) = counted(&ends[0], &ends[1]).account(samples);
                SessionPart { session_s: time.session_s, cpu_s: time.cpu_s, waits }
            })
            .collect();
        let mut all = Samples::default();
        for sample in &samples {
            all.join(sample);
        }
        let (waits, time) = counted(before, after).account(&all);
        let server_cpu_s = after
            .server
            .zip(before.server)
            .map_or(0.0, |(after, before)| (after - before).max(0.0));
        let reads = after.status_since(before, "innodb_buffer_pool_reads");
        let requests = after.status_since(before, "innodb_buffer_pool_read_requests");
        let pages = Some(PageUse { hits: requests.saturating_sub(reads), reads });
        let used = EngineUse { pages, ..EngineUse::default() };
        let time = Some(time);
        Ok(Collection {
            waits,
            parts,
            operations,
            time,
            server_cpu_s,
            used,
            lost,
            ..Collection::default()
        })
    }
}

/// Returns the timed waits of this server, and the limits of the observation.
pub(crate) fn instrumented(
    client: &mut Client,
    sees_threads: bool,
) -> Result<(Instruments, Vec<String>)> {
    let doing = || failed_at("reading the enabled instruments");
    let mut lost = Vec::new();
    let mut instruments = Instruments::default();
    if client.cell("SELECT @@performance_schema").map_err(doing())?.as_deref() == Some("1") {
        let sql = "SELECT coalesce(sum(name = 'idle'), 0), coalesce(sum(name LIKE \
                   'wait/io/socket/%'), 0), coalesce(sum(name LIKE 'wait/synch/cond/%'), 0), \
                   coalesce(sum(name LIKE 'wait/%'), 0), coalesce(sum(name LIKE \
                   'wait/lock/metadata/%'), 0), (SELECT count(*) FROM \
                   performance_schema.setup_instruments WHERE name LIKE 'wait/%') FROM \
                   performance_schema.setup_instruments WHERE enabled = 'YES' AND timed = 'YES'";
        let rows = client.query(sql).map_err(doing())?;
        let count = |column: usize| rows.first().and_then(|row| row.parse(column)).unwrap_or(0);
        let [idle, sockets, conditions, on, metadata, all]: [u64; 6] = std::array::from_fn(count);
        instruments = Instruments {
            idle: idle > 0,
            sockets: sockets > 0,
            conditions: conditions > 0,
            metadata: metadata > 0,
        };
        if on < all {
            lost.push(format!(
                "Waits of disabled instruments: {} of {all} in \
                 performance_schema.setup_instruments are not both enabled and timed. Steelbench \
                 samples the process list for them.",
                all - on
            ));
        }
    } else {
        lost.push(
            "File and latch waits: performance_schema is off. Row locks are counted; other waits \
             come from sampled process list states."
                .to_owned(),
        );
    }
    if !sees_threads {
        lost.push(
            "CPU time of sessions: the server's threads are not visible from this machine.".into(),
        );
    }
    Ok((instruments, lost))
}
