//! Plans as MariaDB and MySQL write them: EXPLAIN and ANALYZE as JSON.

mod blocks;
mod tree;

use crate::plans::{PlanError, PlanFormats, Statement, documents, has_member};

/// The member of a document of MariaDB, and of MySQL in the first version of its format.
const BLOCK: &str = "query_block";
/// The member of a document of MySQL in the second version of its format.
const TREE: &str = "query_plan";

/// The formats of MariaDB and MySQL.
pub const PLANS: PlanFormats = PlanFormats {
    names: "EXPLAIN and ANALYZE FORMAT=JSON of MariaDB and MySQL",
    recognise: |text| json(text).is_some(),
    read,
};

fn read(text: &str) -> Result<Vec<Statement>, PlanError> {
    documents(json(text).ok_or(PlanError::Unknown)?, |document| {
        let of_blocks = document.get(BLOCK).map(|_| blocks::read(document));
        of_blocks.or_else(|| document.get(TREE).map(|_| tree::read(document)))
    })
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
