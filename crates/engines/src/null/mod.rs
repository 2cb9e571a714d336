//! A scripted engine: it answers after a virtual delay with scripted waits.
//!
//! It exists so that order, resume, failure, accounting and reports can be tested exactly, and
//! so that the laboratory's own overhead can be measured. Its results are marked synthetic.

mod session;

use crate::engine::{
    Ability, CacheReport, CacheState, Capabilities, Collected, ConnectionSet, Engine, EngineError, Host,
    Instance, Place, WaitCollector,
};
use crate::session::SetOfOne;
use crate::{Cancel, Work};
use experiment::{Configuration, Declaration, Invalid, Kind, declarations, settings};
use observations::{EngineVersion, TimeUse, Wait, WaitClass, WaitSource};
use session::NullSession;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The scripted engine.
#[derive(Debug, Clone, Copy)]
pub struct Null;

settings! {
    /// A number without effect, to have something to vary.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1_000_000 }, "1";
    /// A volume without effect, to test hooks.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList;
    /// Virtual time that a transaction takes.
    pub DELAY: f64 = "target.delay", Kind::Duration, "1 ms";
    /// The delay varies by this share up and down, depending on the first key of the transaction.
    pub SPREAD: f64 = "target.spread", Kind::Share, "0";
    /// Waits within the delay, each as "NAME class resource-share signal-share"; the rest is CPU.
    pub WAITS: Vec<String> = "target.waits", Kind::TextList;
    /// Real time that a transaction takes besides, to test limits and interruption.
    pub REAL_DELAY: f64 = "target.real_delay", Kind::Duration, "0";
    /// Transactions fail while this file exists.
    pub FAIL_WHILE_EXISTS: Option<String> = "target.fail_while_exists", Kind::Text;
}

const SETTINGS: &[Declaration] =
    declarations![DATA_FILES, VOLUME, DELAY, SPREAD, WAITS, REAL_DELAY, FAIL_WHILE_EXISTS];

/// One scripted wait.
#[derive(Debug, Clone, PartialEq)]
struct ScriptedWait {
    wait_type: String,
    class: WaitClass,
    resource_share: f64,
    signal_share: f64,
}

impl ScriptedWait {
    fn parse(text: &str) -> Option<Self> {
        let [wait_type, class, resource, signal] =
            text.split_whitespace().collect::<Vec<_>>().try_into().ok()?;
        let share = |text: &str| text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        Some(Self {
            wait_type: wait_type.into(),
            class: WaitClass::from_name(class)?,
            resource_share: share(resource)?,
            signal_share: share(signal)?,
        })
    }

    fn share(&self) -> f64 {
        self.resource_share + self.signal_share
    }
}

/// What all sessions of an instance share.
#[derive(Debug)]
struct Script {
    data_files: u32,
    delay_ns: f64,
    spread: f64,
    real_delay_s: f64,
    waits: Vec<ScriptedWait>,
    fail_while_exists: Option<PathBuf>,
    cancel: Cancel,
    /// Virtual nanoseconds and transactions of all sessions that have ended.
    total: Mutex<(u64, u64)>,
}

impl Engine for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            embedded: true,
            abilities: &[Ability::Tables, Ability::BulkLoad],
            synthetic: true,
            ..Capabilities::default()
        }
    }

    fn version(&self, _: &[&Configuration]) -> EngineVersion {
        EngineVersion { version: "scripted".into(), options: Vec::new() }
    }

    fn validate(&self, configuration: &Configuration, _: u32) -> Vec<Invalid> {
        let texts = configuration.get(WAITS);
        let waits: Vec<Option<ScriptedWait>> = texts.iter().map(|text| ScriptedWait::parse(text)).collect();
        let mut invalid: Vec<Invalid> = texts
            .iter()
            .zip(&waits)
            .filter(|(_, wait)| wait.is_none())
            .map(|(text, _)| {
                let form = "a scripted wait is \"NAME class resource-share signal-share\"";
                Invalid::new("target.waits", format!("`{text}`: {form}"))
            })
            .collect();
        if waits.iter().flatten().map(ScriptedWait::share).sum::<f64>() > 1.0 {
            invalid.push(Invalid::new("target.waits", "the shares add up to more than 1"));
        }
        invalid
    }

    fn host(&self, _: Place) -> Box<dyn Host> {
        Box::new(Self)
    }
}

impl Host for Null {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        _: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let script = Script {
            data_files: configuration.get(DATA_FILES),
            delay_ns: configuration.get(DELAY) * 1e9,
            spread: configuration.get(SPREAD),
            real_delay_s: configuration.get(REAL_DELAY),
            waits: configuration.get(WAITS).iter().filter_map(|text| ScriptedWait::parse(text)).collect(),
            fail_while_exists: configuration.get(FAIL_WHILE_EXISTS).map(PathBuf::from),
            cancel: cancel.clone(),
            total: Mutex::default(),
        };
        Ok(Box::new(NullInstance(Arc::new(script))))
    }
}

struct NullInstance(Arc<Script>);

impl Instance for NullInstance {
    fn create(&self, _: Work) -> Result<(), EngineError> {
        Ok(())
    }

    fn data_files(&self) -> u32 {
        self.0.data_files
    }

    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        Ok(Box::new(SetOfOne::new(NullSession::new(self.0.clone()))))
    }

    fn settle(&self, _: CacheState) -> Result<CacheReport, EngineError> {
        Ok(CacheReport { file_bytes: 0, resident_bytes: Some(0), verified: true })
    }

    fn wait_collector(&self) -> Box<dyn WaitCollector> {
        Box::new(NullCollector(self.0.clone()))
    }

    fn space_bytes(&self) -> Option<u64> {
        Some(0)
    }

    fn remove(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

struct NullCollector(Arc<Script>);

impl WaitCollector for NullCollector {
    fn start(&mut self) -> Result<(), EngineError> {
        *self.0.total.lock().unwrap_or_else(PoisonError::into_inner) = (0, 0);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        let (busy_ns, transactions) = *self.0.total.lock().unwrap_or_else(PoisonError::into_inner);
        let busy_s = busy_ns as f64 / 1e9;
        let waits = self.0.waits.iter().map(|wait| Wait {
            wait_type: wait.wait_type.clone(),
            class: wait.class,
            count: Some(transactions),
            resource_s: busy_s * wait.resource_share,
            signal_s: busy_s * wait.signal_share,
            source: WaitSource::Counted,
        });
        let waiting: f64 = self.0.waits.iter().map(ScriptedWait::share).sum();
        let time = TimeUse { cpu_s: busy_s * (1.0 - waiting), ..TimeUse::default() };
        Ok(Collected { waits: waits.collect(), time: Some(time), ..Collected::default() })
    }
}
