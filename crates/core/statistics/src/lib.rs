//! Statistics of plain numbers: what `analysis` computes with. It is a crate of its own because its
//! loops are long: the build that users make first optimises this one and leaves `analysis` as it
//! is.
//!
//! - [`t_quantile`], [`t_two_sided_p`], [`f_upper_p`]: Student's t and F, as exact as scipy's
//! - [`normal_upper_p`], [`normal_density`]: the normal distribution
//! - [`correct`], [`adjusted`]: Holm's correction of a family of tests
//! - [`change_points`]: where a series of runs changes its level
//! - [`regimes`]: whether repeats fall into two or three groups
//! - [`discoveries`]: false discovery rates of a family of tests
//! - [`step`]: the step in which values were rounded
//! - [`independent_columns`], [`non_negative`]: fits of costs to their sums; [`dot`], [`norm`]
//! - [`mean`], [`geometric_mean`], [`median`], [`median_of_sorted`]

pub mod change_points;
mod distribution;
mod least_squares;
mod mean;
mod regimes;
mod series;
mod step;

pub use distribution::{
    adjusted, correct, discoveries, f_upper_p, normal_density, normal_upper_p, t_quantile,
    t_two_sided_p,
};
pub use least_squares::{dot, independent_columns, non_negative, norm};
pub use mean::{geometric_mean, mean, median, median_of_sorted};
pub use regimes::{Regimes, VALUES_MIN as REGIMES_VALUES_MIN, regimes};
pub use series::{normal, shuffle};
pub use step::step;
