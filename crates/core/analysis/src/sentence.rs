//! What the analysis of a design says, before it becomes a finding.

/// A sentence with the evidence behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// True if it claims a difference.
    pub claims: bool,
    /// The sentence.
    pub text: String,
    /// Figures behind it.
    pub evidence: String,
}
