//! Plans as PostgreSQL writes them: EXPLAIN as text and JSON, and the log of `auto_explain`.
//!
//! - `log`: the plans of a log; `formats`: which format a text has
//! - `frame`: rows without what clients print around them
//! - `text` (with `heading`, `property`): into the documents that JSON has
//! - `document`: a document into the model; `parts`: the time of parts that run when first needed
//! - `costs`: costs of scans by the planner's formula

mod costs;
mod document;
mod formats;
mod frame;
mod heading;
mod log;
mod node;
mod parts;
mod property;
mod statement;
mod text;

use crate::plans::PlanFormats;

/// The formats of PostgreSQL.
pub const PLANS: PlanFormats = PlanFormats {
    names: "EXPLAIN of PostgreSQL as text or JSON, and the log of its auto_explain",
    recognise: |text| log::recognises(text) || formats::recognises(text),
    read: |text| if log::recognises(text) { Ok(log::read(text)) } else { formats::read(text) },
};
