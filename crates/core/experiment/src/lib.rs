//! The experiment file: factors and levels in, a [`Plan`] of configurations and trials out.
//!
//! Plain data; knows no engine and no probe by name. Their settings come in as a [`Catalog`] of
//! [`Declaration`]s, from which validation, the JSON Schema and the commented example file are all
//! made.
//!
//! - `document`, `human`: TOML with positions, values as people write them
//! - `setting`, `kind`: how settings are declared; `catalog`: those of engines and probes;
//!   `vocabulary`: those of a file
//! - `sections`: sections of disturbances, and those that a guest reads by itself
//! - [`file`], [`common`]: the settings that no engine or probe owns
//! - `parse`: from the text to factors, from factors to configurations
//! - [`durability`]: what a crash may cost, alike for every engine
//! - `draft`: an experiment that a program builds, written as a file
//! - `hidden`: an experiment without its command lines
//! - `named_file`: scripts and other files that an experiment names
//! - `design`: what a design brings that is not a grid; `design_file`: the file as it reads it;
//!   `design_runs`: its runs
//! - `in_source`: parts of a recorded file
//! - `plan`: the order of the trials
//! - `changes`: what differs between two versions of a file
//! - `read`: reads files that people write, up to a size
//! - `schema`, `example`: what editors and newcomers need

mod catalog;
mod changes;
pub mod common;
mod configuration;
mod design;
mod design_file;
mod design_runs;
mod document;
mod draft;
pub mod durability;
mod error;
mod example;
mod experiment;
pub mod file;
mod hidden;
mod human;
mod in_source;
mod kind;
mod named_file;
mod nearest;
mod parse;
mod plan;
mod read;
mod schema;
mod sections;
mod setting;
mod vocabulary;

pub use catalog::{Catalog, ExampleLevels, OtherName};
pub use changes::{Changes, changes, describe};
pub use configuration::{Configuration, Level};
pub use design::{Design, DesignSchedule, Designs};
pub use design_file::{DESIGN_KIND, DesignFile, DesignPlace, GRID};
pub use design_runs::{Added, DesignRuns, STAGE, Stage};
pub use document::{Entry, Leaf, Node};
pub use draft::{Draft, LinkedSettings};
pub use durability::{Durability, DurabilityRule, Risk};
pub use error::{Errors, Fault, FileError, FileErrors, Invalid};
pub use example::example;
pub use experiment::{
    Blocks, Budget, Experiment, Factor, FactorLevel, GuestSearch, LeftOut, Repeats, Volume,
};
pub use in_source::{design_kind, value_in_source};
pub use kind::Kind;
pub use named_file::{NamedFile, hash_of_file};
pub use nearest::{nearest, unknown_name};
pub use observations::{FromValue, Role, Value};
pub use parse::{file_name, parse, read_sections};
pub use plan::{Plan, PlannedTrial};
pub use read::{SOURCE_BYTES_MAX, read_bytes, read_text};
pub use schema::schema;
pub use sections::{AnalysisSection, CommonSection, GuestFile, GuestSections, SectionReader};
pub use setting::{Declaration, Example, Reach, Setting};
pub use vocabulary::read_as;
