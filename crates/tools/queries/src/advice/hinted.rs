//! Indexes that the engine itself names, or builds for a run.

use super::price::price;
use crate::words::{numbers, runs};
use inspection::plans::MissingIndex;
use inspection::statements::{
    Advice, AdviceKind, Certainty, Counter, Index, Missed, NewIndex, Rules, Snapshot,
};
use observations::number::{count, figure, percent, seconds};

/// An index that was missed less often may have served a single question.
const MISSED_USES_MIN: u64 = 10;

/// An index that the engine itself names: with plans of statements, or for all that ran.
#[derive(Default)]
struct Hint<'a> {
    table: usize,
    keys: Vec<String>,
    included: Vec<&'a String>,
    statements: Vec<usize>,
    impact: Option<f64>,
    missed: Option<&'a Missed>,
}

impl<'a> Hint<'a> {
    /// The one of this table with these columns.
    fn place<'b>(all: &'b mut Vec<Self>, table: usize, hint: &'a MissingIndex) -> &'b mut Self {
        let keys: Vec<String> = hint.equality.iter().chain(&hint.inequality).cloned().collect();
        let known = all.iter().position(|hint| hint.table == table && hint.keys == keys);
        let at = known.unwrap_or_else(|| {
            all.push(Self { table, keys, impact: hint.impact, ..Self::default() });
            all.len() - 1
        });
        let found = &mut all[at];
        for column in &hint.included {
            if !found.included.contains(&column) {
                found.included.push(column);
            }
        }
        found
    }

    /// Returns true for an index that does what this one would: it may have been made since the
    /// plan was compiled.
    fn is(&self, index: &Index) -> bool {
        index.begins_with(&self.keys)
            && index.is_valid
            && index.predicate.is_none()
            && self.included.iter().all(|name| {
                index.keys.iter().any(|key| key.column == **name) || index.included.contains(name)
            })
    }
}

/// Indexes that the engine itself names: an estimate of its optimizer, or an index that it built
/// for the run.
pub(crate) fn hinted(snapshot: &Snapshot, rules: &Rules) -> Vec<Advice> {
    let mut all = Vec::new();
    for (at, statement) in snapshot.statements.iter().enumerate() {
        for hint in statement.plans.iter().flat_map(|plan| &plan.plan.missing_indexes) {
            let object = &hint.object;
            let table = snapshot.table_at(&statement.database, &object.schema, &object.table);
            let Some(table) = table else { continue };
            let statements = &mut Hint::place(&mut all, table, hint).statements;
            if !statements.contains(&at) {
                statements.push(at);
            }
        }
    }
    for (at, table) in snapshot.tables.iter().enumerate() {
        for missed in table.missed.iter().filter(|missed| missed.uses >= MISSED_USES_MIN) {
            let known = &mut Hint::place(&mut all, at, &missed.hint).missed;
            *known = known.filter(|known| known.saving() >= missed.saving()).or(Some(missed));
        }
    }
    all.iter()
        .filter(|hint| !snapshot.tables[hint.table].indexes.iter().any(|index| hint.is(index)))
        .map(|hint| advise(snapshot, hint, rules))
        .collect()
}

fn advise(snapshot: &Snapshot, hint: &Hint<'_>, rules: &Rules) -> Advice {
    let (table, statements) = (&snapshot.tables[hint.table], &hint.statements);
    let sum = |counter| {
        statements.iter().filter_map(|at| snapshot.statements[*at].get(counter)).sum::<u64>()
    };
    let time_s: f64 = statements.iter().map(|at| snapshot.statements[*at].time_s()).sum();
    let of_runs = format!("({}, {})", numbers(statements), runs(sum(Counter::Calls)));
    let by_plan = hint.impact.filter(|_| !statements.is_empty()).map(|impact| {
        format!(
            "The optimizer reports it with the plan and estimates {} less cost {of_runs}.",
            percent(impact, 0)
        )
    });
    let missed = hint.missed.map(|missed| {
        format!(
            "Since the server started, the optimizer has reported it missing for {} seeks and \
             scans. These statements have an estimated mean cost of {}; the index would save {} \
             of it (estimate).",
            count(missed.uses),
            figure(missed.cost),
            percent(missed.hint.impact.unwrap_or(0.0), 0)
        )
    });
    let built = hint.impact.is_none().then(|| {
        let rows = count(sum(Counter::AutomaticIndexRows));
        format!("The engine built such an index for each run, with {rows} rows in total {of_runs}.")
    });
    let certainty = if built.is_some() { Certainty::Counted } else { Certainty::Estimated };
    let serves = if statements.is_empty() {
        "would serve them".to_owned()
    } else {
        format!("serves these statements; they took {} in total", seconds(time_s))
    };
    Advice {
        statements: statements.clone(),
        evidence: [by_plan, missed, built].into_iter().flatten().collect::<Vec<_>>().join(" "),
        change: format!("An index on ({}) {serves}.", hint.keys.join(", ")),
        price: price(rules.upkeep, table, &hint.keys),
        ddl: Some((rules.create_index)(&NewIndex {
            included: &hint.included,
            ..NewIndex::new(table, &hint.keys)
        })),
        // What is of no known statement comes behind, by what it would save.
        weight: if statements.is_empty() {
            -1.0 / (1.0 + hint.missed.map_or(0.0, Missed::saving))
        } else {
            time_s
        },
        ..Advice::new(AdviceKind::MissingIndex, certainty)
    }
    .about_table(hint.table, table)
}
