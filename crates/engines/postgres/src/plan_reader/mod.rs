//! Plans as PostgreSQL writes them: EXPLAIN as text and JSON, and the log of `auto_explain`.
//!
//! - `log`: the plans of a log; `formats`: which format a text has
//! - `frame`: rows without what clients print around them
//! - `text` (with `heading`, `property`): into the documents that JSON has
//! - `document`: a document into the model; `parts`: the time of parts that run when first needed
//! - `costs`: costs by the planner's formulas, with the `prices` of a plan and its `condition`s

mod condition;
mod costs;
mod document;
mod formats;
mod frame;
mod heading;
mod log;
mod node;
mod parts;
mod prices;
mod property;
mod statement;
mod text;

use engine::Plans;
use inspection::plans::{PlanError, Statement};
pub use node::ENGINE;

/// The formats of PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExplainPlans;

impl Plans for ExplainPlans {
    fn formats(&self) -> &'static str {
        "EXPLAIN of PostgreSQL as text or JSON, and the log of its auto_explain"
    }

    fn recognises(&self, text: &str) -> bool {
        log::recognises(text) || formats::recognises(text)
    }

    fn read(&self, text: &str) -> Result<Vec<Statement>, PlanError> {
        if log::recognises(text) {
            return Ok(log::read(text));
        }
        formats::read(text)
    }
}
