//! A prediction, and the reasons for which there is none.

use crate::models::hold_out::Accuracy;
use analysis::{Estimate, Interval, wording};
use serde::Serialize;

/// The prediction of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// Levels of the factors that are not asked for: `data_files=4`; empty where there is none.
    pub group: String,
    /// The factor that the model goes along, and its level.
    pub factor: String,
    /// The level.
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
    /// The interval; `None` too where the rate is more than the lower end of the throughput.
    pub latency_interval: Option<Interval>,
    /// The prediction by script, where several ran and nothing else was changed.
    pub by_script: Option<ByScript>,
    /// The nearest level that was measured, and its throughput.
    pub nearest: (f64, Estimate),
    /// The model.
    pub model: &'static str,
    /// How well it predicts the levels that were held out.
    #[serde(flatten)]
    pub accuracy: Accuracy,
    /// The changes, each with its law.
    pub changes: Vec<ChangeLaw>,
    /// The resource that is busiest, and how busy; `None` where the queueing network cannot be
    /// fitted.
    pub limit: Option<(String, f64)>,
    /// Reasons to trust it less.
    pub warnings: Vec<String>,
}

/// A change and the law that it uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangeLaw {
    /// As it was given.
    pub change: String,
    /// The law.
    pub law: String,
}

/// Predictions by script.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByScript {
    /// In the order in which they were given.
    pub scripts: Vec<ScriptPrediction>,
    /// Median of the absolute errors of the latencies at the levels that were held out, by a fit
    /// to the others.
    pub error_median: Option<f64>,
}

/// The prediction of a script.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScriptPrediction {
    /// The name.
    pub script: String,
    /// Transactions a second.
    pub throughput: f64,
    /// Mean seconds of a transaction.
    pub latency_s: f64,
}

/// The reason for which nothing is predicted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WhatIfError {
    /// No change in that form.
    #[error(
        "{0:?} is not a change: write NAME=VALUE, for example connections=64, cpus=8, \
         device.vda.latency=0.5x or waits.WRITER_LOCK=0"
    )]
    Form(String),
    /// A value that the change does not take.
    #[error("{change}: {expected}")]
    Value {
        /// As it was given.
        change: String,
        /// Values that it takes.
        expected: &'static str,
    },
    /// An interval that says nothing.
    #[error(
        "{name}={} cannot be predicted from these levels: the 95 % interval spans a factor of {}; \
         add level {}", wording::whole(*.n), wording::figure(*.factor), wording::whole(*.add)
    )]
    Unpredictable {
        /// The factor.
        name: String,
        /// The level.
        n: f64,
        /// A level that would help.
        add: f64,
        /// Factor between the ends.
        factor: f64,
    },
    /// A change whose effect is too large to compute.
    #[error(
        "{change} cannot be predicted from these levels: the 95 % interval spans a factor of {}; \
         measure a smaller change first", wording::figure(*.factor)
    )]
    UnpredictableChange {
        /// As it was given.
        change: String,
        /// Factor between the ends.
        factor: f64,
    },
    /// Nothing of that name was measured.
    #[error("{change}: not supported by the recording: {missing}")]
    NoEvidence {
        /// As it was given.
        change: String,
        /// The measurement that would be needed.
        missing: String,
    },
    /// A rate above the throughput.
    #[error("{change} cannot be sustained: {most}")]
    Saturated {
        /// As it was given.
        change: String,
        /// The throughput, in words.
        most: String,
    },
    /// No factor that a model goes along.
    #[error(
        "there is no model of this run: it needs a factor among {} with {levels_min} or more \
         levels of numbers, measured in a closed loop", .known.join(", ")
    )]
    NoFactor {
        /// Factors that a model can go along.
        known: Vec<String>,
        /// Levels that a model needs.
        levels_min: usize,
    },
    /// Trials that no model describes.
    #[error("this run has no model: {why}")]
    Refused {
        /// The reason that the analysis gives.
        why: String,
    },
    /// No fit at this level.
    #[error("there is no model of this run: the fit cannot be computed there")]
    Fit,
}
