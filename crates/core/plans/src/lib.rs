//! Execution plans as engines write them, read into one model. Pure: text in, data out.
//!
//! - [`read`]: the statements of a file: SQL Server's ShowPlan XML, PostgreSQL's EXPLAIN as JSON or
//!   text and the log of its `auto_explain`, EXPLAIN and ANALYZE of MariaDB and MySQL as JSON
//! - [`of_sqlite`]: the steps that SQLite tells of a statement
//! - [`Statement`], [`Plan`], [`Operator`]: the model
//! - [`Kind`]: one vocabulary of operators; the engine's own name is kept beside it
//! - [`remarks`]: what a plan itself gives reason to look at, with the figures that say so
//! - [`index_uses`]: which statements use which index

mod error;
mod file;
mod indexes;
mod kind;
mod mariadb;
mod model;
mod mysql;
mod postgres;
mod postgres_text;
mod remarks;
mod showplan;
mod sqlite;

pub use error::PlanError;
pub use file::{FILE_BYTES_MAX, read};
pub use indexes::{IndexUse, Uses, index_uses};
pub use kind::Kind;
pub use model::{
    Access, Engine, MissingIndex, Object, Operator, Parameter, Plan, Predicate, Role, Rows,
    Statement, Wait, Warning,
};
pub use remarks::{Remark, remarks};
pub use sqlite::{Step, of_sqlite};

/// The words that statements begin with which have plans, in capitals.
pub const VERBS: [&str; 9] =
    ["SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"];
