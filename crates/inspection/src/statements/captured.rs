//! A server's statements, tables and indexes in a file.

use crate::statements::{Advice, Hypothetical, Rules, Snapshot, skeleton};
use observations::redacted;
use serde::{Deserialize, Serialize};
use work::sql::statement::shown;

/// Operators in operators that are kept: more than that, and the readers of JSON refuse the file.
const DEPTH_MAX: usize = 40;

/// The snapshots of a server at the beginning and at the end of a capture.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Captured {
    /// When it began: without texts and plans.
    pub first: Snapshot,
    /// When it ended, with the plans that were made then.
    pub last: Snapshot,
    /// The optimizer's costs with indexes that are advised.
    pub hypothetical: Vec<HypotheticalIndex>,
    /// The findings at the end: those of statements need their texts, which may not be kept.
    #[serde(default)]
    pub advice: Vec<Advice>,
}

/// The texts of statements that a capture keeps.
#[derive(Debug, Clone, Copy)]
pub struct CapturedTexts {
    /// Texts, and not only [`skeleton`]s.
    pub texts: bool,
    /// The constants in them.
    pub literals: bool,
}

/// The optimizer's cost with a hypothetical index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HypotheticalIndex {
    database: String,
    ddl: String,
    cost: Hypothetical,
}

impl Captured {
    /// The snapshots at the beginning and the end, with the advice on the last one.
    pub fn new(
        mut first: Snapshot,
        mut last: Snapshot,
        advice: Vec<Advice>,
        rules: &Rules,
        kept: CapturedTexts,
    ) -> Self {
        let hypothetical = advice
            .iter()
            .filter_map(|advice| {
                Some(HypotheticalIndex {
                    database: advice.database.clone(),
                    ddl: advice.ddl.clone()?,
                    cost: advice.hypothetical?,
                })
            })
            .collect();
        for statement in &mut first.statements {
            statement.text.clear();
        }
        for statement in &mut last.statements {
            if !kept.texts {
                statement.text = skeleton(&statement.text, rules.syntax);
            }
            let before = statement.plans.len();
            statement
                .plans
                .retain(|found| found.plan.operators().iter().all(|(depth, _)| *depth < DEPTH_MAX));
            if statement.plans.len() < before {
                statement.not_explained =
                    Some(format!("not captured: its plan has more than {DEPTH_MAX} levels"));
            }
        }
        last.clean(rules, kept.literals);
        Self { first, last, hypothetical, advice }
    }

    /// The findings about a snapshot, where it is the last one of the capture; an older capture has
    /// none.
    pub fn advised(&self, snapshot: &Snapshot) -> Option<Vec<Advice>> {
        let is_last = snapshot.span == self.last.span && !self.advice.is_empty();
        let kept = self
            .advice
            .iter()
            .filter(|advice| advice.statements.iter().all(|at| *at < snapshot.statements.len()));
        is_last.then(|| kept.cloned().collect())
    }

    /// The optimizer's cost with the index that an advice is about.
    pub fn hypothetical(&self, advice: &Advice) -> Option<Hypothetical> {
        self.hypothetical
            .iter()
            .find(|hypothetical| {
                hypothetical.database == advice.database
                    && advice.ddl.as_ref() == Some(&hypothetical.ddl)
            })
            .map(|hypothetical| hypothetical.cost)
    }
}

impl Snapshot {
    /// Takes constants out of texts and plans, unless they are wanted, and in any case what may be
    /// a password.
    pub fn clean(&mut self, rules: &Rules, literals: bool) {
        let syntax = rules.syntax;
        let statistics = self.tables.iter_mut().flat_map(|table| &mut table.statistics);
        for step in statistics.flat_map(|statistic| &mut statistic.histogram) {
            step.value = redacted(&step.value);
        }
        for statement in &mut self.statements {
            statement.text = shown(&statement.text, syntax, literals);
            // An error may quote the text.
            statement.not_explained = statement.not_explained.take().map(|why| redacted(&why));
            for found in &mut statement.plans {
                found.plan.visit_texts(&rules.terms, |text| *text = shown(text, syntax, literals));
            }
        }
    }
}
