//! What would be: a model's prediction for another number of connections, more processors, faster
//! devices, without a wait.

use super::at_rate::{self, AtRate};
use super::by_script::ByScript;
use super::{CONCURRENCY, ModelGroup, ModelSummary};
use crate::{Estimate, Interval, Summary, response, wording};
use models::curve::Bottlenecks;
use models::holdout::{self, FAR, LEVELS_MIN};
use models::network::Service;
use observations::{DeviceUse, Observations, Role, WaitClass, WarningKind};
use serde::Serialize;

/// Standard deviation of the effect of a change other than the number of connections, as a share of
/// its logarithm: how far from the truth such effects are taken to be, because the trials say
/// nothing of it.
pub(super) const EFFECT_ERROR: f64 = 0.25;

/// What a model predicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// Levels of the factors that are not asked for: `data_files=4`; empty where there is none.
    pub group: String,
    /// The factor that the model goes along, and its level.
    pub factor: String,
    /// Its level.
    pub n: f64,
    /// Work a second.
    pub throughput: f64,
    /// 95 % interval.
    pub interval: Interval,
    /// Unit of the throughput.
    pub unit: String,
    /// Starts a second of the open loop that is asked for; then the throughput is what a closed
    /// loop would do.
    pub rate: Option<f64>,
    /// Mean seconds of a transaction, by Little's Law from the measured ones; `None` where none
    /// were measured. In an open loop from its intended start.
    pub latency_s: Option<f64>,
    /// Its interval; `None` too where the rate is more than the lower end of the throughput.
    pub latency_interval: Option<Interval>,
    /// The same by script, where there are several and nothing else is asked.
    pub by_script: Option<ByScript>,
    /// The nearest level that was measured, and its throughput.
    pub nearest: (f64, Estimate),
    /// The model.
    pub model: &'static str,
    /// Median of its absolute errors on the levels that were held out.
    pub error_median: f64,
    /// How many of these its intervals held, and how many there are.
    pub covered: (usize, usize),
    /// What was changed, and by which law.
    pub changes: Vec<Applied>,
    /// The resource that is busiest, and how busy; `None` where the queueing network cannot be
    /// fitted.
    pub limit: Option<(String, f64)>,
    /// Reasons to trust it less.
    pub warnings: Vec<String>,
}

/// A change and the law that it uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// As it was given.
    pub change: String,
    /// The law.
    pub law: String,
}

/// Why nothing is predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhatIfError {
    /// No change in that form.
    #[error(
        "{0:?} is no change: write NAME=VALUE, as in connections=64, cpus=8, \
         device.vda.latency=0.5x or waits.WRITER_LOCK=0"
    )]
    Form(String),
    /// A value that is none.
    #[error("{change}: {wanted}")]
    Value {
        /// As it was given.
        change: String,
        /// What it may be.
        wanted: String,
    },
    /// Nothing of that name was measured.
    #[error("{change}: there is no evidence for it: {why}")]
    NoEvidence {
        /// As it was given.
        change: String,
        /// What is missing.
        why: String,
    },
    /// More than is done.
    #[error("{change} cannot be kept up: {why}")]
    Saturated {
        /// As it was given.
        change: String,
        /// What would be done.
        why: String,
    },
    /// Connections by script and something else.
    #[error(
        "connections by script are predicted alone: take the other changes out, and connections=N"
    )]
    Apart,
    /// No model at all.
    #[error("there is no model of this run: {0}")]
    NoModel(String),
}

/// A change other than a level.
pub(super) enum Change {
    /// So many, or so many times as many.
    Processors(Amount),
    /// So many times the time that this device takes.
    Device(String, f64),
    /// So many times the time in this wait.
    Wait(String, f64),
}

#[derive(Clone, Copy)]
pub(super) enum Amount {
    Number(f64),
    Times(f64),
}

impl Amount {
    fn read(text: &str) -> Option<Self> {
        let number = |text: &str| {
            text.trim().parse().ok().filter(|own: &f64| own.is_finite() && *own >= 0.0)
        };
        match text.strip_suffix('x') {
            Some(times) => number(times).map(Self::Times),
            None => number(text).map(Self::Number),
        }
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
    /// `None` of what may be the level of a factor.
    fn read(change: &str, name: &str, value: &str) -> Result<Option<Self>, WhatIfError> {
        let amount = Amount::read(value);
        let wrong =
            |wanted: &str| WhatIfError::Value { change: change.into(), wanted: wanted.into() };
        let times = || {
            amount.and_then(Amount::times).ok_or_else(|| wrong("give a factor, as in 0.5x, or 0"))
        };
        if name == "cpus" {
            let cpus =
                amount.ok_or_else(|| wrong("give a number, as in 8, or a factor, as in 2x"))?;
            return Ok(Some(Self::Processors(cpus)));
        }
        if let Some(wait) = name.strip_prefix("waits.") {
            return Ok(Some(Self::Wait(wait.to_owned(), times()?)));
        }
        match name.strip_prefix("device.").map(|rest| rest.strip_suffix(".latency")) {
            Some(Some(device)) => Ok(Some(Self::Device(device.to_owned(), times()?))),
            Some(None) => {
                Err(wrong("of a device only the latency can be changed: device.NAME.latency=0.5x"))
            }
            None => Ok(None),
        }
    }
}

impl Summary<'_> {
    /// What the run's models say of these changes.
    ///
    /// # Errors
    /// What is no change, and what the run has no evidence for.
    pub fn what_if(&self, changes: &[String]) -> Result<WhatIf, WhatIfError> {
        let mut usable = self.model_groups();
        if usable.is_empty() {
            return Err(self.none_usable());
        }
        let (mut asked, mut rate, mut apart, mut others) = (None, None, Vec::new(), Vec::new());
        for change in changes {
            let form = || WhatIfError::Form(change.clone());
            let (name, value) = change
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim()))
                .ok_or_else(form)?;
            let number = || value.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
            let wrong =
                |wanted: &str| WhatIfError::Value { change: change.clone(), wanted: wanted.into() };
            if let Some(other) = Change::read(change, name, value)? {
                others.push((change, other));
            } else if self.is_setting(name, &[Role::ArrivalRate]) {
                rate = Some(number().ok_or_else(|| wrong("give transactions a second, above 0"))?);
            } else if let Some(script) = name.strip_prefix("connections.") {
                let whole = number().filter(|n| n.fract() == 0.0);
                apart.push((script, whole.ok_or_else(|| wrong("give a whole number above 0"))?));
            } else if usable.iter().any(|own| is_factor(&own.factor.name, name)) {
                usable.retain(|own| is_factor(&own.factor.name, name));
                let whole = number().filter(|n| n.fract() == 0.0);
                asked = Some(whole.ok_or_else(|| wrong("give a whole number above 0"))?);
            } else {
                self.keep_level(&mut usable, change, name, value)?;
            }
        }
        let model = self.throughput_model(self.chosen(usable)).ok_or_else(|| self.none_usable())?;
        if let Some(why) = &model.refused {
            return Err(WhatIfError::NoModel(why.clone()));
        }
        if apart.is_empty() {
            return self.predicted(&model, asked.unwrap_or_else(|| fastest(&model)), rate, &others);
        }
        if asked.is_some() || rate.is_some() || !others.is_empty() {
            return Err(WhatIfError::Apart);
        }
        self.predicted_apart(&model, &apart)
    }

    fn none_usable(&self) -> WhatIfError {
        let known: Vec<&str> = self.declared.paths(&CONCURRENCY).collect();
        WhatIfError::NoModel(format!(
            "it needs a factor among {} with {LEVELS_MIN} or more levels of numbers, measured in \
             a closed loop",
            known.join(", ")
        ))
    }

    /// Whether a name is that of a setting with one of these roles, in this run or in others.
    fn is_setting(&self, name: &str, roles: &'static [Role]) -> bool {
        let mut known = self.recording.roles.paths(roles).chain(self.declared.paths(roles));
        known.any(|path| is_factor(path, name))
    }

    /// Leaves the models whose configurations have this level of another factor.
    fn keep_level(
        &self,
        usable: &mut Vec<ModelGroup<'_>>,
        change: &str,
        name: &str,
        value: &str,
    ) -> Result<(), WhatIfError> {
        let no_evidence = |why: String| WhatIfError::NoEvidence { change: change.into(), why };
        let Some(factor) =
            self.recording.factors.iter().find(|factor| is_factor(&factor.name, name))
        else {
            let known: Vec<&str> =
                self.recording.factors.iter().map(|own| wording::short_name(&own.name)).collect();
            return Err(no_evidence(format!(
                "{name} was not varied; varied were: {}; and there are cpus, device.NAME.latency \
                 and waits.NAME",
                known.join(", ")
            )));
        };
        let level = |own: &ModelGroup| {
            self.recording.configurations[own.configuration()].level(&factor.name)
        };
        if usable.iter().any(|own| level(own) == Some(value)) {
            usable.retain(|own| level(own) == Some(value));
            return Ok(());
        }
        Err(no_evidence(format!(
            "this level was not measured, and no model says how throughput goes with {name}; \
             measured: {}",
            factor.levels.join(", ")
        )))
    }

    /// Of several the one that the baseline belongs to, else the first.
    fn chosen<'m>(&self, mut usable: Vec<ModelGroup<'m>>) -> ModelGroup<'m> {
        let of_baseline = |group: &ModelGroup| {
            group.levels.iter().any(|(own, _)| Some(*own) == self.recording.run.baseline)
        };
        let at = usable.iter().position(of_baseline).unwrap_or(0);
        usable.swap_remove(at)
    }

    pub(super) fn predicted(
        &self,
        model: &ModelSummary,
        n: f64,
        rate: Option<f64>,
        others: &[(&String, Change)],
    ) -> Result<WhatIf, WhatIfError> {
        let none = || WhatIfError::NoModel("the fit cannot be computed there".to_owned());
        let prediction = model.best().and_then(|best| best.predict(n)).ok_or_else(none)?;
        let distance = |own: &&super::ModelLevel| (own.n / n).ln().abs();
        let near = model
            .levels
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .ok_or_else(none)?;
        let trials = self.grid.trials(near.configuration);
        let mut applied = vec![Applied {
            change: format!("{}={}", wording::short_name(&model.factor), wording::whole(n)),
            law: model.law(),
        }];
        let Effect { log: effect, spread, network } =
            effect(others, model, n, &trials, &mut applied)?;
        let half = (prediction.interval.high / prediction.predicted)
            .ln()
            .hypot(2.0 * EFFECT_ERROR * effect)
            + spread;
        let throughput = prediction.predicted * effect.exp();
        let interval = Interval { low: throughput * (-half).exp(), high: throughput * half.exp() };
        let measured_s = latency_s(&trials);
        let open =
            rate.map(|rate| AtRate::of(rate, model, n, near, &trials, measured_s).ok_or_else(none));
        let open = open.transpose()?;
        let latency = |x: f64| match &open {
            Some(open) => open.latency_s(x / prediction.predicted),
            None => Some(measured_s? * n / near.n * near.measured.mean / x),
        };
        let latency_s = latency(throughput);
        let ends = latency(interval.high).zip(latency(interval.low));
        let mut warnings = warnings(&prediction, model, &trials);
        if let (Some(open), Some(rate)) = (&open, rate) {
            let change = format!("rate={}", wording::whole(rate));
            if ends.is_none() {
                let why = open.cannot_be_kept_up(effect.exp(), half);
                if latency_s.is_none() {
                    return Err(WhatIfError::Saturated { change, why });
                }
                warnings.push(format!("{change} may be too much: {why}"));
            }
            applied.push(Applied { change, law: at_rate::LAW.into() });
        }
        let tested = &model.candidates[0].tested;
        let closed = others.is_empty() && rate.is_none();
        Ok(WhatIf {
            by_script: closed.then(|| self.drawn_by_script(model, n, throughput)).flatten(),
            group: self.others_of(model),
            factor: model.factor.clone(),
            n,
            throughput,
            interval,
            unit: model.unit.clone(),
            rate,
            latency_s,
            latency_interval: ends.map(|(low, high)| Interval { low, high }),
            nearest: (near.n, near.measured.clone()),
            model: model.candidates[0].model.name(),
            error_median: model.candidates[0].error_median,
            covered: (tested.iter().filter(|own| own.covered).count(), tested.len()),
            changes: applied,
            limit: network
                .as_ref()
                .and_then(|own| limit(own, n, open.as_ref().map(AtRate::work), model)),
            warnings,
        })
    }

    /// Levels of the other factors.
    fn others_of(&self, model: &ModelSummary) -> String {
        let levels = self.recording.configurations[model.configuration].levels.iter();
        let others = levels.filter(|level| level.factor != model.factor);
        others
            .map(|own| format!("{}={}", wording::short_name(&own.factor), own.level))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// What changes other than a level do to the throughput.
struct Effect {
    /// Logarithm of its change.
    log: f64,
    /// How far that may be off, because the trials do not say which part of the time it is.
    spread: f64,
    /// The network with the changes; `None` where it cannot be fitted.
    network: Option<Bottlenecks>,
}

/// All changes in turn, each with its law.
fn effect(
    changes: &[(&String, Change)],
    model: &ModelSummary,
    n: f64,
    trials: &[&Observations],
    applied: &mut Vec<Applied>,
) -> Result<Effect, WhatIfError> {
    let is_lock = |(_, change): &(&String, Change)| {
        let Change::Wait(name, _) = change else { return false };
        wait_of(trials, name)
            .is_ok_and(|(class, _)| matches!(class, WaitClass::Lock | WaitClass::Latch))
    };
    // What sessions lock out each other for is done one at a time, whatever else is not.
    let network =
        if changes.iter().any(is_lock) { model.serial_network() } else { model.network() };
    if changes.is_empty() {
        return Ok(Effect { log: 0.0, spread: 0.0, network });
    }
    let none = || WhatIfError::NoModel("the fit cannot be computed there".to_owned());
    let network = network.ok_or_else(none)?;
    let mut variants = vec![network.clone()];
    for (text, change) in changes {
        let before = variants[0].processors;
        let (next, mut law) = changed(text, change, &variants, trials, model)?;
        variants = next;
        let more = variants[0].processors.max(before) / variants[0].processors.min(before).max(1);
        if f64::from(more) > FAR {
            law = format!("{law}; beyond {FAR}x of what was measured");
        }
        applied.push(Applied { change: (*text).clone(), law });
    }
    let (log, spread) = ratios(&network, &variants, n).ok_or_else(none)?;
    Ok(Effect { log, spread, network: variants.into_iter().next() })
}

/// The network with a change: several where the trials do not say which part of the time it is.
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn changed(
    text: &str,
    change: &Change,
    variants: &[Bottlenecks],
    trials: &[&Observations],
    model: &ModelSummary,
) -> Result<(Vec<Bottlenecks>, String), WhatIfError> {
    let no_evidence = |why: String| WhatIfError::NoEvidence { change: text.into(), why };
    match change {
        Change::Processors(amount) => {
            let now =
                model.processors.filter(|_| model.points.iter().all(|own| own.cpu_s.is_some()));
            let now = now.ok_or_else(|| {
                no_evidence("the processor time of the target was not recorded".into())
            })?;
            let cpus = match amount {
                Amount::Number(number) => *number,
                Amount::Times(times) => times * f64::from(now),
            };
            if cpus < 1.0 || cpus.fract() != 0.0 || cpus > 65_536.0 {
                let wanted = "that is no whole number of processors from 1 on".to_owned();
                return Err(WhatIfError::Value { change: text.into(), wanted });
            }
            let with = |own: &Bottlenecks| Bottlenecks { processors: cpus as u32, ..own.clone() };
            let law =
                format!("queueing network: {now} processors become {cpus}, each as fast as now");
            Ok((variants.iter().map(with).collect(), law))
        }
        Change::Wait(name, times) => {
            let (class, each_s) = wait_of(trials, name).map_err(no_evidence)?;
            if matches!(class, WaitClass::Lock | WaitClass::Latch) {
                let with = |own: &Bottlenecks| {
                    let moved = own.serial_s * (1.0 - times.min(1.0));
                    Bottlenecks {
                        serial_s: own.serial_s * times,
                        delay_s: own.delay_s + moved,
                        ..own.clone()
                    }
                };
                let law = "queueing network: so much of what is done one at a time is done side \
                           by side, and takes as long"
                    .to_owned();
                return Ok((variants.iter().map(with).collect(), law));
            }
            Ok(shortened(variants, each_s * (1.0 - times)))
        }
        Change::Device(name, times)
            if model.role == Some(Role::QueueDepth) && has_device_alone(trials, name) =>
        {
            let with = |own: &Bottlenecks| Bottlenecks {
                serial_s: own.serial_s * times,
                delay_s: own.delay_s * times,
                ..own.clone()
            };
            let law = "queueing network: all time of an I/O but that of the processors is the \
                       device's"
                .to_owned();
            Ok((variants.iter().map(with).collect(), law))
        }
        Change::Device(name, times)
            if variants.iter().all(|own| matches!(own.service, Service::Rates(_)))
                && trials.iter().flat_map(|seen| &seen.devices).any(|own| {
                    is_named(own, name)
                        && model.device.as_ref().is_some_and(|known| known.device == own.device)
                }) =>
        {
            let with =
                |own: &Bottlenecks| Bottlenecks { serial_s: own.serial_s * times, ..own.clone() };
            let law = "queueing network: all time at the device changes so, at each depth of its \
                       queue"
                .to_owned();
            Ok((variants.iter().map(with).collect(), law))
        }
        Change::Device(name, times) => {
            let each_s = device_s(trials, name).map_err(no_evidence)?;
            Ok(shortened(variants, each_s * (1.0 - times)))
        }
    }
}

fn is_factor(path: &str, name: &str) -> bool {
    path == name || wording::short_name(path) == name
}

/// The level with the highest mean.
fn fastest(model: &ModelSummary) -> f64 {
    let best = model.levels.iter().max_by(|a, b| a.measured.mean.total_cmp(&b.measured.mean));
    best.map_or(1.0, |level| level.n)
}

/// Less time for a unit of work, taken from where nobody queues or from what is done one at a time:
/// which, nobody has measured, so that both are computed; of several changes all from the one, and
/// all from the other.
fn shortened(variants: &[Bottlenecks], by_s: f64) -> (Vec<Bottlenecks>, String) {
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
    let law = "queueing network: that much less time for a unit of work; the interval holds both \
               that it is waited for one at a time and that it is waited for side by side";
    (vec![delay_first, serial_first], law.to_owned())
}

/// Logarithm of the throughput with the changes relative to that without, in the middle of the
/// variants, and half their spread.
fn ratios(network: &Bottlenecks, variants: &[Bottlenecks], n: f64) -> Option<(f64, f64)> {
    let throughput = |own: &Bottlenecks| own.throughputs(n as usize)?.last().copied();
    let before = throughput(network)?;
    let logs: Vec<f64> =
        variants.iter().map(|own| Some((throughput(own)? / before).ln())).collect::<Option<_>>()?;
    let low = logs.iter().copied().fold(f64::MAX, f64::min);
    let high = logs.iter().copied().fold(f64::MIN, f64::max);
    Some((f64::midpoint(low, high), (high - low) / 2.0))
}

/// The busier one of the processors and what is not done side by side. A log is none that gets
/// faster with each who waits for it.
fn limit(
    network: &Bottlenecks,
    n: f64,
    work: Option<f64>,
    model: &ModelSummary,
) -> Option<(String, f64)> {
    let work = work.or_else(|| network.throughputs(n as usize)?.last().copied())?;
    let [processors, serial] = network.busy(work);
    let name = match (&network.service, &model.device) {
        _ if serial <= processors => "the processors".to_owned(),
        (Service::Rates(_), Some(own)) => format!("device {}", own.device),
        _ => "what is done one at a time".to_owned(),
    };
    Some((name, processors.max(serial).min(1.0)))
}

fn warnings(
    prediction: &holdout::Prediction,
    model: &ModelSummary,
    trials: &[&Observations],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if prediction.distance > FAR {
        warnings.push(format!(
            "this is {} times as far as anything that was measured ({} to {}): no such prediction \
             has been tested",
            wording::figure(prediction.distance),
            wording::whole(model.levels[0].n),
            wording::whole(model.levels[model.levels.len() - 1].n)
        ));
    }
    let best = &model.candidates[0];
    if best.error_median > 0.1 {
        warnings.push(format!(
            "the model misses levels that it has not seen by {} (median): it does not describe \
             this target well",
            wording::percent(best.error_median)
        ));
    }
    let others =
        |seen: &&&Observations| seen.warnings.iter().any(|own| own.kind == WarningKind::OtherLoad);
    let disturbed = trials.iter().filter(others).count();
    if disturbed > 0 {
        warnings.push(format!(
            "other processes used the machine in {disturbed} of {} trials at the nearest level: \
             the model takes what they did for the target's",
            trials.len()
        ));
    }
    warnings
}

/// Units of work, as the throughput counts them.
fn work(trials: &[&Observations]) -> f64 {
    let choice = response::named("throughput", trials);
    let done = |seen: &&Observations| Some(choice.as_ref()?.value(seen)? * seen.elapsed_s);
    trials.iter().filter_map(done).sum()
}

/// Mean time of a transaction.
fn latency_s(trials: &[&Observations]) -> Option<f64> {
    let means = trials.iter().map(|seen| {
        let latency = seen.latencies.iter().find(|own| own.name != "service")?;
        Some(latency.histogram.min_mean_max_ns().1 / 1e9)
    });
    Some(means.sum::<Option<f64>>()? / trials.len() as f64).filter(|mean| *mean > 0.0)
}

/// Class of a wait and its seconds for a unit of work.
fn wait_of(trials: &[&Observations], name: &str) -> Result<(WaitClass, f64), String> {
    let all = || trials.iter().flat_map(|seen| &seen.waits);
    let own = || all().filter(|wait| wait.wait_type.eq_ignore_ascii_case(name));
    let Some(first) = own().next() else {
        let known = response::distinct(all().map(|wait| wait.wait_type.as_str()));
        return Err(format!("no such wait was recorded; recorded were: {}", known.join(", ")));
    };
    match first.class {
        WaitClass::Client | WaitClass::Idle => {
            Err("this is time of the client, not of the target".to_owned())
        }
        WaitClass::CpuQueue => {
            Err("who waits for a processor needs more of them: --set cpus=N".to_owned())
        }
        class => Ok((class, own().map(observations::Wait::wait_s).sum::<f64>() / work(trials))),
    }
}

/// Whether a disk was probed that is this device or volume, and no other one.
fn has_device_alone(trials: &[&Observations], name: &str) -> bool {
    let mut all = trials.iter().flat_map(|seen| &seen.devices).peekable();
    all.peek().is_some() && all.all(|device| is_named(device, name))
}

/// Whether this is the device, or has the volume.
fn is_named(device: &DeviceUse, name: &str) -> bool {
    device.device == name || device.volume.split(", ").any(|volume| volume == name)
}

/// Seconds that I/Os of a unit of work are in flight on a device, or on those of a volume, and no
/// more than what sessions waited for I/O: what is written in the background holds nobody up.
fn device_s(trials: &[&Observations], name: &str) -> Result<f64, String> {
    let all = || trials.iter().flat_map(|seen| &seen.devices);
    let is_own = |device: &&DeviceUse| is_named(device, name);
    if !all().any(|device| is_own(&device)) {
        let mut known = response::distinct(all().map(|device| device.device.as_str()));
        known.extend(response::distinct(all().flat_map(|device| device.volume.split(", "))));
        let why = if known.is_empty() {
            "no counters of any device were recorded: the target is remote, or its storage is none \
             that the kernel counts"
                .to_owned()
        } else {
            format!("no such device or volume; recorded were: {}", known.join(", "))
        };
        return Err(why);
    }
    let in_flight =
        all().filter(is_own).map(|own| own.read_s + own.write_s + own.flush_s).sum::<f64>();
    let is_io = |wait: &&observations::Wait| {
        matches!(
            wait.class,
            WaitClass::DataRead | WaitClass::DataWrite | WaitClass::Log | WaitClass::Checkpoint
        )
    };
    let waited: f64 =
        trials.iter().flat_map(|seen| &seen.waits).filter(is_io).map(|wait| wait.resource_s).sum();
    Ok(in_flight.min(waited) / work(trials))
}
