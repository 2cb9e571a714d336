//! Examined servers: the nouns of their statements and plans, and each engine's readers of them.
//!
//! - [`plans`]: execution plans in one model for all engines
//! - [`statements`]: statements, tables and indexes of a server, with their counters

pub mod plans;
pub mod statements;
