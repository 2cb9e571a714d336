//! Sentences with the evidence behind them. How they say it: `wording.rs`.

mod caveats;
mod factors;
pub(crate) mod verdict;
pub(crate) mod why;

use crate::Summary;
use serde::Serialize;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The verdict: sweet spot and factor, or that nothing differs.
    Verdict,
    /// Which waits fell and rose.
    Waits,
    /// Which code takes more or less processor time.
    Code,
    /// How the response goes along a factor, and what depends on another one.
    Factors,
    /// Something that limits what can be concluded: failed trials, marks, drift, synthetic figures.
    Caveat,
}

/// One sentence and why it may be said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// The sentence.
    pub text: String,
    /// Figures behind it: intervals, p-values, n.
    pub evidence: String,
}

impl Finding {
    fn new(kind: FindingKind, text: String, evidence: String) -> Self {
        Self { kind, text, evidence }
    }
}

impl Summary<'_> {
    /// The findings of a run: the verdict, the waits that explain it, the other factors, the caveats.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let main = self.main_effect();
        if self.done() > 0 {
            match main {
                Some(effect) => findings.push(verdict::main_factor(self, effect)),
                None => findings.extend(verdict::single(self)),
            }
            findings.extend(verdict::other_factors(self, self.main_factor));
            findings.extend(factors::shapes(self));
            findings.extend(factors::interaction(self));
            findings.extend(verdict::best_configuration(self));
            findings.extend(self.explanations().iter().flat_map(why::find));
        }
        findings.extend(caveats::find(self, main.and_then(verdict::span)));
        findings
    }
}
