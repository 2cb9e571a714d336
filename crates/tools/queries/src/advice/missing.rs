//! Statements that read much more than they return, and the indexes that would find their rows.
//!
//! The text names what an index has to be ordered by, the counters say how much a run reads, and
//! the rows that it returns how much it has to. Where a run puts rows together, what it has to read
//! is an estimate: of the planner, or by the number of different values.

use super::demand::{Demand, Key, demands};
use super::hinted::hinted;
use super::place::{Place, Reader, TableRead, large_tables, squeezed};
use super::price::price;
use crate::query::{Block, Comparison, Condition, Other};
use crate::words::{numbers, runs};
use inspection::statements::{
    Advice, AdviceKind, Certainty, Counter, Index, NewIndex, Rules, Snapshot, Statement, Table,
};
use observations::number::{count, figure, percent, seconds};
use observations::order;
use report::text::{joined, listed};

/// The share of rows below which an index surely reads less than the whole table, where that share
/// is an estimate: with more, rows in random order may touch every page.
const SHARE_MAX: f64 = 0.05;
/// A run reads too many pages when it reads this multiple of those that its rows can be on, and at
/// least as many as a small table has.
const PAGES_FACTOR: f64 = 3.0;
const PAGES_MIN: f64 = 32.0;
/// Pages of an index on the way to its rows.
const INDEX_PAGES: f64 = 3.0;
/// A run reads too many rows when it reads this multiple of those that it needs, and at least
/// these.
const ROWS_FACTOR: f64 = 20.0;
const ROWS_READ_MIN: f64 = 1_000.0;
/// A statement with several tables read this one whole when it read this share of its size.
const WHOLE_SHARE: f64 = 0.5;

/// Fewer runs may have been a single question, unless they took this share of the time.
const CALLS_MIN: u64 = 3;
const SHARE_MIN: f64 = 0.01;

/// An index that would serve statements.
struct Candidate {
    table: usize,
    demand: Demand,
    /// The statements, each once, with the rows that each keeps.
    uses: Vec<Use>,
}

/// A statement, and the rows that it keeps.
#[derive(Clone, Copy)]
struct Use {
    statement: usize,
    need: Need,
}

/// The rows of a table that a run needs.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// Their number.
    pub rows: f64,
    /// True when it was counted.
    pub is_counted: bool,
}

/// The indexes that statements miss, one for each table and keys. `total_s`: the time of all
/// statements.
pub fn missing(snapshot: &Snapshot, rules: &Rules, total_s: f64) -> Vec<Advice> {
    let mut all = hinted(snapshot, rules);
    if !rules.abilities.engine_names_missing {
        let mut found: Vec<Candidate> = Vec::new();
        for (at, statement) in snapshot.statements.iter().enumerate() {
            if !rules.keeps_statistics || is_repeated(statement, total_s) {
                of_statement(snapshot, rules, at, &mut found);
            }
        }
        found.retain(|candidate| !all.iter().any(|hint| is_hinted(candidate, hint)));
        join(&mut found);
        all.extend(found.iter().map(|index| advise(snapshot, index, rules)));
    }
    all
}

/// Returns true when the engine itself names an index that begins with the same column.
fn is_hinted(found: &Candidate, hint: &Advice) -> bool {
    let first = found.demand.keys().next().map_or("", |key| &key.text);
    let quotes = ['"', '`', '['].map(|quote| format!("({quote}{first}"));
    hint.table == Some(found.table)
        && hint.ddl.as_ref().is_some_and(|ddl| {
            ddl.contains(&format!("({first}")) || quotes.iter().any(|quote| ddl.contains(quote))
        })
}

/// Returns true for a statement that runs again and again, or takes a noticeable share of the time.
/// `total_s`: the time of all statements.
pub fn is_repeated(statement: &Statement, total_s: f64) -> bool {
    let calls = statement.calls();
    calls >= CALLS_MIN || (calls > 0 && statement.time_s() >= SHARE_MIN * total_s)
}

fn of_statement(snapshot: &Snapshot, rules: &Rules, at: usize, found: &mut Vec<Candidate>) {
    large_tables(snapshot, rules, at, |TableRead { place, source, number, table }| {
        let mut miss = |demand, need| {
            let uses = vec![Use { statement: at, need }];
            add(found, Candidate { table: number, demand, uses });
        };
        let mut kept = demands(place, source, table).into_iter().filter_map(|demand| {
            let is_served = table.indexes.iter().any(|index| demand.is_served_by(index));
            let need = need(place, source, table, &demand).filter(|_| !is_served)?;
            reads_too_much(place, table, need).then_some((demand, need))
        });
        if let Some((demand, need)) = kept.next() {
            miss(demand, need);
        }
        if let Some(need) = counted(place).filter(|need| reads_too_much(place, table, *need)) {
            for demand in either(place, table) {
                miss(demand, need);
            }
        }
    });
}

/// The indexes that an OR of columns of one table misses: each branch needs one.
fn either(place: Place<'_>, table: &Table) -> Vec<Demand> {
    let [branches] = place.block.alternatives.as_slice() else { return Vec::new() };
    if place.block.sources.len() != 1 || !place.block.conditions.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for branch in branches {
        let block = Block {
            sources: place.block.sources.clone(),
            conditions: vec![branch.clone()],
            ..Block::default()
        };
        let is_known = matches!(
            branch.comparison,
            Comparison::Equal | Comparison::In | Comparison::Range | Comparison::Null
        );
        let found = demands(Place { block: &block, ..place }, 0, table).pop();
        let Some(demand) = found.filter(|_| is_known) else { return Vec::new() };
        let leads = |index: &Index| demand.is_served_by(index);
        if !table.indexes.iter().any(leads) && !all.iter().any(|known| same(known, &demand)) {
            all.push(demand);
        }
    }
    all
}

fn same(a: &Demand, b: &Demand) -> bool {
    a.keys().map(|key| &key.base).eq(b.keys().map(|key| &key.base))
}

/// The rows that a run of the statement itself returns or changes, where they are the rows that it
/// has to read.
fn counted(place: Place<'_>) -> Option<Need> {
    let block = place.block;
    let is_alone = block.is_top && block.sources.len() == 1 && !block.gathers;
    let rows =
        place.statement().by_call(Counter::Rows).filter(|_| is_alone && !block.has_offset)?;
    Some(Need { rows, is_counted: true })
}

/// The rows of a table that a run needs to read with an index.
fn need(place: Place<'_>, source: usize, table: &Table, demand: &Demand) -> Option<Need> {
    let block = place.block;
    let is_cut = block.is_limited && !block.order.is_empty() && !demand.serves_order;
    let is_counted = demand.is_whole && !is_cut && !demand.is_join;
    if let Some(kept) = counted(place)
        && is_counted
    {
        return Some(kept);
    }
    // Nothing is known of the parts of documents.
    if demand.method.is_some() {
        return None;
    }
    let rows = table.rows?;
    let estimate = |rows: f64| Some(Need { rows, is_counted: false });
    let is_few = |kept: &f64| *kept <= SHARE_MAX * rows;
    if demand.is_join {
        return joined_rows(place, source, table, demand).filter(is_few).and_then(estimate);
    }
    if let Some(share) = demand.share().filter(|share| *share <= SHARE_MAX) {
        return estimate(share * rows);
    }
    // The planner's estimate of all conditions, or what a recorded run kept.
    let readers = place.readers(table);
    let run =
        readers.iter().find(|reader| reader.is_run).and_then(|reader| reader.operator.rows.actual);
    let planned =
        readers.iter().filter_map(|reader| reader.operator.rows.estimated).reduce(f64::min);
    let is_believed = place.rules.estimates_scans && demand.is_whole && !demand.equal.is_empty();
    let found = run.or(planned.filter(|_| is_believed)).filter(is_few)?;
    Some(Need { rows: found, is_counted: run.is_some() })
}

/// The rows of a table that belong to those of the other tables: of a run that returns what it
/// reads, its rows; else as the planner expects of the join.
fn joined_rows(place: Place<'_>, source: usize, table: &Table, demand: &Demand) -> Option<f64> {
    let block = place.block;
    let readers = place.readers(table);
    let scans: Vec<_> = readers.iter().filter(|reader| reader.scans()).collect();
    // A plan that does not read the table found out that there is nothing to read.
    if scans.is_empty() && !readers.is_empty() {
        return None;
    }
    let others_are_few = block.sources.iter().enumerate().any(|(other, from_source)| {
        other != source && place.table(from_source).is_some() && {
            let is_of = |condition: &Condition| {
                place.is_of(&condition.operand, other)
                    && !matches!(condition.other, Other::Operand(_))
                    && condition.comparison != Comparison::Other
            };
            block.conditions.iter().any(is_of)
        }
    });
    // A part of a statement that is run for each row of another.
    let is_correlated = !block.is_top && block.sources.len() == 1;
    if !others_are_few && !is_correlated {
        return None;
    }
    if is_correlated {
        return demand.share().map(|share| share * table.rows.unwrap_or(0.0));
    }
    let returned = place.statement().by_call(Counter::Rows);
    if let Some(rows) = returned
        && block.is_top
        && !block.gathers
        && !block.is_limited
    {
        return Some(rows.max(1.0));
    }
    let planned = scans.iter().filter_map(|scan| scan.join?.rows.estimated).reduce(f64::min);
    if let Some(planned) = planned
        && place.rules.estimates_scans
    {
        return Some(planned);
    }
    // By the number of different values: the rows of the other tables, each with its own.
    let share = demand.share()?;
    let others = block.sources.iter().enumerate().filter(|(other, _)| *other != source);
    let outer = others.filter_map(|(other, from_source)| {
        let table = &place.snapshot.tables[place.table(from_source)?];
        let demand = demands(place, other, table).into_iter().find(|demand| !demand.is_join)?;
        Some(demand.share()? * table.rows?)
    });
    Some(outer.reduce(f64::min)?.max(1.0) * share * table.rows?)
}

/// Returns true when a run reads much more than the rows that it needs.
pub(crate) fn reads_too_much(place: Place<'_>, table: &Table, kept: Need) -> bool {
    let statement = place.statement();
    let is_alone = place.block.sources.len() == 1 && place.block.is_top;
    let size = table.bytes.unwrap_or(0) as f64 / place.snapshot.block_bytes.max(1) as f64;
    if let Some(pages) = statement.blocks_by_call() {
        let needed = kept.rows.min(size) + INDEX_PAGES;
        return pages >= PAGES_FACTOR * needed
            && pages >= PAGES_MIN
            && (is_alone || pages >= WHOLE_SHARE * size);
    }
    if let Some(read) = statement.by_call(Counter::RowsRead) {
        return read >= ROWS_FACTOR * kept.rows.max(1.0)
            && read >= ROWS_READ_MIN
            && (is_alone || read >= WHOLE_SHARE * table.rows.unwrap_or(0.0));
    }
    !place.rules.keeps_statistics && place.readers(table).iter().any(Reader::scans)
}

fn add(found: &mut Vec<Candidate>, new: Candidate) {
    let known = found.iter_mut().find(|candidate| {
        candidate.table == new.table
            && candidate.demand.method == new.demand.method
            && same(&candidate.demand, &new.demand)
    });
    match known {
        Some(known) => add_uses(known, new.uses),
        None => found.push(new),
    }
}

/// Makes one of two indexes of which one does the work of both: its equalities come in the order
/// of the shorter one.
fn join(found: &mut Vec<Candidate>) {
    order::by_key(found, &|candidate| std::cmp::Reverse(candidate.demand.keys().count()));
    let mut at = found.len();
    while at > 0 {
        at -= 1;
        let short = &found[at];
        let longer = (0..at).find(|other| {
            let long = &found[*other];
            long.table == short.table
                && short.demand.method == long.demand.method
                && covers(&long.demand, &short.demand)
        });
        let Some(longer) = longer else { continue };
        let short = found.remove(at);
        let keys: Vec<String> = short.demand.keys().map(|key| key.base.clone()).collect();
        let place =
            |key: &Key| keys.iter().position(|base| *base == key.base).unwrap_or(usize::MAX);
        found[longer].demand.equal.sort_by_key(place);
        add_uses(&mut found[longer], short.uses);
    }
}

fn add_uses(known: &mut Candidate, uses: Vec<Use>) {
    for index_use in uses {
        if !known.uses.iter().any(|known| known.statement == index_use.statement) {
            known.uses.push(index_use);
        }
    }
    order::by_key(&mut known.uses, &|index_use| index_use.statement);
}

fn covers(long: &Demand, short: &Demand) -> bool {
    let all_equal = short.keys().all(|key| long.equal.iter().any(|known| known.base == key.base));
    let begins = short
        .keys()
        .map(|key| &key.text)
        .eq(long.keys().map(|key| &key.text).take(short.keys().count()));
    all_equal || begins
}

fn advise(snapshot: &Snapshot, found: &Candidate, rules: &Rules) -> Advice {
    let table = &snapshot.tables[found.table];
    let columns: Vec<String> = found.demand.keys().map(|key| key.text.clone()).collect();
    let statements: Vec<usize> = found.uses.iter().map(|index_use| index_use.statement).collect();
    let time_s: f64 = statements.iter().map(|at| snapshot.statements[*at].time_s()).sum();
    let time = |index_use: &&Use| {
        snapshot.statements[index_use.statement].get(Counter::TimeNs).unwrap_or(0)
    };
    let costly = found.uses.iter().max_by_key(time);
    let evidence =
        costly.map(|index_use| evidence(snapshot, table, *index_use)).unwrap_or_default();
    let others = (statements.len() > 1).then(|| format!(" It serves {}.", numbers(&statements)));
    let replaced = table.indexes.iter().filter(|index| is_replaced(index, &found.demand));
    let replaced = listed(replaced.map(|index| &index.name));
    let replaced = replaced.map(|names| format!(" With it, {names} becomes redundant."));
    let is_counted = found.uses.iter().any(|index_use| index_use.need.is_counted);
    let certainty = if is_counted { Certainty::Counted } else { Certainty::Estimated };
    Advice {
        evidence: evidence + &others.unwrap_or_default(),
        change: format!(
            "An index on ({}) finds these rows without reading the rest; the statements took {} \
             in total.{}{}",
            columns.join(", "),
            seconds(time_s),
            replaced.unwrap_or_default(),
            partial(found, rules)
        ),
        price: price(rules.upkeep, table, &columns),
        ddl: Some((rules.create_index)(&NewIndex {
            method: found.demand.method,
            ..NewIndex::new(table, &columns)
        })),
        weight: time_s,
        statements,
        ..Advice::new(AdviceKind::MissingIndex, certainty)
    }
    .about_table(found.table, table)
}

/// Different values of a column of which a few rows are wanted, below which an index of these rows
/// alone is much smaller.
const FEW_VALUES: f64 = 20.0;

/// Words on an index of some rows, where one value of few is looked for.
fn partial(found: &Candidate, rules: &Rules) -> &'static str {
    let is_one = |key: &Key| key.distinct.is_some_and(|distinct| distinct <= FEW_VALUES);
    let is_partial = rules.abilities.expressions
        && found.demand.tail.is_empty()
        && matches!(found.demand.equal.as_slice(), [key] if is_one(key));
    if is_partial {
        " If the statements look for one rare value only, an index with WHERE for that value is \
         smaller."
    } else {
        ""
    }
}

/// Returns true for an index whose keys are the first ones of the new one.
fn is_replaced(index: &Index, demand: &Demand) -> bool {
    let keys: Vec<&Key> = demand.keys().collect();
    index.may_go()
        && index.predicate.is_none()
        && demand.method.is_none()
        && index.included.is_empty()
        && index.keys.len() < keys.len()
        && index.keys.iter().zip(&keys).all(|(a, b)| squeezed(&a.column) == b.base)
}

/// `Statement 2 reads 612 pages of the table's 620 to return 6 rows (20 runs; 3.1 ms each).`
fn evidence(snapshot: &Snapshot, table: &Table, index_use: Use) -> String {
    let statement: &Statement = &snapshot.statements[index_use.statement];
    let rows = table.rows.unwrap_or(0.0);
    let size = table.bytes.unwrap_or(0) as f64 / snapshot.block_bytes.max(1) as f64;
    let read = match (statement.blocks_by_call(), statement.by_call(Counter::RowsRead)) {
        (Some(pages), _) => {
            format!("reads {} pages (the table has {})", figure(pages), figure(size))
        }
        (None, Some(read)) => {
            format!("reads {} rows (the table has {})", figure(read), count(rows as u64))
        }
        (None, None) => format!("reads all {} rows", count(rows as u64)),
    };
    let share = index_use.need.rows / rows.max(1.0);
    let needs = if index_use.need.is_counted {
        format!("to keep {} rows", figure(index_use.need.rows))
    } else {
        format!(
            "to keep {} of the rows (estimate)",
            percent(share, if share < 0.001 { 3 } else { 1 })
        )
    };
    let figures = [
        statement.get(Counter::Calls).map(runs),
        statement.mean_ms().map(|ms| format!("{} each", seconds(ms / 1e3))),
    ];
    let figures = joined(figures.into_iter().flatten(), "; ");
    let counted = if figures.is_empty() { figures } else { format!(" ({figures})") };
    format!("Statement {} {read} {needs}{counted}.", index_use.statement + 1)
}
