//! The prediction of a model for another number of connections, more processors, faster devices,
//! without a wait.

use crate::at_rate::{self, AtRate};
use crate::by_script;
use crate::change::{Change, Effect, Question};
use crate::models::curve::Bottlenecks;
use crate::models::hold_out::{FACTOR_MAX, FAR, LEVELS_MIN, Prediction};
use crate::prediction::{ChangeLaw, WhatIf, WhatIfError};
use crate::settings::HeldOutLevels;
use crate::throughput::{self, ModelGroup, ModelLevel, ModelSummary};
use analysis::settings::CONCURRENCY;
use analysis::{Interval, Summary, wording};
use observations::{Observations, Role, WarningKind};

/// Standard deviation of the effect of a change other than the number of connections, as a share of
/// its logarithm: how far from the truth such effects are taken to be, because the trials say
/// nothing of it.
const EFFECT_ERROR: f64 = 0.25;

/// A run whose models are asked.
struct Run<'s>(&'s Summary<'s>);

/// Predicts a run with these changes by its models.
///
/// # Errors
/// When a text is not a change, and when the run has no evidence for one.
pub fn what_if(summary: &Summary<'_>, changes: &[String]) -> Result<WhatIf, WhatIfError> {
    Run(summary).what_if(changes)
}

impl Run<'_> {
    fn what_if(&self, changes: &[String]) -> Result<WhatIf, WhatIfError> {
        let mut usable = throughput::groups(self.0);
        if usable.is_empty() {
            return Err(self.none_usable());
        }
        let (mut requested, mut rate, mut others) = (None, None, Vec::new());
        for change in changes {
            let (name, value) =
                change.split_once('=').ok_or_else(|| WhatIfError::Form(change.clone()))?;
            let (name, value) = (name.trim(), value.trim());
            let wrong = |expected| WhatIfError::Value { change: change.clone(), expected };
            let number = value.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
            let whole = number.filter(|n| n.fract() == 0.0);
            let whole = whole.ok_or_else(|| wrong("give a whole number above 0"));
            if let Some(other) = Change::read(change, name, value)? {
                others.push((change, other));
            } else if self.is_setting(name, &[Role::ArrivalRate]) {
                rate = Some(number.ok_or_else(|| wrong("give transactions per second, above 0"))?);
            } else if usable.iter().any(|candidate| is_factor(&candidate.factor.name, name)) {
                usable.retain(|candidate| is_factor(&candidate.factor.name, name));
                requested = Some(whole?);
            } else {
                self.keep_level(&mut usable, change, name, value)?;
            }
        }
        let rules = HeldOutLevels::in_source(&self.0.recording.run.source);
        let model = ModelSummary::fit(self.0, self.chosen(usable), &rules)
            .ok_or_else(|| self.none_usable())?;
        if let Some(why) = &model.refused {
            return Err(WhatIfError::Refused { why: why.clone() });
        }
        self.predicted(&model, requested.unwrap_or_else(|| fastest(&model)), rate, &others)
    }

    fn none_usable(&self) -> WhatIfError {
        let known = self.0.declared.paths(&CONCURRENCY).map(str::to_owned).collect();
        WhatIfError::NoFactor { known, levels_min: LEVELS_MIN }
    }

    /// Returns true for the name of a setting with one of these roles, in this run or in others.
    fn is_setting(&self, name: &str, roles: &'static [Role]) -> bool {
        let mut known = self.0.recording.roles.paths(roles).chain(self.0.declared.paths(roles));
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
        let no_evidence = |missing| WhatIfError::NoEvidence { change: change.into(), missing };
        let factors = &self.0.recording.factors;
        let Some(factor) = factors.iter().find(|factor| is_factor(&factor.name, name)) else {
            let varied = factors.iter().map(|factor| wording::short_name(&factor.name));
            return Err(no_evidence(format!(
                "{name} was not varied; varied: {}; also available: cpus, device.NAME.latency and \
                 waits.NAME",
                varied.collect::<Vec<_>>().join(", ")
            )));
        };
        let is_own = |model_group: &ModelGroup<'_>| {
            let configuration = &self.0.recording.configurations[model_group.configuration()];
            configuration.level(&factor.name) == Some(value)
        };
        if usable.iter().any(is_own) {
            usable.retain(is_own);
            return Ok(());
        }
        Err(no_evidence(format!(
            "this level was not measured, and no model relates throughput to {name}; measured: {}",
            factor.levels.join(", ")
        )))
    }

    /// The model that the baseline belongs to, else the first.
    fn chosen<'m>(&self, mut usable: Vec<ModelGroup<'m>>) -> ModelGroup<'m> {
        let baseline = self.0.recording.run.baseline;
        let of_baseline = usable
            .iter()
            .position(|candidate| candidate.levels.iter().any(|(at, _)| Some(*at) == baseline));
        usable.swap_remove(of_baseline.unwrap_or(0))
    }

    fn predicted(
        &self,
        model: &ModelSummary,
        n: f64,
        rate: Option<f64>,
        others: &[(&String, Change)],
    ) -> Result<WhatIf, WhatIfError> {
        let best = model.best.as_ref().ok_or(WhatIfError::Fit)?;
        let prediction = best.predict(n).ok_or(WhatIfError::Fit)?;
        let modelled = best.curve.throughput(n).ok_or(WhatIfError::Fit)?;
        let near = nearest(model, n).ok_or(WhatIfError::Fit)?;
        let trials = self.0.grid.trials(near.configuration);
        let mut applied = vec![ChangeLaw {
            change: format!("{}={}", wording::short_name(&model.factor), wording::whole(n)),
            law: model.law(),
        }];
        let Effect { log: effect, spread, network } =
            Question { model, n, trials: &trials }.effect(others, &mut applied)?;
        let throughput = prediction.predicted * effect.exp();
        // The ends of the prediction need not be equally far: bounds cut them off.
        let [below, above] = [prediction.interval.low, prediction.interval.high].map(|end| {
            (end / prediction.predicted).ln().hypot(2.0 * EFFECT_ERROR * effect) + spread
        });
        let interval =
            Interval { low: throughput * (-below).exp(), high: throughput * above.exp() };
        if interval.high / interval.low > FACTOR_MAX {
            return Err(unpredictable(model, &prediction, interval, others));
        }
        let measured_s = latency_s(&trials);
        let open = rate.map(|rate| AtRate::estimate(rate, model, n, near, &trials, measured_s));
        let open = open.map(|open| open.ok_or(WhatIfError::Fit)).transpose()?;
        let latency = |x: f64| match &open {
            Some(open) => open.latency_s(x / modelled),
            None => Some(measured_s? * n / near.n * near.measured.mean / x),
        };
        let latency_s = latency(throughput);
        let ends = latency(interval.high).zip(latency(interval.low));
        let mut warnings = warnings(&prediction, model, &trials);
        if let (Some(open), Some(rate)) = (&open, rate) {
            let change = format!("rate={}", wording::whole(rate));
            if ends.is_none() {
                let most =
                    open.most_done(throughput / modelled, interval.map(|end| end / modelled));
                if latency_s.is_none() {
                    return Err(WhatIfError::Saturated { change, most });
                }
                warnings.push(format!("{change} may be too large: {most}"));
            }
            applied.push(ChangeLaw { change, law: at_rate::LAW.into() });
        }
        let work = open.as_ref().map(AtRate::work);
        let closed = others.is_empty() && rate.is_none();
        Ok(WhatIf {
            by_script: closed.then(|| by_script::drawn(self.0, model, n, throughput)).flatten(),
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
            accuracy: model.candidates[0].accuracy(),
            changes: applied,
            limit: network.and_then(|network| limit(&network, n, work)),
            warnings,
        })
    }

    /// Levels of the other factors.
    fn others_of(&self, model: &ModelSummary) -> String {
        let levels = self.0.recording.configurations[model.configuration].levels.iter();
        let others = levels.filter(|level| level.factor != model.factor);
        let named =
            others.map(|level| format!("{}={}", wording::short_name(&level.factor), level.level));
        named.collect::<Vec<_>>().join(" ")
    }
}

/// The measured level that is nearest by its ratio.
fn nearest(model: &ModelSummary, n: f64) -> Option<&ModelLevel> {
    let distance = |model_level: &&ModelLevel| (model_level.n / n).ln().abs();
    model.levels.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Why an interval is too wide to be an answer, and what would narrow it: a level half as far from
/// those that were measured.
fn unpredictable(
    model: &ModelSummary,
    prediction: &Prediction,
    interval: Interval,
    others: &[(&String, Change)],
) -> WhatIfError {
    let n = prediction.n;
    let factor = interval.high / interval.low;
    let (lowest, highest) = (model.levels[0].n, model.levels[model.levels.len() - 1].n);
    if prediction.is_useful() {
        let change = others.iter().map(|entry| entry.0.as_str()).collect::<Vec<_>>().join(" ");
        return WhatIfError::UnpredictableChange { change, factor };
    }
    let add = if n > highest {
        (n / 2.0).ceil().max(highest + 1.0)
    } else if n < lowest {
        (2.0 * n).floor().min(lowest - 1.0).max(1.0)
    } else {
        n
    };
    let name = wording::short_name(&model.factor).to_owned();
    WhatIfError::Unpredictable { name, n, add, factor }
}

fn is_factor(path: &str, name: &str) -> bool {
    path == name || wording::short_name(path) == name
}

/// The level with the highest mean.
fn fastest(model: &ModelSummary) -> f64 {
    let best = model.levels.iter().max_by(|a, b| a.measured.mean.total_cmp(&b.measured.mean));
    best.map_or(1.0, |level| level.n)
}

/// The busier one of the processors and the serial section. A log does not count: it gets faster
/// with each session that waits for it.
fn limit(network: &Bottlenecks, n: f64, work: Option<f64>) -> Option<(String, f64)> {
    let work = work.or_else(|| network.throughputs(n as usize)?.last().copied())?;
    let [processors, serial] = network.busy(work);
    let name = if serial <= processors { "the CPUs" } else { "the serial section" };
    Some((name.to_owned(), processors.max(serial).min(1.0)))
}

fn warnings(
    prediction: &Prediction,
    model: &ModelSummary,
    trials: &[&Observations],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if prediction.distance > FAR {
        warnings.push(format!(
            "this is {} times beyond the measured range ({} to {}), where no prediction was tested",
            wording::figure(prediction.distance),
            wording::whole(model.levels[0].n),
            wording::whole(model.levels[model.levels.len() - 1].n)
        ));
    }
    let error_median = model.candidates[0].accuracy().error_median;
    if error_median > 0.1 {
        warnings.push(format!(
            "the model's median error on held-out levels is {}: it does not describe this target \
             well",
            wording::percent(error_median)
        ));
    }
    let disturbed = throughput::warned(trials, WarningKind::OtherLoad);
    if disturbed > 0 {
        warnings.push(format!(
            "other processes used the machine in {disturbed} of {} trials at the nearest level, \
             and the model attributes their use to the target",
            trials.len()
        ));
    }
    warnings
}

/// Mean time of a transaction.
fn latency_s(trials: &[&Observations]) -> Option<f64> {
    let means = trials.iter().map(|trial| {
        let latency = trial.latencies.iter().find(|latency| latency.name != "service")?;
        Some(latency.histogram.min_mean_max_ns().1 / 1e9)
    });
    Some(means.sum::<Option<f64>>()? / trials.len() as f64).filter(|mean| *mean > 0.0)
}
