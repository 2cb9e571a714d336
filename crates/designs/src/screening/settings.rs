//! Settings of screenings.

use experiment::{Kind, settings};

/// The kind in files.
pub const KIND: &str = "screening";
/// Resolutions of screening designs.
const RESOLUTIONS: &[&str] = &["III", "IV", "V"];

settings! {
    /// The fewest runs with this resolution. III: main effects are aliased with interactions of two
    /// factors; IV: only interactions of two factors with each other; V: neither.
    pub RESOLUTION: Option<String> =
        "design.resolution", Kind::Choice(RESOLUTIONS), Shown "\"IV\"";
    /// This number of runs instead: 4, 8, 16, 32 or 64 (a fraction), or 12, 20 or 24
    /// (Plackett-Burman).
    pub RUNS: Option<u64> = "design.runs", Kind::Count { min: 4, max: 64 }, Shown "16";
}
