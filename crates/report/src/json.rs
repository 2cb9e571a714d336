//! The analysis for programs: exact figures, stable names.
//!
//! Every object has `schema` (`steelbench/1`, of a run `steelbench/2`: a number that grows when a program that reads it
//! would have to change) and `kind`. Seconds are seconds, shares are from 0 to 1; a figure that cannot be
//! told is `null`.

use analysis::runs::{Gate, History, RunsCompared};
use analysis::{ActivitySummary, HeadToHead, ProfileComparison, ProfileSummary, Summary};
use observations::{Advice, Profile, Recording, VolumeFacts};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// Version of what this module writes.
pub const SCHEMA: &str = "steelbench/1";
/// Version of a run's object, as it was analysed and as it was recorded.
const RUN_SCHEMA: &str = "steelbench/2";

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

#[derive(Serialize)]
struct Recorded<'a> {
    schema: &'static str,
    #[serde(flatten)]
    recording: &'a Recording,
}

#[derive(Serialize)]
struct Compared<'a> {
    from_label: &'a str,
    to_label: &'a str,
    #[serde(flatten)]
    compared: &'a HeadToHead,
}

#[derive(Serialize)]
struct Inspected<'a> {
    #[serde(flatten)]
    facts: &'a VolumeFacts,
    advice: &'a [Advice],
}

#[derive(Serialize)]
struct Gated<'a> {
    #[serde(flatten)]
    compared: &'a RunsCompared,
    gate: Option<&'a Gate>,
}

fn object(kind: &'static str, content: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::to_value(Envelope { schema: SCHEMA, kind, content })
}

/// A run: `kind` is `summary`, then the data of each section by its name.
///
/// # Errors
/// None that the types of the analysis allow; serde's signature has one.
pub fn summary(summary: &Summary) -> serde_json::Result<Value> {
    serde_json::to_value(Envelope {
        schema: RUN_SCHEMA,
        kind: "summary",
        content: &crate::sections::data(summary)?,
    })
}

/// All that a run recorded, as one object: its schema, then the fields of [`Recording`]. Histograms are arrays of
/// `[nanoseconds, count]`; a figure that is not a finite number is `null`; integers are exact up to 2^64.
///
/// # Errors
/// Those of the writer.
pub fn recording(recording: &Recording, mut writer: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut writer, &Recorded { schema: RUN_SCHEMA, recording })?;
    writeln!(writer)?;
    writer.flush()
}

/// A profile: `kind` is `profile`, then the fields of [`ProfileSummary`].
///
/// # Errors
/// As [`summary`].
pub fn profile(summary: &ProfileSummary) -> serde_json::Result<Value> {
    object("profile", summary)
}

/// Kind of a profile with all its stacks.
pub const SAMPLES: &str = "samples";

/// A profile with all its stacks, to be read again: `kind` is [`SAMPLES`], then the fields of [`Profile`].
///
/// # Errors
/// As [`summary`].
pub fn samples(profile: &Profile) -> serde_json::Result<Value> {
    object(SAMPLES, profile)
}

/// Two profiles: `kind` is `profile_comparison`, then the fields of [`ProfileComparison`].
///
/// # Errors
/// As [`summary`].
pub fn profile_comparison(compared: &ProfileComparison) -> serde_json::Result<Value> {
    object("profile_comparison", compared)
}

/// Two configurations: `kind` is `comparison`, then their labels and the fields of [`HeadToHead`].
///
/// # Errors
/// As [`summary`].
pub fn head_to_head(compared: &HeadToHead, from: &str, to: &str) -> serde_json::Result<Value> {
    let content = Compared { from_label: from, to_label: to, compared };
    object("comparison", &content)
}

/// A live server: `kind` is `activity`, then the fields of [`ActivitySummary`].
///
/// # Errors
/// As [`summary`].
pub fn activity(summary: &ActivitySummary) -> serde_json::Result<Value> {
    object("activity", summary)
}

/// What is under a path: `kind` is `volume`, then the fields of [`VolumeFacts`] and `advice`.
///
/// # Errors
/// As [`summary`].
pub fn volume(facts: &VolumeFacts, advice: &[Advice]) -> serde_json::Result<Value> {
    let content = Inspected { facts, advice };
    object("volume", &content)
}

/// Two runs: `kind` is `run_comparison`, then the fields of [`RunsCompared`] and `gate`, which is `null` where no
/// limit was given.
///
/// # Errors
/// As [`summary`].
pub fn runs(compared: &RunsCompared, gate: Option<&Gate>) -> serde_json::Result<Value> {
    let content = Gated { compared, gate };
    object("run_comparison", &content)
}

/// Many runs of an experiment: `kind` is `history`, then the fields of [`History`].
///
/// # Errors
/// As [`summary`].
pub fn history(history: &History) -> serde_json::Result<Value> {
    object("history", history)
}
