//! Changes other than a level: more processors, faster devices, less waiting.

use crate::models::curve::Bottlenecks;
use crate::models::hold_out::FAR;
use crate::models::network::Service;
use crate::prediction::{ChangeLaw, Missing, WhatIfError};
use crate::throughput::ModelSummary;
use analysis::{response, wording};
use observations::{DeviceUse, Observations, Role, Wait, WaitClass};

/// CPU time that is raised by less than this share is not worth a word.
const RAISED_MIN: f64 = 0.01;

/// A change other than a level.
pub enum Change {
    /// A number, or a factor.
    Processors(Amount),
    /// A factor of the time that this device takes.
    Device(String, f64),
    /// A factor of the time in this wait.
    Wait(String, f64),
}

/// A number, or a factor.
#[derive(Clone, Copy)]
pub enum Amount {
    /// A number.
    Number(f64),
    /// A factor.
    Times(f64),
}

impl Amount {
    fn read(text: &str) -> Option<Self> {
        let times = text.strip_suffix('x');
        let number: f64 = times.unwrap_or(text).trim().parse().ok()?;
        let amount = if times.is_some() { Self::Times(number) } else { Self::Number(number) };
        (number.is_finite() && number >= 0.0).then_some(amount)
    }

    /// As a factor of a time: `0.5x`, or 0.
    fn times(self) -> Option<f64> {
        match self {
            Self::Times(times) => Some(times),
            Self::Number(number) => (number == 0.0).then_some(0.0),
        }
    }
}

impl Change {
    /// Reads `NAME=VALUE`; `None` of a name that may be a factor's.
    ///
    /// # Errors
    /// When the change does not take the value.
    pub fn read(change: &str, name: &str, value: &str) -> Result<Option<Self>, WhatIfError> {
        let amount = Amount::read(value);
        let wrong = |expected| WhatIfError::Value { change: change.into(), expected };
        if name == "cpus" {
            let cpus = amount.ok_or_else(|| {
                wrong(
                    "give a number, for example 8, or a factor, for \
                                            example 2x",
                )
            })?;
            return Ok(Some(Self::Processors(cpus)));
        }
        let times = amount.and_then(Amount::times).ok_or_else(|| {
            wrong(
                "give a factor, for example 0.5x, \
                                                                or 0",
            )
        });
        if let Some(wait) = name.strip_prefix("waits.") {
            return Ok(Some(Self::Wait(wait.to_owned(), times?)));
        }
        match name.strip_prefix("device.").map(|rest| rest.strip_suffix(".latency")) {
            Some(Some(device)) => Ok(Some(Self::Device(device.to_owned(), times?))),
            Some(None) => {
                Err(wrong("only the latency of a device can be changed: device.NAME.latency=0.5x"))
            }
            None => Ok(None),
        }
    }
}

/// The effect of changes other than a level on the throughput.
pub struct Effect {
    /// Logarithm of its change.
    pub log: f64,
    /// Half-width of that, because the trials do not say which part of the time changes.
    pub spread: f64,
    /// The network with the changes; `None` where it cannot be fitted.
    pub network: Option<Bottlenecks>,
}

/// A question on a model: the level and the trials nearest to it.
pub struct Question<'q> {
    /// The model.
    pub model: &'q ModelSummary,
    /// The level.
    pub n: f64,
    /// Trials at the nearest level.
    pub trials: &'q [&'q Observations],
}

impl Question<'_> {
    /// The effect of all changes, one after the other, each with its law.
    ///
    /// # Errors
    /// When the trials have no evidence for a change.
    pub fn effect(
        &self,
        changes: &[(&String, Change)],
        applied: &mut Vec<ChangeLaw>,
    ) -> Result<Effect, WhatIfError> {
        // Sessions hold locks one at a time, however parallel the rest is.
        let network = if changes.iter().any(|(_, change)| self.is_lock(change)) {
            self.model.serial_network()
        } else if changes.iter().any(|(_, change)| matches!(change, Change::Processors(_))) {
            self.cpu_share().map_or_else(
                || self.model.network(),
                |share| self.model.network_with_cpu_share(self.n, share),
            )
        } else {
            self.model.network()
        };
        if changes.is_empty() {
            return Ok(Effect { log: 0.0, spread: 0.0, network });
        }
        let network = network.ok_or(WhatIfError::Fit)?;
        let mut variants = vec![network.clone()];
        for (text, change) in changes {
            let before = variants[0].processors;
            let mut next = self.changed(text, change, &variants)?;
            let now = next.variants[0].processors;
            if f64::from(now.max(before) / now.min(before).max(1)) > FAR {
                next.law = format!("{}; beyond {FAR}x of the measured range", next.law);
            }
            variants = next.variants;
            applied.push(ChangeLaw { change: (*text).clone(), law: next.law });
        }
        let (log, spread) = ratios(&network, &variants, self.n).ok_or(WhatIfError::Fit)?;
        Ok(Effect { log, spread, network: variants.into_iter().next() })
    }

    fn is_lock(&self, change: &Change) -> bool {
        let Change::Wait(name, _) = change else { return false };
        self.wait(name).is_ok_and(|(class, _)| matches!(class, WaitClass::Lock | WaitClass::Latch))
    }

    /// The network with a change: several where the trials do not say which part of the time it is.
    fn changed(
        &self,
        text: &str,
        change: &Change,
        variants: &[Bottlenecks],
    ) -> Result<Variants, WhatIfError> {
        let no_evidence = |missing| WhatIfError::NoEvidence { change: text.into(), missing };
        match change {
            Change::Processors(amount) => self.with_processors(text, *amount, variants),
            Change::Wait(name, times) => {
                let (class, each_s) = self.wait(name).map_err(no_evidence)?;
                Ok(match class {
                    WaitClass::Lock | WaitClass::Latch => unlocked(variants, *times),
                    _ => shortened(variants, each_s * (1.0 - times)),
                })
            }
            Change::Device(name, times)
                if self.model.role == Some(Role::QueueDepth) && self.has_device_alone(name) =>
            {
                Ok(Variants::all(
                    variants,
                    "queueing network: the device takes all time of an I/O except CPU time",
                    |variant| {
                        variant.serial_s *= times;
                        variant.delay_s *= times;
                    },
                ))
            }
            Change::Device(name, times)
                if self.is_modelled(name)
                    && variants
                        .iter()
                        .all(|variant| matches!(variant.service, Service::Rates(_))) =>
            {
                Ok(Variants::all(
                    variants,
                    "queueing network: all time at the device is scaled, at each queue depth",
                    |variant| variant.serial_s *= times,
                ))
            }
            Change::Device(name, times) => {
                let each_s = self.device_s(name).map_err(no_evidence)?;
                Ok(shortened(variants, each_s * (1.0 - times)))
            }
        }
    }

    fn with_processors(
        &self,
        text: &str,
        amount: Amount,
        variants: &[Bottlenecks],
    ) -> Result<Variants, WhatIfError> {
        let model = self.model;
        let now =
            model.processors.filter(|_| model.points.iter().all(|point| point.cpu_s.is_some()));
        let now = now.ok_or_else(|| WhatIfError::NoEvidence {
            change: text.into(),
            missing: Missing::ProcessorTime,
        })?;
        let cpus = match amount {
            Amount::Number(number) => number,
            Amount::Times(times) => times * f64::from(now),
        };
        if cpus < 1.0 || cpus.fract() != 0.0 || cpus > 65_536.0 {
            let expected = "expected a whole number of CPUs, at least 1";
            return Err(WhatIfError::Value { change: text.into(), expected });
        }
        let mut law =
            format!("queueing network: {cpus} CPUs in place of {now}, each as fast as now");
        let recorded = self.model.network().map_or(0.0, |network| network.cpu_s);
        let raised = variants[0].cpu_s / recorded - 1.0;
        if raised.is_finite() && raised > RAISED_MIN {
            let raised = wording::percent(raised);
            law = format!(
                "{law}; a unit of work is taken to need {raised} more CPU time than recorded, \
                 because sessions spend that much time on and waiting for CPUs"
            );
        }
        Ok(Variants::all(variants, law, |variant| variant.processors = cpus as u32))
    }

    /// Share of the sessions' time on a CPU or in its queue; `None` where it was not recorded.
    fn cpu_share(&self) -> Option<f64> {
        let sum =
            |of: &dyn Fn(&Observations) -> f64| self.trials.iter().map(|trial| of(trial)).sum();
        let session_s: f64 = sum(&|observations| observations.time.session_s);
        let cpu_s: f64 = sum(&|observations| observations.time.cpu_s);
        let queue_s: f64 = sum(&|observations| {
            let queues = observations.waits.iter().map(|wait| match wait.class {
                WaitClass::CpuQueue => wait.wait_s(),
                _ => wait.signal_s,
            });
            queues.sum()
        });
        let share = (cpu_s + queue_s) / session_s;
        (cpu_s > 0.0 && share.is_finite()).then_some(share.min(1.0))
    }

    /// Class of a wait and its seconds for a unit of work.
    fn wait(&self, name: &str) -> Result<(WaitClass, f64), Missing> {
        let all = || self.trials.iter().flat_map(|trial| &trial.waits);
        let waits = || all().filter(|wait| wait.wait_type.eq_ignore_ascii_case(name));
        let Some(first) = waits().next() else {
            let recorded = response::distinct(all().map(|wait| wait.wait_type.clone()));
            return Err(Missing::Wait { recorded });
        };
        match first.class {
            WaitClass::Client | WaitClass::Idle => Err(Missing::ClientTime),
            WaitClass::CpuQueue => Err(Missing::RunQueue),
            class => Ok((class, waits().map(Wait::wait_s).sum::<f64>() / self.work())),
        }
    }

    fn devices(&self) -> impl Iterator<Item = &DeviceUse> {
        self.trials.iter().flat_map(|trial| &trial.devices)
    }

    /// Returns true when a disk was probed that is this device or volume, and no other one.
    fn has_device_alone(&self, name: &str) -> bool {
        let mut all = self.devices().peekable();
        all.peek().is_some() && all.all(|device| is_named(device, name))
    }

    /// Returns true when the model is fitted to the device of this name.
    fn is_modelled(&self, name: &str) -> bool {
        let known = self.model.device.as_ref().map(|known| known.device.as_str());
        self.devices().any(|device| is_named(device, name) && known == Some(device.device.as_str()))
    }

    /// Seconds that I/Os of a unit of work are in flight on a device, or on those of a volume, and
    /// no more than sessions waited for I/O: writes in the background delay no session.
    fn device_s(&self, name: &str) -> Result<f64, Missing> {
        let devices = || self.devices().filter(|device| is_named(device, name));
        if devices().next().is_none() {
            let mut recorded =
                response::distinct(self.devices().map(|device| device.device.clone()));
            let volumes = self.devices().flat_map(|device| device.volume.iter());
            recorded.extend(response::distinct(volumes.map(str::to_owned)));
            return Err(if recorded.is_empty() {
                Missing::Counters
            } else {
                Missing::Device { recorded }
            });
        }
        let in_flight: f64 =
            devices().map(|device| device.read_s + device.write_s + device.flush_s).sum();
        let waits = self.trials.iter().flat_map(|trial| &trial.waits);
        let waited: f64 = waits.filter(|wait| is_io(wait.class)).map(|wait| wait.resource_s).sum();
        Ok(in_flight.min(waited) / self.work())
    }

    /// Units of work, as the throughput counts them.
    fn work(&self) -> f64 {
        let choice = response::find("throughput", self.trials);
        self.trials
            .iter()
            .filter_map(|trial| Some(choice.as_ref()?.value(trial)? * trial.elapsed_s))
            .sum()
    }
}

/// Networks with a change, and its law.
struct Variants {
    variants: Vec<Bottlenecks>,
    law: String,
}

impl Variants {
    /// Applies a change in all networks.
    fn all(
        variants: &[Bottlenecks],
        law: impl Into<String>,
        change: impl Fn(&mut Bottlenecks),
    ) -> Self {
        let mut variants = variants.to_vec();
        variants.iter_mut().for_each(change);
        Self { variants, law: law.into() }
    }
}

/// So much of the serial section becomes parallel, and takes as long.
fn unlocked(variants: &[Bottlenecks], times: f64) -> Variants {
    let law = "queueing network: this share of the serial section runs in parallel and takes as \
               long";
    Variants::all(variants, law, |variant| {
        variant.delay_s += variant.serial_s * (1.0 - times.min(1.0));
        variant.serial_s *= times;
    })
}

/// Takes time of a unit of work from the part without a queue or from the serial section: no
/// measurement says from which, so that both are computed; of several changes all from the one,
/// and all from the other.
fn shortened(variants: &[Bottlenecks], by_s: f64) -> Variants {
    let (first, last) = (&variants[0], &variants[variants.len() - 1]);
    let of_delay = by_s.min(first.delay_s);
    let rest = (by_s - of_delay).min(first.serial_s);
    let delay_first = Bottlenecks {
        delay_s: first.delay_s - of_delay,
        serial_s: first.serial_s - rest,
        ..first.clone()
    };
    let of_serial = by_s.min(last.serial_s);
    let rest = (by_s - of_serial).min(last.delay_s);
    let serial_first = Bottlenecks {
        serial_s: last.serial_s - of_serial,
        delay_s: last.delay_s - rest,
        ..last.clone()
    };
    let law = "queueing network: this much less time per unit of work; the interval covers both \
               serial and parallel waiting";
    Variants { variants: vec![delay_first, serial_first], law: law.to_owned() }
}

/// Logarithm of the throughput with the changes relative to that without, in the middle of the
/// variants, and half their spread.
fn ratios(network: &Bottlenecks, variants: &[Bottlenecks], n: f64) -> Option<(f64, f64)> {
    let throughput =
        |bottlenecks: &Bottlenecks| bottlenecks.throughputs(n as usize)?.last().copied();
    let before = throughput(network)?;
    let logs: Vec<f64> = variants
        .iter()
        .map(|variant| Some((throughput(variant)? / before).ln()))
        .collect::<Option<_>>()?;
    let low = logs.iter().copied().fold(f64::MAX, f64::min);
    let high = logs.iter().copied().fold(f64::MIN, f64::max);
    Some((f64::midpoint(low, high), (high - low) / 2.0))
}

/// Returns true when this is the device, or has the volume.
fn is_named(device: &DeviceUse, name: &str) -> bool {
    device.device == name || device.volume.contains(name)
}

fn is_io(class: WaitClass) -> bool {
    matches!(
        class,
        WaitClass::DataRead | WaitClass::DataWrite | WaitClass::Log | WaitClass::Checkpoint
    )
}
