//! A sentence of a report, and why it may be said.

use serde::Serialize;

/// Subject of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The verdict: the level of a factor, or the configuration, that is better or worse.
    Verdict,
    /// Which waits fell and rose, and what sessions that waited met at.
    Waits,
    /// Upper bound of the gain from removing the largest wait.
    Gain,
    /// The code that takes more or less processor time.
    Code,
    /// The statements that run by another plan.
    Plan,
    /// How the response goes along a factor, and what depends on another one.
    Factors,
    /// Other responses that differ between the levels of a factor.
    Responses,
    /// Something that limits what can be concluded: failed trials, marks, drift, synthetic figures.
    Caveat,
    /// A factor has no significant effect, or its effect could not be tested.
    NoDifference,
}

/// A sentence and why it may be said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The subject.
    pub kind: FindingKind,
    /// The sentence.
    pub text: String,
    /// Figures behind it: intervals, p-values, n.
    pub evidence: String,
    /// The sentence where there is room for a line or two; `None`: as it is.
    #[serde(skip)]
    short: Option<String>,
}

impl Finding {
    /// A finding.
    pub fn new(kind: FindingKind, text: String, evidence: String) -> Self {
        Self { kind, text, evidence, short: None }
    }

    /// The finding with another sentence where there is room for a line or two.
    #[must_use]
    pub fn in_short(self, sentence: String) -> Self {
        Self { short: Some(sentence), ..self }
    }

    /// The sentence for a line or two.
    pub fn brief(&self) -> String {
        self.short.clone().unwrap_or_else(|| self.text.clone())
    }
}
