//! Execution plans: the statements by cost, the operators of the dearest, what there is to look at,
//! and who uses which index.

use crate::model::{Cell, Columns, Document, Section, Tone};
use crate::number;
use crate::text::joined;
use plans::{
    Access, IndexUse, MissingIndex, Operator, Plan, Remark, Statement, index_uses, remarks,
};

/// A statement of a file.
pub struct PlanOf {
    /// The file, as it was named.
    pub file: String,
    /// What it holds.
    pub statement: Statement,
}

impl PlanOf {
    fn plan(&self) -> Option<&Plan> {
        self.statement.plan.as_ref()
    }
}

/// Plans, the dearest first: by time where all have it, else by cost; of so many the operators are
/// shown.
pub fn plans(all: &[PlanOf], shown: usize) -> Document {
    let timed = all.iter().filter_map(PlanOf::plan).all(|plan| plan.elapsed_ms.is_some());
    let price = |one: &PlanOf| {
        one.plan()
            .and_then(|plan| if timed { plan.elapsed_ms } else { plan.cost })
            .unwrap_or(f64::NEG_INFINITY)
    };
    let mut sorted: Vec<&PlanOf> = all.iter().collect();
    sorted.sort_by(|a, b| price(b).total_cmp(&price(a)));
    let without = sorted.iter().filter(|one| one.plan().is_none()).count();
    // Those that nothing is known of are only counted, unless there are no others.
    if without < sorted.len() {
        sorted.retain(|one| one.plan().is_some());
    }
    let numbered: Vec<(usize, &PlanOf)> = (1..).zip(sorted.iter().copied()).collect();
    let mut sections = Vec::new();
    if all.len() > 1 {
        sections.push(statements(&numbered, without));
    }
    let planned = numbered.iter().filter_map(|(at, one)| Some((*at, *one, one.plan()?)));
    sections.extend(planned.take(shown).map(|(at, one, plan)| operators(at, one, plan)));
    sections.extend(missing(&numbered).unless_empty());
    sections.extend(indexes(&sorted).unless_empty());
    Document { title: "Plans".into(), sections }
}

fn statements(all: &[(usize, &PlanOf)], without: usize) -> Section {
    let mut section = Section::new("Statements");
    let mut columns = Columns::of(all);
    columns.right("no.", |one| Cell::count(one.0 as u64));
    columns.name("statement", |one| said(&one.1.statement));
    columns.right("cost", |one| one.1.plan()?.cost.map(grouped));
    columns.right("ms", |one| one.1.plan()?.elapsed_ms.map(grouped)).optional = 1;
    columns
        .right("operators", |one| Some(Cell::count(one.1.plan()?.operators().len() as u64)))
        .optional = 2;
    columns.right("to look at", |one| Some(Cell::count(remarks(one.1.plan()?).len() as u64)));
    columns.name("file", |one| one.1.file.as_str()).optional = 3;
    section.table(columns);
    section.note(
        "cost: the optimizer's estimate, in the engine's own unit. ms: of the run that the plan \
         records.",
    );
    if without > 0 {
        let those = number::plural(without, "statement");
        section.note(format!(
            "{those} without a plan, such as SET and DECLARE, are left out; --json has them."
        ));
    }
    section
}

/// The text, or where the file has none what it is.
fn said(statement: &Statement) -> &str {
    if statement.text.is_empty() { &statement.kind } else { &statement.text }
}

fn grouped(value: f64) -> Cell {
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    let shown = if is_whole { number::count(value as u64) } else { number::grouped(value) };
    Cell::from(value).shown(shown)
}

fn operators(at: usize, one: &PlanOf, plan: &Plan) -> Section {
    let mut section = Section::new(format!("Plan {at}: {}", one.file));
    section.line(said(&one.statement));
    tree(&mut section, plan);
    section
}

/// The operators of a plan, and what of it there is to look at.
pub(crate) fn tree(section: &mut Section, plan: &Plan) {
    section.line(overview(plan));
    let all = plan.operators();
    let total_cost = plan.root.as_ref().and_then(|root| root.cost).filter(|cost| *cost > 0.0);
    let mut columns = Columns::of(&all);
    // A page keeps these spaces, too.
    columns.name("operator", |(depth, operator)| {
        format!("{}{}", "\u{a0}\u{a0}".repeat(*depth), operator.title())
    });
    columns.name("of", |(_, operator)| operator.objects.first().map(plans::Object::label));
    columns.right("cost", move |(_, operator)| {
        Some(Cell::percent(operator.own_cost()? / total_cost?, 0))
    });
    columns.right("est. rows", |(_, operator)| operator.rows.estimated.map(grouped));
    if all.iter().any(|(_, operator)| operator.rows.actual.is_some()) {
        columns.right("rows", |(_, operator)| operator.rows.actual.map(grouped));
        columns.right("runs", |(_, operator)| operator.executions.map(grouped)).optional = 1;
        columns.right("own ms", |(_, operator)| operator.own_ms().map(grouped)).optional = 2;
    }
    section.table(columns);
    for remark in remarks(plan) {
        section.toned(sentence(&remark, &all), Tone::Warning);
    }
    let waits = plan.waits.iter().map(|wait| {
        format!(
            "{} {} ms in {}",
            wait.name,
            number::grouped(wait.wait_ms),
            number::plural(wait.count as usize, "wait")
        )
    });
    if !plan.waits.is_empty() {
        section.line(format!("Waits of the run: {}.", joined(waits, ", ")));
    }
    if !plan.unknown.is_empty() {
        section.note(format!(
            "Parts of the file that are not known: {}.",
            joined(&plan.unknown, ", ")
        ));
    }
}

fn overview(plan: &Plan) -> String {
    let said = [
        plan.cost.map(|cost| format!("estimated cost {}", grouped(cost).text())),
        plan.degree.filter(|degree| *degree > 1).map(|degree| format!("up to {degree} threads")),
        plan.elapsed_ms.map(|ms| format!("run in {} ms", grouped(ms).text())),
        plan.cpu_ms.map(|ms| format!("{} ms of processor time", grouped(ms).text())),
        plan.planning_ms.map(|ms| format!("planned in {} ms", grouped(ms).text())),
    ];
    let said = joined(said.into_iter().flatten(), ", ");
    let said = if said.is_empty() { "no costs and no run recorded".to_owned() } else { said };
    let mut characters = said.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

/// What there is to look at, with the figures that say so.
fn sentence(remark: &Remark, all: &[(usize, &Operator)]) -> String {
    let place = |at: usize| {
        let operator = all[at].1;
        let object = operator.objects.first().map(|object| format!(" of {}", object.label()));
        format!("{}{}", operator.name, object.unwrap_or_default())
    };
    let detail =
        |detail: &str| if detail.is_empty() { String::new() } else { format!(": {detail}") };
    match remark {
        Remark::Estimate { operator, rows, above } => {
            let (estimated, actual) = (rows.estimated.unwrap_or(0.0), rows.actual.unwrap_or(0.0));
            let above = match above {
                0 => String::new(),
                above => format!(
                    " The error goes on into {} above it.",
                    number::plural(*above, "operator")
                ),
            };
            format!(
                "{}: {} rows were estimated and {} came. Its inputs are as estimated: the error \
                 begins here.{above}",
                place(*operator),
                grouped(estimated).text(),
                grouped(actual).text()
            )
        }
        Remark::ReadForNothing { operator, read, kept } => {
            format!(
                "{}: {} rows were read and {} kept.",
                place(*operator),
                grouped(*read).text(),
                grouped(*kept).text()
            )
        }
        Remark::Lookups { operator, count } => format!(
            "{}: {} rows were fetched from the table one at a time, because the index that found \
             them lacks columns of the statement.",
            place(*operator),
            grouped(*count).text()
        ),
        Remark::Operator { operator, name, detail: said } => {
            format!("{}: the engine warns of {name}{}.", place(*operator), detail(said))
        }
        Remark::Statement { name, detail: said } => {
            format!("The engine warns of {name}{}.", detail(said))
        }
        Remark::Memory { granted_kib, used_kib } => format!(
            "{} of memory were reserved and {} used: other statements may have waited for it.",
            number::bytes((granted_kib * 1024.0) as u64),
            number::bytes((used_kib * 1024.0) as u64)
        ),
        Remark::Parameters { differing } => {
            format!(
                "The plan was made for other values of {} than it ran with.",
                joined(differing, ", ")
            )
        }
        Remark::Serial { reason } => format!("The plan is serial: {reason}."),
        Remark::EarlyAbort { reason } => {
            format!("The optimizer stopped before it had compared all plans: {reason}.")
        }
    }
}

/// What the optimizer itself missed.
fn missing(all: &[(usize, &PlanOf)]) -> Section {
    let mut section = Section::new("Missing indexes");
    let rows: Vec<(usize, &MissingIndex)> = all
        .iter()
        .filter_map(|(at, one)| Some((*at, one.plan()?)))
        .flat_map(|(at, plan)| plan.missing_indexes.iter().map(move |index| (at, index)))
        .collect();
    if rows.is_empty() {
        return section;
    }
    let mut columns = Columns::of(&rows);
    columns.name("table", |(_, index)| index.object.label());
    columns.name("key columns", |(_, index)| {
        joined(index.equality.iter().chain(&index.inequality), ", ")
    });
    columns.name("included", |(_, index)| joined(&index.included, ", ")).optional = 1;
    columns.right("saves of the cost", |(_, index)| {
        index.impact.map(|impact| Cell::percent(impact, 0))
    });
    columns.right("statement", |(at, _)| Cell::count(*at as u64));
    section.table(columns);
    section.note(
        "By the optimizer of each statement for itself: an estimate, which counts neither what \
         the index costs in writes and space nor indexes that are nearly the same. Columns that \
         are compared with = come first; their order is not said.",
    );
    section
}

fn indexes(sorted: &[&PlanOf]) -> Section {
    let mut section = Section::new("Indexes and tables by use");
    let uses = index_uses(sorted.iter().map(|one| &one.statement));
    if uses.is_empty() {
        return section;
    }
    let count = |access: Access| {
        move |one: &&IndexUse| {
            let operators: usize = one
                .uses
                .iter()
                .filter(|uses| uses.access == access)
                .map(|uses| uses.operators)
                .sum();
            (operators > 0).then(|| Cell::count(operators as u64))
        }
    };
    let mut columns = Columns::of(&uses);
    columns.name("table (index)", |one| one.object.label());
    columns.right("seeks", count(Access::Seek));
    columns.right("scans", count(Access::Scan));
    columns.right("lookups", count(Access::Lookup));
    columns.right("changes", count(Access::Change));
    columns.name("statements", |one| {
        let mut numbers: Vec<usize> = one.uses.iter().map(|uses| uses.statement + 1).collect();
        numbers.dedup();
        joined(numbers, ", ")
    });
    section.table(columns);
    section.note(
        "Operators of the plans above, not executions. What is not named here is used by none of \
         these statements, which says nothing of others.",
    );
    section
}
