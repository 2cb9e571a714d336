//! A server's statements, tables and indexes in a file.

use crate::{Advice, Hypothetical, Snapshot, skeleton, syntax};
use observations::redacted;
use observations::statement::shown;
use serde::{Deserialize, Serialize};

/// Operators in operators that are kept: more than that, and the readers of JSON refuse the file.
const DEPTH_MAX: usize = 40;

/// What a server said when it began to be captured and when that ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Captured {
    /// When it began: without texts and plans.
    pub first: Snapshot,
    /// When it ended, with the plans that were made then.
    pub last: Snapshot,
    /// What the optimizer said of indexes that are advised.
    pub hypothetical: Vec<Thought>,
}

/// What the optimizer said of an index that is only thought of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Thought {
    database: String,
    ddl: String,
    cost: Hypothetical,
}

impl Captured {
    /// The snapshots at the beginning and the end, with the advice on the last one. Texts become
    /// [`skeleton`]s unless they are wanted.
    pub fn new(
        mut first: Snapshot,
        mut last: Snapshot,
        advice: Vec<Advice>,
        texts: bool,
        literals: bool,
    ) -> Self {
        let thought = |one: Advice| {
            Some(Thought { database: one.database, ddl: one.ddl?, cost: one.hypothetical? })
        };
        let hypothetical = advice.into_iter().filter_map(thought).collect();
        for statement in &mut first.statements {
            statement.text.clear();
        }
        for statement in &mut last.statements {
            if !texts {
                statement.text = skeleton(&statement.text, last.engine);
            }
            let before = statement.plans.len();
            statement
                .plans
                .retain(|found| found.plan.operators().iter().all(|(depth, _)| *depth < DEPTH_MAX));
            if statement.plans.len() < before {
                statement.not_explained =
                    Some(format!("its plan has more than {DEPTH_MAX} levels, and is not captured"));
            }
        }
        last.clean(literals);
        Self { first, last, hypothetical }
    }

    /// What the optimizer said of the index that an advice is about.
    pub fn hypothetical(&self, advice: &Advice) -> Option<Hypothetical> {
        self.hypothetical
            .iter()
            .find(|one| one.database == advice.database && advice.ddl.as_ref() == Some(&one.ddl))
            .map(|one| one.cost)
    }
}

impl Snapshot {
    /// Takes constants out of texts and plans, unless they are wanted, and in any case what may be
    /// a password.
    pub fn clean(&mut self, literals: bool) {
        let syntax = syntax(self.engine);
        for statement in &mut self.statements {
            statement.text = shown(&statement.text, syntax, literals);
            // An error may quote the text.
            statement.not_explained = statement.not_explained.take().map(|why| redacted(&why));
            for found in &mut statement.plans {
                found.plan.visit_texts(|text| *text = shown(text, syntax, literals));
            }
        }
    }
}
