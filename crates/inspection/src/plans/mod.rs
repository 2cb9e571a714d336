//! Execution plans in one model for all engines. Pure data; engines read their own formats into it.
//!
//! - [`Statement`], [`Plan`], [`Operator`]: the model
//! - [`CostPart`]: an operator's cost by a published formula
//! - [`Plan::own`]: the share of each operator in cost and time
//! - [`Kind`]: one vocabulary of operators, beside the engine's own names
//! - [`Property`], [`Trait`], [`Obstacle`]: what remarks are about
//! - [`remarks`]: findings of a plan by itself, with the figures that say so; [`Terms`]: an
//!   engine's words that they depend on
//! - [`index_uses`]: which statements use which index
//! - [`PlanFormats`]: the formats that an engine writes; [`documents`]: statements in JSON, which
//!   several engines write

mod condition;
mod cost;
mod documents;
mod error;
mod formats;
mod indexes;
mod kind;
mod model;
mod net_cost;
mod property;
mod remarks;
mod terms;

pub use condition::Obstacle;
pub use cost::{CostPart, CostTerm};
pub use documents::{documents, has_member, number};
pub use error::PlanError;
pub use formats::PlanFormats;
pub use indexes::{IndexUse, Uses, index_uses};
pub use kind::{Access, Kind};
pub use model::{
    Memory, MissingIndex, Object, Operator, Parameter, Plan, Predicate, Role, Rows, RunCost,
    Statement, Statistics, Wait, Warning,
};
pub use net_cost::NetCost;
pub use property::{Property, Trait};
pub use remarks::{Measure, Remark, Rule, Share, remarks};
pub use terms::Terms;

/// Bytes of a file with plans that are read at most. The largest plan of a known engine has 2 GB,
/// of those that people look at 20 MB.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
