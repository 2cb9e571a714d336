//! The throughput of each script of a mix, of which each connection draws the next one by its
//! weight.

use crate::prediction::{ByScript, ScriptPrediction};
use crate::throughput::ModelSummary;
use analysis::estimate::median;
use analysis::{ConfigurationScripts, Summary};
use statistics::mean;

/// The scripts at a level.
struct MixLevel {
    n: f64,
    scripts: Vec<Script>,
    /// Mean latency over all transactions.
    latency_s: f64,
    /// Seconds of the client between two transactions.
    client_s: f64,
}

struct Script {
    name: String,
    /// Share of all transactions.
    share: f64,
    latency_s: f64,
}

impl MixLevel {
    fn measured(n: f64, ran: &ConfigurationScripts) -> Option<Self> {
        let figures = ran
            .scripts
            .iter()
            .map(|script| Some((script.tps.as_ref()?.mean, script.latency.as_ref()?.mean / 1e3)));
        let figures: Vec<(f64, f64)> = figures.collect::<Option<_>>()?;
        let throughput: f64 = figures.iter().map(|(tps, _)| tps).sum();
        let in_progress: f64 = figures.iter().map(|(tps, latency_s)| tps * latency_s).sum();
        let scripts = ran.scripts.iter().zip(figures).map(|(script, (tps, latency_s))| Script {
            name: script.script.clone(),
            share: tps / throughput,
            latency_s,
        });
        (in_progress > 0.0).then(|| Self {
            n,
            scripts: scripts.collect(),
            latency_s: in_progress / throughput,
            client_s: ((n - in_progress) / throughput).max(0.0),
        })
    }
}

/// The prediction for each script of a mix with `n` connections that draw, at their throughput;
/// `None` without a mix of two scripts.
pub fn drawn(
    summary: &Summary<'_>,
    model: &ModelSummary,
    n: f64,
    throughput: f64,
) -> Option<ByScript> {
    let ran = summary.scripts();
    let measured = model.levels.iter().map(|level| {
        let scripts = ran.iter().find(|scripts| scripts.index == level.configuration)?;
        MixLevel::measured(level.n, scripts)
    });
    let levels: Vec<MixLevel> = measured.collect::<Option<_>>()?;
    let number = levels.first()?.scripts.len();
    if number < 2 || levels.iter().any(|level| level.scripts.len() != number) {
        return None;
    }
    let all = levels.iter().zip(&model.levels);
    let fitted = all.clone().filter(|(_, level)| level.tested.is_none()).map(|(mix, _)| mix);
    let fitted: Vec<&MixLevel> = fitted.collect();
    let mut errors = Vec::new();
    for (mix, level) in all {
        let Some(test) = &level.tested else { continue };
        let predictions = predict(&fitted, mix.n, test.prediction.predicted)?;
        let pairs = predictions.iter().zip(&mix.scripts);
        errors.extend(
            pairs.map(|(predicted, script)| (predicted.latency_s / script.latency_s - 1.0).abs()),
        );
    }
    let scripts = predict(&levels.iter().collect::<Vec<_>>(), n, throughput)?;
    Some(ByScript { scripts, error_median: median(&errors) })
}

/// Predicts each script for `n` connections that draw scripts and reach `throughput`. Shares are
/// the means of the levels; latencies relate to each other as at the nearest level, and the client
/// takes as long.
fn predict(levels: &[&MixLevel], n: f64, throughput: f64) -> Option<Vec<ScriptPrediction>> {
    let distance = |level: &&MixLevel| (level.n / n).ln().abs();
    let near = levels.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let times = (n / throughput - near.client_s).max(0.0) / near.latency_s;
    let scripts = near.scripts.iter().enumerate().map(|(at, script)| ScriptPrediction {
        script: script.name.clone(),
        throughput: throughput * mean(levels.iter().map(|level| level.scripts[at].share)),
        latency_s: script.latency_s * times,
    });
    Some(scripts.collect())
}
