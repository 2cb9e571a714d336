//! Plans as MariaDB and MySQL write them: EXPLAIN and ANALYZE as JSON.

mod blocks;
mod statement;
mod tree;

use engine::Plans;
use inspection::plans::{PlanError, Statement, documents, has_member};
pub use statement::ENGINE;

/// The member of a document of MariaDB, and of MySQL in the first version of its format.
const BLOCK: &str = "query_block";
/// The member of a document of MySQL in the second version of its format.
const TREE: &str = "query_plan";

/// The formats of MariaDB and MySQL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonPlans;

impl Plans for JsonPlans {
    fn formats(&self) -> &'static str {
        "EXPLAIN and ANALYZE FORMAT=JSON of MariaDB and MySQL"
    }

    fn recognises(&self, text: &str) -> bool {
        json(text).is_some()
    }

    fn read(&self, text: &str) -> Result<Vec<Statement>, PlanError> {
        documents(json(text).ok_or(PlanError::Unknown)?, |document| {
            let of_blocks = document.get(BLOCK).map(|_| blocks::read(document));
            of_blocks.or_else(|| document.get(TREE).map(|_| tree::read(document)))
        })
    }
}

/// The JSON of a text, also behind the name of a column (`EXPLAIN: {`, as in a client's vertical
/// output).
fn json(text: &str) -> Option<&str> {
    let begin = text.find(['{', '['])?;
    let (before, json) = text.split_at(begin);
    let before = before.trim_end();
    let is_alone = before.is_empty() || before.ends_with(':');
    (is_alone && (has_member(json, BLOCK) || has_member(json, TREE))).then_some(json)
}
