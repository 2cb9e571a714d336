//! A server's statements, plans and indexes: `steelbench queries`.

use crate::Queries;
use crate::cross::{IndexPlace, all_indexes};
use crate::words::{NUMBERS, few, in_units, runs};
use inspection::pages::plan_tree;
use inspection::statements::{Counter, Statement, StatementPlan};
use observations::order;
use report::model::{Block, Cell, Column, Columns, Document, Medium, Section, Tone};
use report::text::{joined, one_line, utc};
use report::{number, text};
use std::collections::BTreeSet;

/// Names of the sections, in their order.
pub(crate) const SECTIONS: [&str; 4] = ["findings", "statements", "indexes", "unexplained"];

/// Rows and advice that a terminal shows; pages, sheets and JSON have all.
const ROWS: usize = 15;

/// Findings on a screen.
const FINDINGS: usize = 3;
/// Statements on a screen.
const STATEMENTS: usize = 8;

/// The counters of a server's statements and indexes, the plans, and the findings.
pub fn queries(all: &Queries) -> Document {
    let mut sections = vec![overview(all)];
    sections.extend(on_both(|rows| advice(all, rows)));
    sections.extend(on_both(|rows| statements(all, rows)));
    sections.extend(on_both(|rows| indexes(all, rows)));
    sections.extend(plans(all).unless_empty());
    sections.extend(on_both(|rows| not_explained(all, rows)));
    Document {
        title: format!("{}: statements, plans and indexes", all.snapshot.server).into(),
        sections,
    }
}

/// A section with a few rows for texts and one with all for pages.
pub fn on_both(section: impl Fn(usize) -> Option<Section>) -> impl Iterator<Item = Section> {
    let text = section(ROWS).map(|section| Section { medium: Medium::Text, ..section });
    text.into_iter()
        .chain(section(usize::MAX).map(|section| Section { medium: Medium::Page, ..section }))
}

fn overview(all: &Queries) -> Section {
    let mut section = Section::new("");
    let snapshot = &all.snapshot;
    let span = snapshot.span;
    let length = span.from_ms.map(|from| duration(span.to_ms.saturating_sub(from) as f64 / 1e3));
    let (length, until) = (length.unwrap_or_default(), utc(span.to_ms));
    section.line(match (span.is_interval, span.from_ms) {
        (true, _) => format!("Statements over {length} up to {until}."),
        _ if snapshot.is_log => "Statements of a log.".to_owned(),
        _ if !all.rules.keeps_statistics => {
            format!("The given statements; the read-only ones ran now, {until}.")
        }
        (false, Some(from)) => {
            format!("Statements since {} ({length}), up to {until}.", utc(from))
        }
        (false, None) => format!("Statements since the server's counters started, up to {until}."),
    });
    let indexes: usize = snapshot.tables.iter().map(|table| table.indexes.len()).sum();
    let explained =
        snapshot.statements.iter().filter(|statement| !statement.plans.is_empty()).count();
    section.line(format!(
        "{}, {} of them with a plan; {} with {}. {}.",
        number::plural(snapshot.statements.len(), "statement"),
        explained,
        number::plural(snapshot.tables.len(), "table"),
        if indexes == 1 { "1 index".into() } else { format!("{indexes} indexes") },
        match all.advice.len() {
            0 => "No findings".into(),
            count => number::plural(count, "finding"),
        }
    ));
    if let Some(denied) = denied(all) {
        section.warn(denied);
    }
    if let Some(evicted) = snapshot.evictions.filter(|evicted| *evicted > 0) {
        section.warn(format!(
            "The server evicted statements ({} times); these figures lack their work. Increase \
             pg_stat_statements.max or performance_schema_digests_size.",
            number::count(evicted)
        ));
    }
    for note in &snapshot.notes {
        section.warn(note);
    }
    for unread in snapshot.missing() {
        section.warn(format!("Not read: {}: {}.", unread.what, unread.why));
    }
    section
}

/// The statements that this role may not explain, their share of the time, and the remedy.
fn denied(all: &Queries) -> Option<String> {
    let statements = &all.snapshot.statements;
    let denied: Vec<&Statement> =
        statements.iter().filter(|statement| statement.is_denied).collect();
    let first = denied.first()?;
    let total: f64 = statements.iter().map(Statement::time_s).sum();
    let share = denied.iter().map(|statement| statement.time_s()).sum::<f64>()
        / total.max(f64::MIN_POSITIVE);
    Some(format!(
        "This role may not explain {} ({} of the time): {}. Advice lacks their plans. Remedy: {} \
         (ROLE: the role of this connection).",
        number::plural(denied.len(), "statement"),
        number::percent(share, 1),
        first.not_explained.as_deref().unwrap_or_default().trim_end_matches('.'),
        all.rules.explain_grant
    ))
}

/// `20.3 days`, `3.20 hours`, `42.0 s`.
fn duration(seconds: f64) -> String {
    in_units(seconds).map_or_else(
        || number::seconds(seconds.max(0.0)),
        |(length, unit)| format!("{} {unit}", number::figure(length)),
    )
}

/// A statement's text; where we may not see it, that.
pub(crate) fn shown_text(statement: &Statement) -> &str {
    if statement.text.is_empty() { "(text hidden from this role)" } else { &statement.text }
}

fn statements(all: &Queries, rows: usize) -> Option<Section> {
    let numbered = (1..).zip(&all.snapshot.statements);
    let (plain, utility): (Vec<(usize, &Statement)>, Vec<_>) = numbered
        .partition(|(_, statement)| statement.can_be_explained() || statement.text.is_empty());
    if plain.is_empty() && utility.is_empty() {
        return None;
    }
    let count = plain.len();
    let statements: Vec<(usize, &Statement)> = plain.into_iter().take(rows).collect();
    let mut section = Section::new("Statements by time").named("statements", STATEMENTS);
    let total: f64 = all.snapshot.statements.iter().map(Statement::time_s).sum();
    let databases: BTreeSet<&str> =
        all.snapshot.statements.iter().map(|statement| statement.database.as_str()).collect();
    let mut columns = Columns::for_rows(statements);
    columns.right("no.", |row| Cell::count(row.0 as u64));
    columns.right("time", |row| Cell::seconds(row.1.time_s()));
    columns
        .with(Column::right("share"), move |row| {
            (total > 0.0).then(|| Cell::percent(row.1.time_s() / total, 1))
        })
        .optional = 4;
    columns.right("calls", |row| row.1.get(Counter::Calls).map(Cell::count));
    columns.right("mean", |row| row.1.mean_ms().map(milliseconds));
    if all.snapshot.statements.iter().any(|statement| statement.percentiles.is_some()) {
        columns.right("median", |row| row.1.percentiles.map(|found| milliseconds(found.p50_ms)));
        columns.right("95 %", |row| row.1.percentiles.map(|found| milliseconds(found.p95_ms)));
        columns.right("99 %", |row| row.1.percentiles.map(|found| milliseconds(found.p99_ms)));
        columns.right("longest", |row| row.1.spread?.max_ms.map(milliseconds));
    }
    columns.right("rows each", |row| row.1.by_call(Counter::Rows).map(figure)).optional = 3;
    columns.right("pages each", |row| row.1.blocks_by_call().map(figure)).optional = 5;
    if databases.len() > 1 {
        columns.name("database", |row| row.1.database.as_str()).optional = 2;
    }
    columns.with(Column::statement("statement"), |row| one_line(shown_text(row.1), usize::MAX));
    section.table(columns);
    left_out(&mut section, count, rows);
    if !utility.is_empty() {
        section.note(folded(&utility, total));
    }
    if all.snapshot.statements.iter().any(|statement| statement.is_partial) {
        section.note("Some counters were reset during the interval.");
    }
    Some(section)
}

/// `12 utility statements (BEGIN, SET, VACUUM): 1.2 % of the time.`
fn folded(utility: &[(usize, &Statement)], total: f64) -> String {
    let verbs =
        utility.iter().filter_map(|(_, statement)| statement.text.split_whitespace().next());
    let verbs: BTreeSet<String> = verbs.map(str::to_uppercase).collect();
    let time: f64 = utility.iter().map(|(_, statement)| statement.time_s()).sum();
    format!(
        "{} ({}): {} of the time. Statements of Steelbench are left out.",
        number::plural(utility.len(), "utility statement"),
        joined(verbs.iter().take(NUMBERS), ", "),
        number::percent(time / total.max(f64::MIN_POSITIVE), 1)
    )
}

fn milliseconds(ms: f64) -> Cell {
    Cell::seconds(ms / 1e3)
}

fn figure(value: f64) -> Cell {
    Cell::from(value).shown(number::whole(value))
}

pub fn left_out(section: &mut Section, all: usize, rows: usize) {
    if let Some(more) = all.checked_sub(rows).filter(|more| *more > 0) {
        section.note(format!("{more} more in --html, --workbook and --json."));
    }
}

fn advice(all: &Queries, rows: usize) -> Option<Section> {
    if all.advice.is_empty() {
        return None;
    }
    // Advice about the whole server names no database.
    let databases = all.advice.iter().map(|advice| advice.database.as_str());
    let databases: BTreeSet<&str> = databases.filter(|name| !name.is_empty()).collect();
    let mut section = Section::new("Findings").named("findings", FINDINGS);
    for (at, advice) in (1..).zip(&all.advice).take(rows) {
        let database =
            Some(&advice.database).filter(|name| databases.len() > 1 && !name.is_empty());
        let database = database.map(|name| format!(" in database {name}")).unwrap_or_default();
        let kind = text::Text::from(advice.kind.label());
        let time = advice.time.map(|time| {
            let took = number::seconds(time.seconds);
            format!(", {} of the time ({took})", number::percent(time.share, 1))
        });
        let time = time.unwrap_or_default();
        section.toned(
            format!(
                "{at}. {kind}: {}{database}{time} ({})",
                advice.subject,
                advice.certainty.label()
            ),
            Tone::Warning,
        );
        section.indented(3, advice.evidence.as_str(), Tone::Muted);
        // A statement says more than the sentence about it.
        let tone = if advice.ddl.is_some() { Tone::Muted } else { Tone::Plain };
        section.indented(3, advice.change.as_str(), tone);
        if let Some(found) = &advice.hypothetical {
            let estimate = format!(
                "With the index the planner expects a cost of {} instead of {} (hypopg: an \
                 estimate).",
                number::grouped(found.cost_with),
                number::grouped(found.cost_without)
            );
            section.indented(3, estimate, Tone::Muted);
        }
        section.indented(3, format!("Cost: {}", advice.price), Tone::Muted);
        if let Some(ddl) = &advice.ddl {
            let before =
                advice.before_ddl.as_ref().map(|before| format!("{before}; ")).unwrap_or_default();
            section.indented(3, format!("{before}{ddl};"), Tone::Good);
        }
    }
    left_out(&mut section, all.advice.len(), rows);
    section.note(
        "By share of the server's time. Counted: from the server's counters and definitions. \
         Estimated: by its optimizer, or as stated. Possible: consistent with the counters, not \
         proven. `steelbench queries try` measures the gain and cost of an index.",
    );
    Some(section)
}

/// An index, and the statements whose plans use it.
pub type UsedIndex<'a> = (IndexPlace<'a>, Vec<usize>);

/// All indexes, the largest first.
pub fn used(all: &Queries) -> Vec<UsedIndex<'_>> {
    let used = all_indexes(&all.snapshot).map(|place| (place, place.statements(&all.uses)));
    let mut found: Vec<UsedIndex<'_>> = used.collect();
    order::by_key(&mut found, &|(place, _)| std::cmp::Reverse(place.index.bytes));
    found
}

fn indexes(all: &Queries, rows: usize) -> Option<Section> {
    let found = used(all);
    let count = found.len();
    if count == 0 {
        return None;
    }
    let mut section = Section::new("Indexes by size").named("indexes", 0);
    let mut columns = Columns::for_rows(found.into_iter().take(rows).collect::<Vec<_>>());
    columns.name("index", |row| row.0.index.name.as_str());
    columns.name("table", |row| row.0.table.label()).optional = 1;
    columns.name("columns", |row| row.0.index.columns()).optional = 2;
    columns.right("size", |row| row.0.index.bytes.map(Cell::bytes));
    columns.right("reads", |row| row.0.index.scans.map(Cell::count));
    columns.right("changes", |row| row.0.table.index_changes().map(Cell::count)).optional = 3;
    columns.left("used by statement", |row| few(&row.1));
    section.table(columns);
    left_out(&mut section, count, rows);
    section.note(
        "reads: index reads since the counters started (entries read for MariaDB). changes: \
         changed rows of the table, an upper bound of the index's updates. used by: only in the \
         plans below, which cover some of the statements.",
    );
    Some(section)
}

/// The operators of every plan, on pages only.
fn plans(all: &Queries) -> Section {
    let mut section = Section { medium: Medium::Page, ..Section::new("Plans") };
    for (at, statement) in (1..).zip(&all.snapshot.statements) {
        for found in &statement.plans {
            let mut plan = Section::default();
            plan.line(shown_text(statement));
            plan_tree(&mut plan, &found.plan, &all.rules.terms);
            section.blocks.push(Block::Fold(plan_title(at, found).into(), plan.blocks));
        }
    }
    if !section.blocks.is_empty() {
        section.note(
            "Re-explained plans show the planner's current choice for this session, not the \
             executed plan.",
        );
    }
    section
}

fn plan_title(at: usize, found: &StatementPlan) -> String {
    let runs = (found.runs > 0).then(|| format!(", {}", runs(found.runs)));
    format!("Statement {at}: {}{}", found.origin.label(), runs.unwrap_or_default())
}

/// By reason: the statements without a re-explained plan.
fn not_explained(all: &Queries, rows: usize) -> Option<Section> {
    let mut reasons: Vec<(&str, Vec<usize>)> = Vec::new();
    for (at, statement) in all.snapshot.statements.iter().enumerate() {
        let Some(why) = statement.not_explained.as_ref().filter(|_| statement.can_be_explained())
        else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, statements)) => statements.push(at),
            None => reasons.push((why, vec![at])),
        }
    }
    if reasons.is_empty() {
        return None;
    }
    let mut section = Section::new("Statements without a plan").named("unexplained", 0);
    let count = reasons.len();
    for (why, statements) in reasons.into_iter().take(rows) {
        section.line(format!("{}: {}.", few(&statements), why.trim_end_matches('.')));
    }
    left_out(&mut section, count, rows);
    Some(section)
}
