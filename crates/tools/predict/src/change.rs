//! Changes other than a level: more processors, faster devices, less waiting.

use crate::models::curve::Bottlenecks;
use crate::models::hold_out::FAR;
use crate::prediction::{ChangeLaw, WhatIfError};
use crate::throughput::{ModelSummary, total};
use analysis::{response, wording};
use observations::{DeviceUse, Observations, Role, Wait, WaitClass};

/// CPU time that is raised by less than this share is not worth a word.
const RAISED_MIN: f64 = 0.01;

const NO_COUNTERS: &str = "no device counters were recorded: the target is remote, or the kernel \
                           keeps no counters for its storage";
const UNLOCKED: &str = "queueing network: this share of the serial section runs in parallel and \
                        takes as long";
const DEVICE_ALONE: &str = "queueing network: the device takes all time of an I/O except CPU time";
const SHORTENED: &str = "queueing network: this much less time per unit of work; the interval \
                         covers both serial and parallel waiting";

/// A change other than a level.
pub enum Change {
    /// CPUs: their number, or a factor of the present one.
    Processors {
        /// The number, or the factor.
        number: f64,
        /// True of a factor.
        is_factor: bool,
    },
    /// A factor of the time that this device takes.
    Device(String, f64),
    /// A factor of the time in this wait.
    Wait(String, f64),
}

impl Change {
    /// Reads `NAME=VALUE`; `None` of a name that may be a factor's.
    ///
    /// # Errors
    /// When the change does not take the value.
    pub fn read(change: &str, name: &str, value: &str) -> Result<Option<Self>, WhatIfError> {
        let wrong = |expected| WhatIfError::Value { change: change.into(), expected };
        let factor = value.strip_suffix('x');
        let number = factor.unwrap_or(value).trim().parse();
        let number = number.ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        if name == "cpus" {
            let expected = "give a number, for example 8, or a factor, for example 2x";
            let number = number.ok_or_else(|| wrong(expected))?;
            return Ok(Some(Self::Processors { number, is_factor: factor.is_some() }));
        }
        // 0 is a factor too.
        let times = number.filter(|number| factor.is_some() || *number == 0.0);
        let times = times.ok_or_else(|| wrong("give a factor, for example 0.5x, or 0"));
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
        let network = if changes.iter().any(|(_, change)| self.shortens_lock(change)) {
            self.model.serial_network()
        } else if changes.iter().any(|(_, change)| matches!(change, Change::Processors { .. })) {
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
        let mut variants = vec![network];
        for (text, change) in changes {
            let before = variants[0].processors;
            let mut law = self.apply(text, change, &mut variants)?;
            let now = variants[0].processors;
            if f64::from(now.max(before) / now.min(before).max(1)) > FAR {
                law = format!("{law}; beyond {FAR}x of the measured range");
            }
            applied.push(ChangeLaw { change: (*text).clone(), law });
        }
        let (log, spread) = ratios(&network, &variants, self.n).ok_or(WhatIfError::Fit)?;
        Ok(Effect { log, spread, network: variants.into_iter().next() })
    }

    fn shortens_lock(&self, change: &Change) -> bool {
        let Change::Wait(name, _) = change else { return false };
        self.wait(name).is_ok_and(|(class, _)| is_lock(class))
    }

    /// Applies a change to the network and returns its law. The networks are several where the
    /// trials do not say which part of the time changes.
    fn apply(
        &self,
        text: &str,
        change: &Change,
        variants: &mut Vec<Bottlenecks>,
    ) -> Result<String, WhatIfError> {
        let no_evidence = |missing| WhatIfError::NoEvidence { change: text.into(), missing };
        let by_s = match change {
            Change::Processors { number, is_factor } => {
                return self.set_processors(text, *number, *is_factor, variants);
            }
            Change::Wait(name, times) => {
                let (class, each_s) = self.wait(name).map_err(no_evidence)?;
                if is_lock(class) {
                    for variant in variants {
                        variant.delay_s += variant.serial_s * (1.0 - times.min(1.0));
                        variant.serial_s *= times;
                    }
                    return Ok(UNLOCKED.into());
                }
                each_s * (1.0 - times)
            }
            Change::Device(name, times) => {
                if self.model.role == Some(Role::QueueDepth) && self.has_device_alone(name) {
                    for variant in variants {
                        variant.serial_s *= times;
                        variant.delay_s *= times;
                    }
                    return Ok(DEVICE_ALONE.into());
                }
                self.device_s(name).map_err(no_evidence)? * (1.0 - times)
            }
        };
        shorten(variants, by_s);
        Ok(SHORTENED.into())
    }

    fn set_processors(
        &self,
        text: &str,
        number: f64,
        is_factor: bool,
        variants: &mut [Bottlenecks],
    ) -> Result<String, WhatIfError> {
        let model = self.model;
        let now =
            model.processors.filter(|_| model.points.iter().all(|point| point.cpu_s.is_some()));
        let now = now.ok_or_else(|| WhatIfError::NoEvidence {
            change: text.into(),
            missing: "the target's CPU time was not recorded".into(),
        })?;
        let cpus = if is_factor { number * f64::from(now) } else { number };
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
        for variant in variants {
            variant.processors = cpus as u32;
        }
        Ok(law)
    }

    /// Share of the sessions' time on a CPU or in its queue; `None` where it was not recorded.
    fn cpu_share(&self) -> Option<f64> {
        let session_s = total(self.trials, &|trial| trial.time.session_s);
        let cpu_s = total(self.trials, &|trial| trial.time.cpu_s);
        let queue_s = total(self.trials, &|trial| {
            let queues = trial.waits.iter().map(|wait| match wait.class {
                WaitClass::CpuQueue => wait.wait_s(),
                _ => wait.signal_s,
            });
            queues.sum()
        });
        let share = (cpu_s + queue_s) / session_s;
        (cpu_s > 0.0 && share.is_finite()).then_some(share.min(1.0))
    }

    /// Class of a wait and its seconds for a unit of work.
    fn wait(&self, name: &str) -> Result<(WaitClass, f64), String> {
        let all = || self.trials.iter().flat_map(|trial| &trial.waits);
        let waits = || all().filter(|wait| wait.wait_type.eq_ignore_ascii_case(name));
        let Some(first) = waits().next() else {
            let recorded = response::distinct(all().map(|wait| wait.wait_type.clone()));
            return Err(format!(
                "this wait was not recorded; recorded waits: {}",
                recorded.join(", ")
            ));
        };
        match first.class {
            WaitClass::Client | WaitClass::Idle => {
                Err("this is client time, not time of the target".into())
            }
            WaitClass::CpuQueue => Err("CPU queueing: add CPUs with --set cpus=N".into()),
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

    /// Seconds that I/Os of a unit of work are in flight on a device, or on those of a volume, and
    /// no more than sessions waited for I/O: writes in the background delay no session.
    fn device_s(&self, name: &str) -> Result<f64, String> {
        let devices = || self.devices().filter(|device| is_named(device, name));
        if devices().next().is_none() {
            let mut recorded =
                response::distinct(self.devices().map(|device| device.device.clone()));
            let volumes = self.devices().flat_map(|device| device.volume.iter());
            recorded.extend(response::distinct(volumes.map(str::to_owned)));
            return Err(if recorded.is_empty() {
                NO_COUNTERS.into()
            } else {
                format!("unknown device or volume; recorded: {}", recorded.join(", "))
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

/// Takes time of a unit of work from the part without a queue or from the serial section: no
/// measurement says from which, so that both are computed; of several changes all from the one,
/// and all from the other.
fn shorten(variants: &mut Vec<Bottlenecks>, by_s: f64) {
    let (mut delay_first, mut serial_first) = (variants[0], variants[variants.len() - 1]);
    take(by_s, [&mut delay_first.delay_s, &mut delay_first.serial_s]);
    take(by_s, [&mut serial_first.serial_s, &mut serial_first.delay_s]);
    *variants = vec![delay_first, serial_first];
}

/// Takes seconds from the first part, and what it lacks from the other.
fn take(mut by_s: f64, parts: [&mut f64; 2]) {
    for part in parts {
        let taken = by_s.min(*part);
        *part -= taken;
        by_s -= taken;
    }
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

fn is_lock(class: WaitClass) -> bool {
    matches!(class, WaitClass::Lock | WaitClass::Latch)
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
