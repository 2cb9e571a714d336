//! Settings of response surfaces.

use experiment::{Kind, settings};

/// A central composite design.
pub const COMPOSITE: &str = "central-composite";
/// Designs of response surfaces.
const SURFACES: &[&str] = &[COMPOSITE, "box-behnken"];
/// Places of the axial points of a central composite design.
const AXIAL: &[&str] = &["faced", "rotatable", "orthogonal-blocks"];

settings! {
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
}
