//! Execution plans: the statements by cost, the operators of the most expensive, remarks, and the
//! indexes that each uses.

use inspection::pages::grouped;
use inspection::plans::{
    Access, IndexUse, MissingIndex, Plan, Statement, Terms, index_uses, remarks,
};
use inspection::statements::Rules;
use observations::order;
use report::model::{Cell, Column, Columns, Document, Section};
use report::number;
use report::text::joined;

/// Names of the sections, in their order.
pub(crate) const SECTIONS: [&str; 4] = ["plans", "statements", "missing", "indexes"];

/// A statement of a file.
pub(crate) struct PlanOf {
    /// The file, as it was named.
    pub file: String,
    /// The statement with its plan.
    pub statement: Statement,
    /// The rules of its engine.
    pub rules: &'static Rules,
}

impl PlanOf {
    fn plan(&self) -> Option<&Plan> {
        self.statement.plan.as_ref()
    }
}

/// Statements on a screen.
const STATEMENTS: usize = 5;
/// Operators and remarks on a screen.
const OPERATORS: usize = 6;
/// Missing indexes on a screen.
const MISSING: usize = 3;

/// How the operators of a plan are shown.
pub type Show = fn(&mut Section, &Plan, &Terms);

/// Plans, the most expensive first: by time where all have it, else by cost; the first `shown` with
/// their operators.
pub fn plans(all: &[PlanOf], shown: usize, show: Show) -> Document {
    let timed = all.iter().filter_map(PlanOf::plan).all(|plan| plan.elapsed_ms.is_some());
    let price = |candidate: &PlanOf| {
        candidate
            .plan()
            .and_then(|plan| if timed { plan.elapsed_ms } else { plan.cost })
            .unwrap_or(f64::NEG_INFINITY)
    };
    let mut sorted: Vec<&PlanOf> = all.iter().collect();
    order::largest_first(&mut sorted, &|row| price(row));
    // Statements without a plan are only counted, unless there are no others.
    if sorted.iter().any(|entry| entry.plan().is_some()) {
        sorted.retain(|entry| entry.plan().is_some());
    }
    let without = all.len() - sorted.len();
    let numbered: Vec<(usize, &PlanOf)> = (1..).zip(sorted.iter().copied()).collect();
    let mut sections = Vec::new();
    if all.len() > 1 {
        sections.push(statements(&numbered, without));
    }
    let planned = numbered.iter().filter_map(|(at, entry)| Some((*at, *entry, entry.plan()?)));
    sections.extend(planned.take(shown).map(|(at, entry, plan)| {
        let on_screen = if at == 1 { OPERATORS } else { 0 };
        let mut section =
            Section::new(format!("Plan {at}: {}", entry.file)).named("plans", on_screen);
        section.line(statement_text(&entry.statement));
        show(&mut section, plan, &entry.rules.terms);
        section
    }));
    sections.extend(missing(&numbered).unless_empty());
    sections.extend(indexes(&sorted).unless_empty());
    Document { title: "Plans".into(), sections }
}

fn statements(all: &[(usize, &PlanOf)], without: usize) -> Section {
    let mut section = Section::new("Statements").named("statements", STATEMENTS);
    let mut columns = Columns::for_rows(all);
    columns.right("no.", |row| Cell::count(row.0 as u64));
    columns.with(Column::statement("statement"), |row| statement_text(&row.1.statement));
    columns.right("cost", |row| row.1.plan()?.cost.map(grouped));
    columns.right("ms", |row| row.1.plan()?.elapsed_ms.map(grouped)).optional = 1;
    columns
        .right("operators", |row| Some(Cell::count(row.1.plan()?.operators().len() as u64)))
        .optional = 2;
    columns.right("remarks", |row| {
        Some(Cell::count(remarks(row.1.plan()?, &row.1.rules.terms).len() as u64))
    });
    columns.name("file", |row| row.1.file.as_str()).optional = 3;
    section.table(columns);
    section.note(
        "cost: the optimizer's estimate, in the engine's own unit. ms: measured in the recorded \
         run.",
    );
    if without > 0 {
        let those = number::plural(without, "statement");
        section.note(format!(
            "Omitted: {those} without a plan, such as SET and DECLARE; --json lists them."
        ));
    }
    section
}

/// The text, or where the file has none what it is.
fn statement_text(statement: &Statement) -> &str {
    if statement.text.is_empty() { &statement.kind } else { &statement.text }
}

/// An index that the optimizer missed, with the statements that it is for.
struct MissingRow<'a> {
    index: &'a MissingIndex,
    statements: Vec<usize>,
}

impl MissingRow<'_> {
    fn is_same(&self, other: &MissingIndex) -> bool {
        MissingIndex { impact: other.impact, ..self.index.clone() } == *other
    }
}

/// The indexes that the optimizer itself missed.
fn missing(all: &[(usize, &PlanOf)]) -> Section {
    let mut section = Section::new("Missing indexes").named("missing", MISSING);
    let mut rows: Vec<MissingRow> = Vec::new();
    let plans = all.iter().filter_map(|(at, entry)| Some((*at, entry.plan()?)));
    for (at, index) in
        plans.flat_map(|(at, plan)| plan.missing_indexes.iter().map(move |index| (at, index)))
    {
        match rows.iter_mut().find(|row| row.is_same(index)) {
            Some(row) => {
                row.statements.push(at);
                if index.impact > row.index.impact {
                    row.index = index;
                }
            }
            None => rows.push(MissingRow { index, statements: vec![at] }),
        }
    }
    for row in &mut rows {
        row.statements.dedup();
    }
    if rows.is_empty() {
        return section;
    }
    let mut columns = Columns::for_rows(&rows);
    columns.name("table", |row| row.index.object.label());
    columns.name("key columns", |row| {
        joined(row.index.equality.iter().chain(&row.index.inequality), ", ")
    });
    columns.name("included", |row| joined(&row.index.included, ", ")).optional = 1;
    columns.right("cost saving", |row| row.index.impact.map(|impact| Cell::percent(impact, 0)));
    columns.name("statements", |row| joined(&row.statements, ", "));
    section.table(columns);
    section.note(
        "Estimated by the optimizer for each statement separately; of several, the largest. The \
         write cost and size of the index and similar existing indexes are not considered. Columns \
         compared with = come first; the optimizer does not specify their order.",
    );
    section
}

fn indexes(sorted: &[&PlanOf]) -> Section {
    let mut section = Section::new("Indexes and tables by use").named("indexes", 0);
    let uses = index_uses(sorted.iter().map(|entry| &entry.statement));
    if uses.is_empty() {
        return section;
    }
    let count = |access: Access| {
        move |index_use: &&IndexUse| {
            let operators: usize = index_use
                .uses
                .iter()
                .filter(|uses| uses.access == access)
                .map(|uses| uses.operators)
                .sum();
            (operators > 0).then(|| Cell::count(operators as u64))
        }
    };
    let mut columns = Columns::for_rows(&uses);
    columns.name("table (index)", |row| row.object.label());
    columns.with(Column::right("seeks"), count(Access::Seek));
    columns.with(Column::right("scans"), count(Access::Scan));
    columns.with(Column::right("lookups"), count(Access::Lookup));
    columns.with(Column::right("changes"), count(Access::Change));
    columns.name("statements", |row| {
        let mut numbers: Vec<usize> = row.uses.iter().map(|uses| uses.statement + 1).collect();
        numbers.dedup();
        joined(numbers, ", ")
    });
    section.table(columns);
    section.note(
        "Counts operators in the plans above, not executions. Indexes not listed are unused by \
         these statements; other statements may use them.",
    );
    section
}
