//! From a [`observations::Recording`] to what reports show: pure functions, no I/O, no engine.
//! [`summarize`] is the entry point; the data of each section is a method of [`Summary`], in a file of its own. From small
//! to large: [`Estimate`] is a mean with its interval, [`Comparison`] two configurations by paired blocks, [`FactorEffect`]
//! what the levels of a factor do, [`Decomposition`] why two configurations differ, [`Finding`] a sentence with its evidence.
//! [`health::warnings`] and [`blocks_needed`] serve the runner while a run goes on.

pub mod accounting;
pub mod activity;
pub mod ceiling;
pub mod change_points;
pub mod compare;
pub mod compression;
mod configurations;
pub mod cost;
pub mod decompose;
pub mod devices;
pub mod disk;
pub mod effects;
mod equivalence;
pub mod estimate;
pub mod findings;
pub mod gains;
mod grid;
pub mod head_to_head;
pub mod health;
pub mod interaction;
pub mod latency;
mod means;
mod open_loop;
mod outliers;
pub mod power;
pub mod profile;
pub mod response;
pub mod runs;
pub mod scaling;
pub mod scripts;
mod selected;
mod settings;
pub mod summary;
pub mod survey;
pub mod timeline;
pub mod timeouts;
pub mod volume_advice;
pub mod waits;
mod wording;

pub use accounting::{Accounting, Check};
pub use activity::{ActivityComparison, ActivitySummary, activity, compare_activities};
pub use ceiling::{Ceiling, Limit, MeasuredCeiling, Way};
pub use compare::{Comparison, Method, Scale, Standing};
pub use compression::{BreakEven, Compression, CompressionRow, FunctionChange, Pays};
pub use configurations::ConfigurationRow;
pub use cost::{CostModel, CostPrediction, CostRow, CostTerm};
pub use decompose::{CodeChange, Decomposition, Part, PartKind, WaitShape};
pub use devices::{ConfigurationDevices, DeviceFigures};
pub use disk::{DiskFigures, DiskRow, DiskSummary, Knee, KneePoint, Little, SearchLevels, knee};
pub use effects::{FactorEffect, Factors, LevelEffect, Segment, Step, Trend};
pub use estimate::{Estimate, blocks_needed};
pub use findings::{Explanation, Finding, FindingKind};
pub use gains::{BestOfLevel, GainColumn, GainTable};
pub use head_to_head::{
    HeadToHead, MatchedCells, Percent, ResponseChange, Side, compare, compare_over, matched_cells,
};
pub use health::{Failure, WarningCount, WarningSides, WarningsCompared};
pub use interaction::Interaction;
pub use latency::{ConfigurationLatency, Latencies};
pub use open_loop::OpenLoop;
pub use outliers::{Drift, Outlier};
pub use power::Detectable;
pub use profile::compare::{ProfileComparison, compare_profiles};
pub use profile::{FlameNode, ProfileSummary, flame, merged, profile};
pub use response::ResponseChoice;
pub use runs::{RunsCompared, compare_runs, history};
pub use scaling::{ScalingClass, ScalingSummary};
pub use scripts::{ConfigurationScripts, ScriptFigures, StatementFigures};
pub use settings::ConfigurationGroup;
pub use statistics::Interval;
pub use summary::{Environments, Overview, Summary, summarize, summarize_with};
pub use timeline::Timeline;
pub use timeouts::Bound;
pub use volume_advice::volume_advice;
pub use waits::{ConfigurationWaits, WaitOptions, WaitRow, WaitTable};
