//! What people and programs see of an analysis: pure functions, no I/O.
//!
//! [`run`], [`head_to_head`], [`activity`] and [`volume`] decide what is shown and build a
//! [`Document`] once; [`terminal`] and [`markdown`] only lay it out. Programs read [`json`], which
//! holds the analysis itself with exact figures.
//!
//! [`xlsx`] is the exception to "no I/O": what would not fit in memory passes through temporary
//! files.
//!
//! *Rule*: a name from an experiment or an engine reaches a document only as a [`Text`], in which
//! control characters are spelled out: no file can command a reader's terminal.

mod activity;
mod ascii;
mod chart;
mod compare;
mod csv;
mod figure;
mod history;
mod inventories;
mod markdown;
mod model;
pub mod number;
mod ours;
mod panels;
mod parquet;
mod plans;
mod prediction;
mod profile;
mod published;
mod queries;
mod recording;
mod runs;
pub mod scaling;
mod sections;
mod sizing;
mod statement_history;
mod table;
mod terminal;
pub mod text;
mod volume;
mod workbook;
mod xlsx;

pub mod hyperfine;
pub mod json;
pub mod survey;
pub mod web;

pub use activity::{ActivityView, activity, compared_activities};
pub use ascii::ascii;
pub use compare::head_to_head;
pub use history::history;
pub use markdown::markdown;
pub use model::{
    Align, Bar, BarGroup, Block, Cell, Chart, ChartKind, Column, Columns, Document, Figure, Line,
    Medium, Section, Table, Tone,
};
pub use ours::is_ours;
pub use plans::{PlanOf, plans};
pub use prediction::prediction;
pub use profile::{folded, profile, profile_comparison};
pub use published::published;
pub use queries::queries;
pub use recording::tables;
pub use runs::{gate, runs};
pub use sections::{
    Chapter, SectionData, SectionEntry, ShowSection, StudySections, run, section_data,
};
pub use sizing::sizing;
pub use statement_history::statement_history;
pub use terminal::{Style, terminal, wrapped};
pub use text::{Text, escaped, from_utc, lines, origin, short_name, utc, utc_second};

pub use volume::volume;
pub use web::{flame, html};
pub use xlsx::{WorkbookError, queries_xlsx, xlsx};
