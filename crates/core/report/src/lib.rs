//! Documents of an analysis for people and programs: pure functions, no I/O.
//!
//! [`run`] and [`head_to_head`] select the sections and build a [`Document`] once; [`terminal`] and
//! [`markdown`] only lay it out. Programs read [`json`], which holds the analysis itself with exact
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
mod compare;
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
pub mod profile;
pub mod table;
pub mod text;
pub mod web;

pub use advice::{advised, yes};
pub use ascii::ascii;
pub use compare::{against_first, compared_warnings, head_to_head, head_to_head_screen};
pub use figure::{coordinate, string};
pub use gate::{gate, gate_section, gate_tone, github, junit};
pub use markdown::markdown;
pub use model::{
    Align, Bar, BarGroup, Block, Cell, Chart, ChartKind, Column, Columns, Document, Figure, Line,
    Medium, Section, Table, Tone,
};
pub use ours::is_ours;
pub use profile::{missing, more};
pub use recording::tables;
pub use screen::{Screen, legend};
pub use sections::{
    Chapter, SectionData, SectionEntry, ShowSection, StudySections, TOPICS, accounting,
    baseline_and_best, better, check as accounting_check, hot_resources, level_columns, run,
    section_data, stability, topics, wait_table, waits_left_out,
};
pub use sparkline::{sparkline, tone};
pub use terminal::{Style, terminal, wrapped};
pub use text::{Text, escaped, from_utc, lines, origin, short_name, utc, utc_second};

pub use web::{flame, html};
pub use xlsx::{WorkbookError, tables_xlsx, xlsx};
