//! The words of engines in their plans.

/// An engine's own words in plans that remarks and redaction depend on.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Warnings that quote the statement, with the constants in it.
    pub quoting_warnings: &'static [&'static str],
    /// Warnings about figures that the model has: remarks judge these by themselves.
    pub judged_warnings: &'static [&'static str],
    /// Reasons for a serial plan, or for an early end of the optimizer's search, that need no
    /// attention: the plan is cheap anyway.
    pub harmless_reasons: &'static [&'static str],
    /// The cost from which the optimizer considers a parallel plan, where a setting of the server
    /// does not change it.
    pub parallel_cost: f64,
    /// The source of the formulas of its costs; empty where there are none.
    pub cost_source: &'static str,
}

impl Terms {
    /// The terms of an engine without such warnings and reasons.
    pub const NONE: Self = Self {
        quoting_warnings: &[],
        judged_warnings: &[],
        harmless_reasons: &[],
        parallel_cost: 0.0,
        cost_source: "",
    };
}
