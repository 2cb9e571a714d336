//! Statistics of plain numbers: what `analysis` computes with. It is a crate of its own because its
//! loops are long: the build that users make first optimises this one and leaves `analysis` as it
//! is.
//!
//! - [`t_quantile`], [`t_two_sided_p`], [`f_upper_p`]: Student's t and F, as exact as scipy's
//! - [`correct`], [`adjusted`]: Holm's correction of a family of tests
//! - [`told_apart`], [`non_negative`]: sums of costs that are fitted to what they add up to

mod distribution;
mod interval;
mod least_squares;

pub use distribution::{adjusted, correct, f_upper_p, t_quantile, t_two_sided_p};
pub use interval::Interval;
pub use least_squares::{non_negative, told_apart};
