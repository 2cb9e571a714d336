//! Sentences with the evidence behind them. How they say it: `wording.rs`.

mod caveats;
mod verdict;
mod wait_changes;

use crate::{Decomposition, Summary};
use serde::Serialize;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The verdict: sweet spot and factor, or that nothing differs.
    Verdict,
    /// Which waits fell and rose.
    Waits,
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

/// Two levels of the main factor between which something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: usize,
    to: usize,
}

/// The findings of a run: the verdict, the waits that explain it, the other factors, the caveats.
///
/// `decompose(factor, from, to)` gives the difference between two levels of a factor.
pub(crate) fn find(
    summary: &Summary,
    decompose: impl Fn(usize, usize, usize) -> Option<Decomposition>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let main = summary.main_factor.filter(|factor| *factor < summary.factors.len());
    let span = main.and_then(|main| verdict::span(&summary.factors[main]));
    if summary.done > 0 {
        match main {
            Some(main) => findings.push(verdict::main_factor(summary, &summary.factors[main])),
            None => findings.extend(verdict::single(summary)),
        }
        if let (Some(main), Some(span)) = (main, span) {
            let decomposition = decompose(main, span.from, span.to);
            findings.extend(decomposition.and_then(|d| wait_changes::find(&summary.factors[main], span, &d)));
        }
        findings.extend(verdict::other_factors(summary, main));
        findings.extend(verdict::best_configuration(summary));
    }
    findings.extend(caveats::find(summary, span));
    findings
}
