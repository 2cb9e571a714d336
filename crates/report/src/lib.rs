//! What people and programs see of an analysis: pure functions, no I/O.
//!
//! [`run`], [`head_to_head`], [`activity`] and [`volume`] decide what is shown and build a [`Document`] once;
//! [`terminal`] and [`markdown`] only lay it out. Programs read [`json`], which holds the
//! analysis itself with exact figures.
//!
//! *Rule*: a name from an experiment or an engine reaches a document only as a [`Text`], in which
//! control characters are spelled out: no file can command a reader's terminal.

mod accounting;
mod activity;
mod ceiling;
mod chart;
mod compare;
mod configurations;
mod devices;
mod disk;
mod html;
mod markdown;
mod model;
mod notes;
mod number;
mod run;
mod terminal;
mod text;
mod time;
mod volume;
mod waits;

pub mod json;

pub use activity::activity;
pub use compare::head_to_head;
pub use html::html;
pub use markdown::markdown;
pub use model::{
    Align, Bar, BarGroup, Block, Cell, Chart, ChartKind, Column, Document, Line, Section, Table, Tone,
};
pub use run::run;
pub use terminal::{Style, terminal};
pub use text::Text;
pub use time::utc;
pub use volume::volume;
