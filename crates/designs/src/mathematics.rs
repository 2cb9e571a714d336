//! Designs of experiments that answer large questions with few runs, and their analysis: plain
//! numbers, which know no engine, probe or file.
//!
//! - [`Fraction`]: two-level fractions with minimum aberration
//! - [`plackett_burman`]: main effects of up to 23 factors in 12, 20 or 24 runs
//! - [`Screening`]: one of these, by its resolution or its number of runs
//! - [`Design`]: the runs of any two-level design, with fold-over, centre points and whole plots
//! - [`Contrasts`]: the effects that a design can estimate, each with its alias chain
//! - [`Lenth`]: effects without repeats; [`Stratum`]: effects with repeats
//! - [`Curvature`]: centre points; [`Confirmation`]: predictions against fresh repeats
//! - [`Fit`]: least squares; [`models`]: models with interactions under heredity
//! - [`central_composite`], [`box_behnken`], [`Coding`]: designs of response surfaces
//! - [`Surface`]: the second-order model, its lack of fit and its path of steepest ascent
//! - [`Stationary`]: its stationary point; [`RegionRange`]: where that may be

mod alias;
mod coding;
mod confirmation;
mod curvature;
mod design;
mod effects;
mod fit;
mod fraction;
mod heredity;
mod lenth;
mod path;
mod plackett_burman;
mod region;
mod screening;
mod search;
mod stationary;
mod subsets;
mod surface;
mod surface_design;

pub use alias::{Chain, Contrasts, Term};
pub use coding::Coding;
pub use confirmation::{Confirmation, PredictedDifference, Verdict};
pub use curvature::{CentredBlocks, Curvature};
pub use design::Design;
pub use effects::{Effect, Stratum, detectable};
pub use fit::{Fit, FitError};
pub use fraction::{DesignError, Fraction, Generator, Resolution, fewest_runs};
pub use heredity::{Model, models};
pub use lenth::Lenth;
pub use plackett_burman::plackett_burman;
pub use region::RegionRange;
pub use screening::{Screening, Size};
pub use stationary::{AxisCurvature, Kind, Stationary};
pub use surface::{LackOfFit, Surface};
pub use surface_design::{
    Alpha, SurfaceDesign, SurfacePart, around, box_behnken, central_composite,
};
