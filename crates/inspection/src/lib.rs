//! Examined servers: the nouns of their statements and plans, and each engine's readers of them.
//!
//! - [`plans`]: execution plans in one model for all engines; [`plan_files`]: plans in files;
//!   [`pages`]: plans in documents
//! - [`statements`]: statements, tables and indexes of a server, with their counters;
//!   [`query_reader`]: what reads them; [`sql_tree`]: their texts as trees
//! - [`survey`]: what servers are and how they are set; [`observation`]: servers over an interval;
//!   [`volume_advice`]: problems of volumes
//! - [`xml`]: documents from outside, within limits
//! - [`Inspection`]: what an engine brings for both; a folder for each engine, with its surveys and
//!   their rules (`server_rules`)

mod adapter;
pub mod duckdb;
pub mod mariadb;
pub mod observation;
pub mod pages;
pub mod plan_files;
pub mod plans;
pub mod postgres;
pub mod query_reader;
mod server_rules;
pub mod sql_tree;
pub mod sqlite;
pub mod sqlserver;
pub mod statements;
pub mod survey;
mod volume_advice;
pub mod xml;

pub use adapter::{Inspection, OpenFile, OpenServer, OpenedReader, UnknownEngine, rules};
pub use query_reader::{QueryLimits, QueryReader};
pub use volume_advice::volume_advice;
