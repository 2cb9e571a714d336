//! A scripted engine: it answers after a virtual delay with scripted waits.
//!
//! It exists so that order, resume, failure, accounting and reports can be tested exactly, and
//! so that the laboratory's own overhead can be measured. Its results are marked synthetic.

mod session;

use crate::engine::{
    CacheReport, CacheState, Capabilities, Collected, ConnectionSet, Engine, EngineError, Host, Instance,
    Place, WaitCollector,
};
use crate::session::Alone;
use crate::{Cancel, Schema, SchemaKind};
use experiment::{Configuration, Declaration, Invalid, Kind};
use observations::{EngineVersion, TimeUse, Wait, WaitClass, WaitSource};
use session::NullSession;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The scripted engine.
#[derive(Debug, Clone, Copy)]
pub struct Null;

const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "target.data_files",
        Kind::Count { min: 1, max: 1_000_000 },
        Some("1"),
        "A number without effect, to have something to vary.",
    ),
    Declaration::new("target.volume", Kind::TextList, None, "A volume without effect, to test hooks."),
    Declaration::new("target.delay", Kind::Duration, Some("1 ms"), "Virtual time that a transaction takes."),
    Declaration::new(
        "target.spread",
        Kind::Share,
        Some("0"),
        "The delay varies by this share up and down, depending on the first key of the transaction.",
    ),
    Declaration::new(
        "target.waits",
        Kind::TextList,
        None,
        "Waits within the delay, each as \"NAME class resource-share signal-share\"; the rest is CPU.",
    ),
    Declaration::new(
        "target.real_delay",
        Kind::Duration,
        Some("0"),
        "Real time that a transaction takes besides, to test limits and interruption.",
    ),
    Declaration::new(
        "target.fail_while_exists",
        Kind::Text,
        None,
        "Transactions fail while this file exists.",
    ),
];

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
            schemas: &[SchemaKind::Table],
            synthetic: true,
            ..Capabilities::default()
        }
    }

    fn version(&self, _: &[&Configuration]) -> EngineVersion {
        EngineVersion { version: "scripted".into(), options: Vec::new() }
    }

    fn validate(&self, configuration: &Configuration) -> Vec<Invalid> {
        let texts = configuration.texts("target.waits");
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
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let number = |path| configuration.number(path).unwrap_or(0.0);
        let path = configuration.text("target.fail_while_exists");
        let script = Script {
            delay_ns: number("target.delay") * 1e9,
            spread: number("target.spread"),
            real_delay_s: number("target.real_delay"),
            waits: configuration.texts("target.waits").into_iter().filter_map(ScriptedWait::parse).collect(),
            fail_while_exists: (!path.is_empty()).then(|| path.into()),
            cancel: cancel.clone(),
            total: Mutex::default(),
        };
        Ok(Box::new(NullInstance(Arc::new(script))))
    }
}

struct NullInstance(Arc<Script>);

impl Instance for NullInstance {
    fn create(&self, _: Schema<'_>) -> Result<(), EngineError> {
        Ok(())
    }

    fn connect(&self, _: u32) -> Result<Box<dyn ConnectionSet>, EngineError> {
        Ok(Box::new(Alone::new(NullSession::new(self.0.clone()))))
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
