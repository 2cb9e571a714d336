//! The settings of `[design]` and of an `[[extension]]`.

use experiment::{GRID, Kind, settings};

/// The kind of screenings.
pub const SCREENING: &str = "screening";
/// The kind of races.
pub const RACE: &str = "race";
/// The kind of response surfaces.
pub const RESPONSE_SURFACE: &str = "response-surface";
/// Kinds of designs.
const KINDS: &[&str] = &[GRID, SCREENING, RACE, RESPONSE_SURFACE];
/// Designs of response surfaces.
const SURFACES: &[&str] = &["central-composite", "box-behnken"];
/// Places of the axial points of a central composite design.
const AXIAL: &[&str] = &["faced", "rotatable", "orthogonal-blocks"];
/// Kinds of extensions.
const EXTENSIONS: &[&str] = &["fold", "confirm", "surface"];
/// Resolutions of screening designs.
const RESOLUTIONS: &[&str] = &["III", "IV", "V"];
const COUNT: Kind = Kind::Count { min: 1, max: 1_000_000 };

settings! {
    /// The settings of `[design]`.
    pub const SETTINGS = [];
    /// Which combinations of levels are run. screening: few runs that estimate the effect of each
    /// of many factors with two levels; effects may be aliased with interactions. race: all
    /// combinations run the first blocks, then losers leave after each block. response-surface:
    /// points between a low and a high level of each factor, to which a curved surface is fitted.
    pub DESIGN_KIND: String =
        "design.kind", Kind::Choice(KINDS), "grid", Shown "\"screening\"";
    /// The fewest runs with this resolution. III: main effects are aliased with interactions of two
    /// factors; IV: only interactions of two factors with each other; V: neither.
    pub RESOLUTION: Option<String> =
        "design.resolution", Kind::Choice(RESOLUTIONS), Shown "\"IV\"";
    /// This number of runs instead: 4, 8, 16, 32 or 64 (a fraction), or 12, 20 or 24
    /// (Plackett-Burman).
    pub RUNS: Option<u64> = "design.runs", Kind::Count { min: 4, max: 64 }, Shown "16";

    /// Blocks that all candidates of a race run before the first of them leave.
    pub RACE_FIRST: u32 = "design.first", Kind::Count { min: 2, max: 1_000 }, "5", Shown "5";

    /// The points of a response surface. central-composite: corners, axes and centre of a cube;
    /// box-behnken: middles of its edges and its centre, so that no run has all extremes at once.
    pub SURFACE: String =
        "design.surface", Kind::Choice(SURFACES), "central-composite",
        Shown "\"central-composite\"";
    /// Where the axial points of a central composite design lie. faced: in the faces of the cube,
    /// between the levels of the file. rotatable: beyond them, so that errors depend on the
    /// distance from the centre alone. orthogonal-blocks: corners and axes in alternate blocks.
    pub AXIAL_POINTS: String =
        "design.axial", Kind::Choice(AXIAL), "faced", Shown "\"rotatable\"";
    /// Runs of the centre in each block. A response surface has 3 by default; a screening of
    /// numeric factors has as many as are given here, to test for curvature.
    pub CENTRE_POINTS: u32 =
        "design.centre_points", Kind::Count { min: 0, max: 100 }, "3", Shown "3";
    /// Factors whose levels have equal ratios, not equal differences, which decides their centre.
    pub LOG_SCALE: Vec<String> = "design.log_scale", Kind::TextList;
}

settings! {
    /// Keys of one `[[extension]]`.
    pub const EXTENSION = [];
    /// fold: the runs of the design with reversed levels, which separates aliased effects.
    /// confirm: runs that are compared with their prediction. surface: axial and centre points of a
    /// response surface around the runs of the design.
    pub EXTENSION_KIND: String = "extension.kind", Kind::Choice(EXTENSIONS), "fold";
    /// The factor whose levels a fold reverses; default: all factors.
    pub EXTENSION_FACTOR: Option<String> = "extension.factor", Kind::Text;
    /// The runs of a confirmation, the predicted best first: for each factor, in the order of the
    /// file, - for its first level or + for its second.
    pub EXTENSION_RUNS: Vec<String> = "extension.runs", Kind::TextList;
    /// The effects that predict the runs of a confirmation, by the letters of their factors.
    pub EXTENSION_EFFECTS: Vec<String> = "extension.effects", Kind::TextList;
    /// The centre of a surface: 0 for its factors, - or + for the fixed level of the others.
    pub EXTENSION_CENTRE: Option<String> = "extension.centre", Kind::Text;
    /// Number of blocks; default: as many as `repeats.blocks`.
    pub EXTENSION_BLOCKS: Option<u32> = "extension.blocks", COUNT;
}
