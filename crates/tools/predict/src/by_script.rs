//! The throughput of each script of a mix: of connections that draw the next script by its weight,
//! and of connections that each run one only.

use crate::models::curve::{Bottlenecks, Level};
use crate::models::network::{Class, Service, several_classes};
use crate::prediction::{ByScript, ChangeLaw, Missing, ScriptPrediction, WhatIf, WhatIfError};
use crate::throughput::ModelSummary;
use analysis::estimate::median;
use analysis::{ConfigurationScripts, Interval, Summary, wording};
use statistics::non_negative;

/// The law of connections that run one script only.
const LAW: &str = "several classes, approximate mean value analysis (Schweitzer; Bard): each \
                   script has its own connections";

/// Scripts of which each connection draws the next one.
struct Mix {
    names: Vec<String>,
    levels: Vec<MixLevel>,
    network: Bottlenecks,
    /// For each script, its demand at each station relative to that of the mean transaction.
    times: Vec<[f64; 3]>,
}

/// The scripts at a level.
struct MixLevel {
    n: f64,
    scripts: Vec<Demand>,
}

struct Demand {
    /// Share of all transactions.
    share: f64,
    latency_s: f64,
    /// Seconds from the end of the transaction before to its own end: the latency, and what the
    /// client takes.
    cycle_s: f64,
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
        let client_s = ((n - in_progress) / throughput).max(0.0);
        let scripts = figures.into_iter().map(|(tps, latency_s)| Demand {
            share: tps / throughput,
            latency_s,
            cycle_s: latency_s + client_s,
        });
        (in_progress > 0.0).then(|| Self { n, scripts: scripts.collect() })
    }
}

/// The prediction for each script of a mix with `n` connections that draw, at their throughput;
/// `None` without a mix.
pub fn drawn(
    summary: &Summary<'_>,
    model: &ModelSummary,
    n: f64,
    throughput: f64,
) -> Option<ByScript> {
    let mix = Mix::of_model(summary, model)?;
    Some(ByScript { scripts: mix.drawn(n, throughput)?, error_median: mix.error_median(model) })
}

/// Connections that run one script only, in place of some that draw.
pub(crate) struct DedicatedConnections {
    mix: Mix,
    connections: Vec<f64>,
    change: String,
}

impl DedicatedConnections {
    /// Assigns connections to the scripts of a model's mix.
    ///
    /// # Errors
    /// When the run had no mix, or no script of this name.
    pub fn assign(
        summary: &Summary<'_>,
        model: &ModelSummary,
        scripts: &[(&str, f64)],
    ) -> Result<Self, WhatIfError> {
        let mix = Mix::of_model(summary, model).ok_or_else(|| WhatIfError::NoEvidence {
            change: scripts.first().map(|(script, n)| term(script, *n)).unwrap_or_default(),
            missing: Missing::Mix,
        })?;
        let mut connections = vec![0.0; mix.names.len()];
        for (script, n) in scripts {
            let position = mix.names.iter().position(|name| name == script);
            let position = position.ok_or_else(|| WhatIfError::NoEvidence {
                change: term(script, *n),
                missing: Missing::Script { ran: mix.names.clone() },
            })?;
            connections[position] = *n;
        }
        let changes: Vec<String> = scripts.iter().map(|(script, n)| term(script, *n)).collect();
        Ok(Self { mix, connections, change: changes.join(" ") })
    }

    /// All connections.
    pub fn connections(&self) -> f64 {
        self.connections.iter().sum()
    }

    /// Turns the prediction for as many connections that draw into that for these.
    ///
    /// # Errors
    /// When the network cannot be computed there.
    pub fn predict(self, mut drawn: WhatIf, effect_error: f64) -> Result<WhatIf, WhatIfError> {
        let n = self.connections();
        let mut scripts = self.mix.separate(&self.connections).ok_or(WhatIfError::Fit)?;
        let network = n / self.mix.cycles_s(n).ok_or(WhatIfError::Fit)?.1;
        let all: f64 = scripts.iter().map(|script| script.throughput).sum();
        let effect = (all / network).ln();
        let half = (drawn.interval.high / drawn.throughput).ln().hypot(2.0 * effect_error * effect);
        // The network is off by as much as with connections that draw.
        let scale = drawn.throughput / network;
        for script in &mut scripts {
            script.throughput *= scale;
            script.latency_s /= scale;
        }
        drawn.throughput = all * scale;
        drawn.interval =
            Interval { low: drawn.throughput * (-half).exp(), high: drawn.throughput * half.exp() };
        (drawn.latency_s, drawn.latency_interval, drawn.limit) = (None, None, None);
        drawn.changes.push(ChangeLaw { change: self.change, law: LAW.to_owned() });
        let error_median = drawn.by_script.and_then(|script| script.error_median);
        drawn.by_script = Some(ByScript { scripts, error_median });
        Ok(drawn)
    }
}

fn term(script: &str, n: f64) -> String {
    format!("connections.{script}={}", wording::whole(n))
}

impl Mix {
    /// The scripts that the configurations of a model ran; `None` of fewer than two.
    fn of_model(summary: &Summary<'_>, model: &ModelSummary) -> Option<Self> {
        let ran = summary.scripts();
        let first = ran.iter().find(|configuration| configuration.index == model.configuration)?;
        let names: Vec<String> = first.scripts.iter().map(|script| script.script.clone()).collect();
        let levels = model
            .levels
            .iter()
            .map(|level| {
                let configuration =
                    ran.iter().find(|configuration| configuration.index == level.configuration)?;
                MixLevel::measured(level.n, configuration)
                    .filter(|measurement| measurement.scripts.len() == names.len())
            })
            .collect::<Option<Vec<_>>>()?;
        (names.len() > 1).then(|| Self::fit(names, levels, model.network()?))?
    }

    /// Fits the demands of each script at each station by relative errors, with the same stretch by
    /// queueing for all scripts.
    fn fit(names: Vec<String>, levels: Vec<MixLevel>, network: Bottlenecks) -> Option<Self> {
        let residences: Vec<[f64; 3]> = levels
            .iter()
            .map(|level| network.residences_s(level.n as usize))
            .collect::<Option<_>>()?;
        let used: Vec<usize> = (0..3).filter(|at| residences[0][*at] > 0.0).collect();
        let times = (0..names.len())
            .map(|script: usize| {
                let rows: Vec<Vec<f64>> = levels
                    .iter()
                    .zip(&residences)
                    .map(|(level, residences)| {
                        used.iter()
                            .map(|at| residences[*at] / level.scripts[script].cycle_s)
                            .collect()
                    })
                    .collect();
                let mut times = [0.0; 3];
                used.iter().zip(non_negative(&rows)).for_each(|(at, found)| times[*at] = found);
                times
            })
            .collect();
        Some(Self { names, levels, network, times })
    }

    /// Share of all transactions by the weights.
    fn share(&self, script: usize) -> f64 {
        self.levels.iter().map(|level| level.scripts[script].share).sum::<f64>()
            / self.levels.len() as f64
    }

    /// Returns the share of a script's latency in a cycle, at the nearest level that was measured.
    fn latency_share(&self, script: usize, n: f64) -> f64 {
        let distance = |level: &&MixLevel| (level.n / n).ln().abs();
        let near = self.levels.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        near.map_or(1.0, |level| level.scripts[script].latency_s / level.scripts[script].cycle_s)
    }

    /// Seconds from transaction to transaction of each script, with `n` connections that draw, and
    /// of the mean transaction.
    fn cycles_s(&self, n: f64) -> Option<(Vec<f64>, f64)> {
        let residences = self.network.residences_s(n as usize)?;
        let all: Vec<f64> = self
            .times
            .iter()
            .map(|times| times.iter().zip(residences).map(|(time, all)| time * all).sum())
            .collect();
        let mean =
            all.iter().enumerate().map(|(script, latency)| self.share(script) * latency).sum();
        Some((all, mean))
    }

    /// Predicts each script for `n` connections that draw scripts and reach `throughput`.
    fn drawn(&self, n: f64, throughput: f64) -> Option<Vec<ScriptPrediction>> {
        let (cycles_s, mean_s) = self.cycles_s(n)?;
        Some(
            cycles_s
                .into_iter()
                .enumerate()
                .map(|(at, cycle_s)| ScriptPrediction {
                    script: self.names[at].clone(),
                    throughput: throughput * self.share(at),
                    latency_s: n / throughput * cycle_s / mean_s * self.latency_share(at, n),
                })
                .collect(),
        )
    }

    /// Predicts each script for connections that run only one script each, by approximate mean
    /// value analysis.
    fn separate(&self, connections: &[f64]) -> Option<Vec<ScriptPrediction>> {
        let stations = self.network.stations();
        let services: Vec<Service> =
            stations.iter().map(|station| station.service.clone()).collect();
        let used: Vec<usize> = (0..connections.len()).filter(|at| connections[*at] > 0.0).collect();
        let found = several_classes(
            &services,
            &used
                .iter()
                .map(|at| Class {
                    customers: connections[*at],
                    demands_s: stations
                        .iter()
                        .zip(self.times[*at])
                        .map(|(station, times)| station.demand_s * times)
                        .collect(),
                })
                .collect::<Vec<_>>(),
        )?;
        let all: f64 = connections.iter().sum();
        Some(
            used.iter()
                .zip(found)
                .map(|(at, throughput)| ScriptPrediction {
                    script: self.names[*at].clone(),
                    throughput,
                    latency_s: connections[*at] / throughput * self.latency_share(*at, all),
                })
                .collect(),
        )
    }

    /// Returns the errors of the latencies at the held-out levels, when all is fitted to the
    /// others.
    fn error_median(self, model: &ModelSummary) -> Option<f64> {
        let is_seen = |n: f64| {
            model.levels.iter().any(|level| level.n.total_cmp(&n).is_eq() && level.tested.is_none())
        };
        let points: Vec<Level> =
            model.points.iter().filter(|point| is_seen(point.n)).cloned().collect();
        let (known, unseen): (Vec<_>, Vec<_>) =
            self.levels.into_iter().partition(|level| is_seen(level.n));
        let fitted = Self::fit(self.names, known, model.network_of(&points)?)?;
        let tested = model.levels.iter().filter_map(|level| level.tested.as_ref());
        let mut errors = Vec::new();
        for (test, level) in tested.zip(unseen) {
            let predictions = fitted.drawn(level.n, test.prediction.predicted)?;
            errors.extend(
                predictions.iter().zip(&level.scripts).map(|(predicted, script)| {
                    (predicted.latency_s / script.latency_s - 1.0).abs()
                }),
            );
        }
        median(&errors)
    }
}
