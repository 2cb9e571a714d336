//! Settings that several designs have, and those of an `[[extension]]`.

use experiment::{Kind, settings};

/// The kind of response surfaces, as which a screening can continue.
pub const RESPONSE_SURFACE: &str = "response-surface";
/// Kinds of extensions.
pub const EXTENSIONS: &[&str] = &["fold", "confirm", "surface"];
const COUNT: Kind = Kind::Count { min: 1, max: 1_000_000 };

settings! {
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
