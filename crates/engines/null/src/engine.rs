//! The scripted engine: its settings, instance, sessions and waits.

use engine::Tables;
use engine::{
    Ability, Collection, ConnectionSet, Done, Engine, EngineError, Host, Instance, Parts, Result,
    Session, SetOfOne, WaitCollector, lock,
};
use experiment::{Configuration, Invalid, Kind, settings};
use observations::{EngineVersion, TimeUse, Wait, WaitClass, WaitSource};
use observe::Clock;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use work::{Cancel, Key, Request, Stop, Table, Work};

/// The interval at which a real delay looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The host of scripted targets.
#[derive(Debug, Clone, Copy)]
pub struct Null;

settings! {
    const SETTINGS = [];
    /// Has no effect; a factor for tests.
    pub DATA_FILES: u32 =
        "target.data_files", Kind::Count { min: 1, max: 1_000_000 }, "1" => Layout;
    /// Has no effect; a volume for tests of hooks.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace @Trial;
    /// Virtual duration of a transaction.
    pub DELAY: f64 = "target.delay", Kind::Duration, "1 ms";
    /// Share by which the delay varies up and down, depending on the transaction's first key.
    pub SPREAD: f64 = "target.spread", Kind::Share, "0";
    /// Waits within the delay, each as "NAME class resource-share signal-share"; the rest is CPU.
    pub WAITS: Vec<String> = "target.waits", Kind::TextList => @Trial;
    /// Additional real duration of a transaction, to test limits and interruption.
    pub REAL_DELAY: f64 = "target.real_delay", Kind::Duration, "0";
    /// Transactions fail while this file exists.
    pub FAIL_WHILE_EXISTS: Option<String> = "target.fail_while_exists", Kind::Text;
}

/// A scripted wait; its times are shares of the delay.
fn scripted_wait(text: &str) -> Option<Wait> {
    let [wait_type, class, resource, signal] =
        text.split_whitespace().collect::<Vec<_>>().try_into().ok()?;
    let share = |text: &str| text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    Some(Wait {
        wait_type: wait_type.into(),
        class: WaitClass::from_name(class)?,
        count: None,
        resource_s: share(resource)?,
        signal_s: share(signal)?,
        source: WaitSource::Counted,
    })
}

/// State shared by all sessions of an instance.
#[derive(Debug)]
struct Script {
    data_files: u32,
    delay_ns: f64,
    spread: f64,
    real_delay_s: f64,
    /// Their times are shares of the delay.
    waits: Vec<Wait>,
    fail_while_exists: Option<PathBuf>,
    cancel: Cancel,
    /// Virtual nanoseconds and transactions of all sessions that have ended.
    total: Mutex<(u64, u64)>,
}

/// The scripted engine.
pub const NULL: Engine = Engine {
    settings: SETTINGS,
    abilities: &[
        Ability::Embedded,
        Ability::Synthetic,
        Ability::Tables,
        Ability::BulkLoad,
        Ability::NestedLoops,
    ],
    validate,
    sharing: Some(&Null),
    ..Engine::new("null", version, |_| Box::new(Null))
};

fn version(_: &[&Configuration], _: &Stop) -> EngineVersion {
    EngineVersion { version: "scripted".into(), options: Vec::new() }
}

fn validate(configuration: &Configuration, _: u32, _: &[Table]) -> Vec<Invalid> {
    let (mut invalid, mut shares) = (Vec::new(), 0.0);
    for text in configuration.get(WAITS) {
        if let Some(wait) = scripted_wait(&text) {
            shares += wait.wait_s();
        } else {
            let form = "expected \"NAME class resource-share signal-share\"";
            invalid.push(Invalid::new("target.waits", format!("`{text}`: {form}")));
        }
    }
    if shares > 1.0 {
        invalid.push(Invalid::new("target.waits", "the shares add up to more than 1"));
    }
    invalid
}

impl Host for Null {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        _: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>> {
        let script = Script {
            data_files: configuration.get(DATA_FILES),
            delay_ns: configuration.get(DELAY) * 1e9,
            spread: configuration.get(SPREAD),
            real_delay_s: configuration.get(REAL_DELAY),
            waits: configuration.get(WAITS).iter().filter_map(|text| scripted_wait(text)).collect(),
            fail_while_exists: configuration.get(FAIL_WHILE_EXISTS).map(PathBuf::from),
            cancel: cancel.clone(),
            total: Mutex::default(),
        };
        Ok(Box::new(Scripted(Arc::new(script))))
    }
}

/// The instance of a script, and its collector of waits.
pub(crate) struct Scripted(Arc<Script>);

impl Instance for Scripted {
    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>> {
        let (script, clock) = (self.0.clone(), Clock::scripted());
        Ok(Box::new(SetOfOne::new(NullSession { script, clock, busy_ns: 0, transactions: 0 })))
    }

    fn wait_collector(&self) -> Option<Box<dyn WaitCollector>> {
        Some(Box::new(Self(self.0.clone())))
    }

    fn parts(&self) -> Parts<'_> {
        Parts { tables: Some(self), shared: Some(self), ..Parts::default() }
    }
}

impl Tables for Scripted {
    fn create(&self, _: Work) -> Result<()> {
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.0.data_files
    }
}

impl WaitCollector for Scripted {
    fn start(&mut self) -> Result<()> {
        *lock(&self.0.total) = (0, 0);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collection> {
        let (busy_ns, transactions) = *lock(&self.0.total);
        let busy_s = busy_ns as f64 / 1e9;
        let waits = self.0.waits.iter().map(|wait| Wait {
            count: Some(transactions),
            resource_s: busy_s * wait.resource_s,
            signal_s: busy_s * wait.signal_s,
            ..wait.clone()
        });
        let waiting: f64 = self.0.waits.iter().map(Wait::wait_s).sum();
        let time = TimeUse { cpu_s: busy_s * (1.0 - waiting), ..TimeUse::default() };
        Ok(Collection { waits: waits.collect(), time: Some(time), ..Collection::default() })
    }
}

/// A scripted connection, with a clock of its own.
struct NullSession {
    script: Arc<Script>,
    clock: Clock,
    busy_ns: u64,
    transactions: u64,
}

impl NullSession {
    /// The delay of a transaction: as random as its first key, and the same for the same key.
    fn delay_ns(&self, keys: &[Key]) -> u64 {
        let key = keys.first().map_or(0, |key| key.0 as u64);
        let step = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let between = (step >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0;
        (self.script.delay_ns * (1.0 + self.script.spread * between)).max(0.0) as u64
    }

    fn sleep(&self) -> Result<()> {
        let end = Instant::now() + Duration::from_secs_f64(self.script.real_delay_s);
        while Instant::now() < end {
            if self.script.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            std::thread::sleep(LOOK_EVERY.min(end.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }
}

impl Session for NullSession {
    fn begin(&mut self) {
        (self.busy_ns, self.transactions) = (0, 0);
    }

    fn run(&mut self, request: &Request<'_>) -> Result<Done> {
        if let Some(path) = self.script.fail_while_exists.as_ref().filter(|path| path.exists()) {
            let message = format!("scripted failure while {} exists", path.display());
            return Err(EngineError::failed("transaction", message));
        }
        if self.script.real_delay_s > 0.0 {
            self.sleep()?;
        }
        let (Request::Batch { keys, .. } | Request::Bulk { keys, .. }) = *request else {
            return Err(EngineError::Unsupported {
                engine: "null",
                what: "statements of the user",
            });
        };
        let delay_ns = self.delay_ns(keys);
        self.clock.advance_ns(delay_ns);
        self.busy_ns += delay_ns;
        self.transactions += 1;
        Ok(Done::default())
    }

    fn end(&mut self) {
        let mut total = lock(&self.script.total);
        total.0 += self.busy_ns;
        total.1 += self.transactions;
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }
}
