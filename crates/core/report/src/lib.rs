//! Documents of an analysis for people and programs: pure functions, no I/O.
//!
//! [`run`] selects the sections and builds a [`Document`] once; [`terminal`] and [`markdown`] only
//! lay it out. Programs read [`json`], which holds the analysis itself with exact
//! figures.
//!
//! [`xlsx`] is the exception to "no I/O": what would not fit in memory passes through temporary
//! files.
//!
//! *Rule*: a name from an experiment or an engine reaches a document only as a [`Text`], in which
//! control characters are spelled out: no file can command a reader's terminal.

mod advice;
mod ascii;
mod chart;
mod csv;
mod extent;
mod figure;
mod gate;
mod markdown;
mod ours;
mod panels;
mod parquet;
mod recording;
pub mod scaling;
mod screen;
mod sections;
mod sparkline;
mod terminal;
mod work_scale;
mod workbook;
mod xlsx;

pub mod json;
pub mod model;
pub mod number;
pub mod table;
pub mod text;
pub mod web;

pub use advice::{advised, missing, yes};
pub use ascii::ascii;
pub use figure::{coordinate, string};
pub use gate::{gate, gate_section, gate_tone, github, junit};
pub use markdown::markdown;
pub use model::{
    Align, Bar, BarGroup, Block, Cell, Chart, ChartKind, Column, Columns, Document, Figure, Line,
    Medium, Section, Table, Tone,
};
pub use ours::{SVG_GENERATOR, is_ours};
pub use recording::tables;
pub use screen::{Screen, legend};
pub use sections::{
    Chapter, SectionData, SectionEntry, ShowSection, StudySections, TOPICS, accounting,
    baseline_and_best, better, check as accounting_check, code_changes, effect_section,
    hot_resources, interaction_section, level_columns, run, section_data, sentences, topics,
    wait_table, waits_left_out, waterfall, waterfall_legend,
};
pub use sparkline::{sparkline, tone};
pub use terminal::{Style, terminal, wrapped};
pub use text::{Text, escaped, from_utc, lines, origin, short_name, utc, utc_second};

pub use web::html;
pub use work_scale::WorkScale;
pub use xlsx::{WorkbookError, tables_xlsx, xlsx};
