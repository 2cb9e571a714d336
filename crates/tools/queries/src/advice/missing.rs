//! Statements that read a table whole to find a few rows of it.

use super::words::{numbers, runs};
use crate::{TableScan, table_scans};
use observations::number::{bytes, count, figure, percent, seconds};
use plans::MissingIndex;
use sql::{Syntax, tokens};
use statements::{
    Advice, AdviceKind, Certainty, Counter, Index, Missed, NewIndex, Rules, Snapshot, Statement,
    Table, Upkeep,
};

/// A table with fewer rows, or fewer bytes, is read whole in less time than is noticeable.
const ROWS_MIN: f64 = 5_000.0;
const BYTES_MIN: u64 = 256 << 10;
/// The share of rows below which an index surely reads less than the whole table: with more, rows
/// in random order may touch every page (PostgreSQL's planner itself turns at 1 to 10 %, by
/// correlation and `random_page_cost`).
const SHARE_MAX: f64 = 0.05;
/// Columns of an index that is advised: more of them seldom select better.
const COLUMNS_MAX: usize = 3;
/// A run that looks at fewer of the table's pages than this share of them did not read it whole.
const PAGES_SHARE_MIN: f64 = 0.5;

/// An index that was missed less often may have served a single question.
const MISSED_USES_MIN: u64 = 10;

/// An index that scans miss.
struct Candidate {
    table: usize,
    columns: Vec<String>,
    /// The statements, in their order, each once.
    scans: Vec<Filter>,
}

/// A statement, and the share of the rows that its scan keeps.
struct Filter {
    statement: usize,
    share: f64,
}

/// Longer conditions, of lists of many values, are not taken apart.
const CONDITION_MAX: usize = 10_000;

/// The indexes that scans miss, one for each table and columns.
pub fn missing(snapshot: &Snapshot, rules: &Rules) -> Vec<Advice> {
    let mut found: Vec<Candidate> = Vec::new();
    for scan in table_scans(snapshot) {
        let Some((columns, share)) = candidate(snapshot, &scan, rules) else { continue };
        let kept = Filter { statement: scan.statement, share };
        match found.iter_mut().find(|one| one.table == scan.table && one.columns == columns) {
            Some(one) if one.scans.iter().any(|known| known.statement == kept.statement) => {}
            Some(one) => one.scans.push(kept),
            None => found.push(Candidate { table: scan.table, columns, scans: vec![kept] }),
        }
    }
    let scans = found.iter().map(|one| said(snapshot, one, rules));
    scans.chain(hinted(snapshot, rules)).collect()
}

/// An index that the engine itself names: with plans of statements, or for all that ran.
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
        let at = all.iter().position(|one| one.table == table && one.keys == keys).unwrap_or_else(
            || {
                let (included, statements) = (Vec::new(), Vec::new());
                all.push(Self {
                    table,
                    keys,
                    included,
                    statements,
                    impact: hint.impact,
                    missed: None,
                });
                all.len() - 1
            },
        );
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
        let first = index.keys.get(..self.keys.len()).unwrap_or_default();
        let has = |name: &String| {
            index.keys.iter().any(|key| key.column == *name) || index.included.contains(name)
        };
        let leads = !first.is_empty() && first.iter().all(|key| self.keys.contains(&key.column));
        leads
            && index.is_valid
            && index.predicate.is_none()
            && self.included.iter().all(|name| has(name))
    }
}

/// Indexes that the engine itself names: an estimate of its optimizer, or an index that it built
/// for the run.
fn hinted(snapshot: &Snapshot, rules: &Rules) -> Vec<Advice> {
    let mut all = Vec::new();
    for (at, statement) in snapshot.statements.iter().enumerate() {
        for hint in statement.plans.iter().flat_map(|one| &one.plan.missing_indexes) {
            let object = &hint.object;
            if let Some(table) =
                snapshot.table_at(&statement.database, &object.schema, &object.table)
            {
                let statements = &mut Hint::place(&mut all, table, hint).statements;
                if !statements.contains(&at) {
                    statements.push(at);
                }
            }
        }
    }
    for (at, table) in snapshot.tables.iter().enumerate() {
        for missed in table.missed.iter().filter(|one| one.uses >= MISSED_USES_MIN) {
            let known = &mut Hint::place(&mut all, at, &missed.hint).missed;
            *known = known.filter(|known| known.saving() >= missed.saving()).or(Some(missed));
        }
    }
    all.iter()
        .filter(|hint| !snapshot.tables[hint.table].indexes.iter().any(|index| hint.is(index)))
        .map(|hint| hint_said(snapshot, hint, rules))
        .collect()
}

fn hint_said(snapshot: &Snapshot, hint: &Hint<'_>, rules: &Rules) -> Advice {
    let (table, statements) = (&snapshot.tables[hint.table], &hint.statements);
    let sum = |counter| {
        statements.iter().filter_map(|at| snapshot.statements[*at].get(counter)).sum::<u64>()
    };
    let time_s = sum(Counter::TimeNs) as f64 / 1e9;
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
    let serves = if statements.is_empty() {
        "would serve them".to_owned()
    } else {
        format!("serves these statements; they took {} in total", seconds(time_s))
    };
    Advice {
        database: table.database.clone(),
        table: Some(hint.table),
        statements: statements.clone(),
        subject: table.label(),
        evidence: [&by_plan, &missed, &built]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" "),
        change: format!("An index on ({}) {serves}.", hint.keys.join(", ")),
        price: price(rules.upkeep, table, &hint.keys),
        ddl: Some((rules.create_index)(&NewIndex {
            table,
            columns: &hint.keys,
            included: &hint.included,
        })),
        // What is of no known statement comes behind, by what it would save.
        weight: if statements.is_empty() {
            -1.0 / (1.0 + hint.missed.map_or(0.0, Missed::saving))
        } else {
            time_s
        },
        ..Advice::new(
            AdviceKind::MissingIndex,
            if built.is_some() { Certainty::Counted } else { Certainty::Estimated },
        )
    }
}

/// The columns of an index for a scan, and the share of the rows that it keeps.
fn candidate(snapshot: &Snapshot, scan: &TableScan, rules: &Rules) -> Option<(Vec<String>, f64)> {
    let (table, statement) = (&snapshot.tables[scan.table], &snapshot.statements[scan.statement]);
    let rows = table.rows.filter(|rows| *rows >= ROWS_MIN)?;
    let size = table.bytes.filter(|size| *size >= BYTES_MIN)?;
    let comparisons: Vec<(String, bool)> =
        scan.conditions.iter().flat_map(|condition| comparisons(condition)).collect();
    let equal = comparisons.iter().filter(|(_, is_equal)| *is_equal);
    let range = comparisons.iter().filter(|(_, is_equal)| !is_equal).take(1);
    let mut columns: Vec<String> = equal.chain(range).map(|(column, _)| column.clone()).collect();
    columns.dedup();
    columns.truncate(COLUMNS_MAX);
    // With such an index the optimizer has the choice already.
    let first = columns.first()?;
    let leads = |index: &Index| {
        index.is_valid
            && index.predicate.is_none()
            && index.keys.first().is_some_and(|key| is_column(rules, &key.column, first))
    };
    if table.indexes.iter().any(leads) {
        return None;
    }
    let share = share(rules, statement, scan, rows)?;
    let pages = size as f64 / snapshot.block_bytes.max(1) as f64;
    let reads_all =
        statement.blocks_by_call().is_none_or(|blocks| blocks >= PAGES_SHARE_MIN * pages);
    let is_run = statement.get(Counter::Calls).is_some_and(|calls| calls > 0);
    (share <= SHARE_MAX && reads_all && is_run).then_some((columns, share))
}

/// Returns true for two names of one column.
fn is_column(rules: &Rules, a: &str, b: &str) -> bool {
    if rules.names_keep_case { a == b } else { a.eq_ignore_ascii_case(b) }
}

/// The share of a table's rows that a scan keeps: counted in a recorded run, else as the optimizer
/// expects. Where its estimates are worth less, it is what runs returned of what they read, unless
/// they may have put rows together.
fn share(rules: &Rules, statement: &Statement, scan: &TableScan, rows: f64) -> Option<f64> {
    if let Some(actual) = scan.actual_rows {
        return Some(actual / rows);
    }
    if !rules.estimates_scans {
        if gathers(&statement.text) && statement.is_query() {
            return None;
        }
        let (kept, read) =
            (statement.by_call(Counter::Rows)?, statement.by_call(Counter::RowsRead)?);
        return (read >= PAGES_SHARE_MIN * rows).then_some(kept / read);
    }
    Some(scan.estimated_rows? / rows)
}

/// Returns true for a query that may put rows together, or leave some out, by the words of its text
/// and its commas.
fn gathers(text: &str) -> bool {
    let words =
        ["group", "distinct", "limit", "count", "sum", "min", "max", "avg", "join", "union"];
    let is_word = |c: char| c.is_alphanumeric() || "_$`".contains(c);
    text.contains(" , ")
        || text
            .split(|c| !is_word(c))
            .any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Columns that a condition compares with values, and whether with `=`. Conditions of other forms,
/// such as of expressions or between columns, need other indexes or none.
fn comparisons(condition: &str) -> Vec<(String, bool)> {
    if condition.len() > CONDITION_MAX {
        return Vec::new();
    }
    conjuncts(condition).into_iter().filter_map(comparison).collect()
}

/// The parts of `((a = 1) AND (b = 2))`, which the engines write with parentheses or without.
fn conjuncts(condition: &str) -> Vec<&str> {
    let condition = unwrapped(condition);
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for token in tokens(condition, Syntax::Sqlite) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ if depth == 0 && token.is_keyword("or") => return Vec::new(),
            _ if depth == 0 && token.is_keyword("and") => {
                parts.push(condition[start..token.at].trim_end());
                start = token.end();
            }
            _ => {}
        }
    }
    if parts.is_empty() {
        return vec![condition];
    }
    parts.push(&condition[start..]);
    parts.into_iter().flat_map(conjuncts).collect()
}

/// Without the parentheses around all of it.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0;
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    unwrapped(inner)
}

fn comparison(text: &str) -> Option<(String, bool)> {
    let (operator, is_equal) =
        [(" >= ", false), (" <= ", false), (" = ", true), (" > ", false), (" < ", false)]
            .into_iter()
            .find(|(operator, _)| text.contains(operator))?;
    let (left, right) = text.split_once(operator)?;
    let is_value = |side: &str| {
        let side = side.trim().trim_start_matches('(');
        side.starts_with(|c: char| c.is_ascii_digit() || "$'?-".contains(c))
            || side.starts_with("ANY (")
    };
    let (side, other) = if is_value(left) { (right, left) } else { (left, right) };
    is_value(other).then(|| column(side)).flatten().map(|column| (column, is_equal))
}

/// The column of `orders.customer_id`, `(name)::text` or `` `shop`.`orders`.`name` ``; `None` of an
/// expression.
fn column(side: &str) -> Option<String> {
    // The text of a varchar is compared as text, by the same index.
    let side = side.trim();
    let side = side.strip_suffix("::text").unwrap_or(side);
    let side = unwrapped(side);
    let name = side.rsplit_once('.').map_or(side, |(_, name)| name);
    let is_quoted =
        name.len() > 2 && ((name.starts_with('"') && name.ends_with('"')) || name.starts_with('`'));
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let name =
        if name.starts_with('`') { name.trim_matches('`').to_owned() } else { name.to_owned() };
    (is_quoted || (is_name && begins)).then_some(name)
}

fn said(snapshot: &Snapshot, found: &Candidate, rules: &Rules) -> Advice {
    let (table, columns) = (&snapshot.tables[found.table], &found.columns);
    let numbers_of: Vec<usize> = found.scans.iter().map(|one| one.statement).collect();
    let time_s: f64 = numbers_of
        .iter()
        .filter_map(|at| snapshot.statements[*at].get(Counter::TimeNs))
        .map(|ns| ns as f64 / 1e9)
        .sum();
    let Filter { statement, share } = found.scans[0];
    let statement = &snapshot.statements[statement];
    let is_recorded = statement.plans.iter().any(|plan| plan.runs > 0) || !rules.estimates_scans;
    let counted = [
        statement.get(Counter::Calls).map(runs),
        statement.mean_ms().map(|ms| format!("{} each", seconds(ms / 1e3))),
        statement.blocks_by_call().map(|blocks| {
            let all = table.bytes.unwrap_or(0) as f64 / snapshot.block_bytes.max(1) as f64;
            format!("{} pages each of the table's {}", figure(blocks), figure(all))
        }),
        statement.by_call(Counter::RowsRead).map(|rows| format!("{} rows read each", figure(rows))),
    ];
    let counted: Vec<String> = counted.into_iter().flatten().collect();
    Advice {
        database: table.database.clone(),
        table: Some(found.table),
        statements: numbers_of.clone(),
        subject: table.label(),
        evidence: format!(
            "{} read{} all of its {} rows to keep {} of them{} ({}).",
            capital(&numbers(&numbers_of)),
            if numbers_of.len() == 1 { "s" } else { "" },
            count(table.rows.unwrap_or(0.0) as u64),
            percent(share, if share < 0.001 { 3 } else { 1 }),
            if is_recorded { "" } else { ", by the planner's estimate" },
            counted.join("; ")
        ),
        change: format!(
            "An index on ({}) finds these rows without reading the rest; the statements took {} \
             in total.",
            columns.join(", "),
            seconds(time_s)
        ),
        price: price(rules.upkeep, table, columns),
        ddl: Some((rules.create_index)(&NewIndex { table, columns, included: &[] })),
        weight: time_s,
        ..Advice::new(
            AdviceKind::MissingIndex,
            if is_recorded { Certainty::Counted } else { Certainty::Estimated },
        )
    }
}

/// The cost of an index: its size by the widths that the optimizer knows, at least 20 bytes an
/// entry, and the changes that it has to follow.
fn price(upkeep: Upkeep, table: &Table, columns: &[String]) -> String {
    let widths: Option<f64> = columns
        .iter()
        .map(|name| {
            table.columns.iter().find(|column| column.name == *name).map(|column| column.width)
        })
        .sum();
    let size = widths.map(|width| {
        (table.rows.unwrap_or(0.0) * (12.0 + (width / 8.0).ceil() * 8.0) / 0.9) as u64
    });
    let size = size.map(|size| format!("About {} of space (estimate), and one", bytes(size)));
    let Upkeep { update, counted } = upkeep;
    let changes = table
        .index_changes()
        .map(|changes| format!(" ({} {counted} since the counters started)", count(changes)));
    format!(
        "{} more index to maintain on each insert, delete and {update}{}.",
        size.unwrap_or_else(|| "One".into()),
        changes.unwrap_or_default()
    )
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default()
        + characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::{comparisons, gathers};

    #[test]
    fn a_column_whose_name_contains_a_function_gathers_nothing() {
        assert!(!gathers("SELECT `discount` FROM `account_limits` WHERE `minute` = ?"));
        assert!(
            gathers("SELECT COUNT ( * ) FROM t WHERE a = ?")
                && gathers("SELECT a FROM t , u WHERE a = ?")
        );
        assert!(!gathers("SELECT `count` FROM t WHERE a = ?"));
    }

    #[test]
    fn conditions_that_an_index_can_serve_are_read_from_what_engines_write() {
        for (condition, expected) in [
            ("(orders.customer_id = $1)", vec![("customer_id", true)]),
            ("((o.status)::text = 'x = y'::text)", vec![("status", true)]),
            ("((a = 1) AND (b > $2) AND (c <> 3))", vec![("a", true), ("b", false)]),
            ("((\"My Col\" = $1) AND (5 >= \"B\"))", vec![("\"My Col\"", true), ("\"B\"", false)]),
            (
                "`shop`.`orders`.`name` = 'x' and `shop`.`orders`.`n` < 7",
                vec![("name", true), ("n", false)],
            ),
            ("(id = ANY ($1))", vec![("id", true)]),
            ("((a = 1) OR (b = 2))", vec![]),
            ("(lower(name) = $1)", vec![]),
            ("(a.x = b.y)", vec![]),
            ("((id)::numeric = $1)", vec![]),
            ("((a + 1) = $1)", vec![]),
        ] {
            let expected: Vec<(String, bool)> =
                expected.into_iter().map(|(name, equal)| (name.to_owned(), equal)).collect();
            assert_eq!(comparisons(condition), expected, "{condition}");
        }
    }
}
