//! Differences of two snapshots.

use inspection::statements::{CountedRow, Counter, Overflow, Snapshot, Spread, Statement, Table};
use observations::number::plural;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The counters of a row.
type Counters = BTreeMap<Counter, u64>;

/// Servers tell the start of a row in whole seconds, at worst.
const START_MS: i64 = 2_000;

/// A row by the server's own numbers; of a statement without rows, by its names: those of the Query
/// Store, and all in files of older versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    Row { digest: &'a str, is_top: bool, id: &'a str },
    Names(Names<'a>),
}

/// The names of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Names<'a> {
    digest: &'a str,
    is_top: bool,
    is_stored: bool,
    database: &'a str,
    user: &'a str,
}

/// A row of a statement.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    statement: &'a Statement,
    since_ms: Option<i64>,
    counters: &'a Counters,
}

/// Work between two snapshots by a row.
enum Change {
    /// Exactly so much since the first one.
    Since(Counters),
    /// A row that was not there: all of it.
    New(Counters),
    /// At least so much: the row was reset, and counts from there.
    Reset(Counters),
    /// It was there before and not read then.
    Unknown,
}

/// The statements that are not exact, by the reason.
#[derive(Debug, Default)]
struct Doubts {
    reset: usize,
    aged: usize,
    unknown: usize,
    ambiguous: usize,
    gone: usize,
}

/// Two snapshots of one server.
struct Pair<'a> {
    first: &'a Snapshot,
    /// The rows of the first one, and its statements by their names.
    rows: HashMap<Key<'a>, Row<'a>>,
    by_name: HashMap<Names<'a>, &'a Statement>,
    /// The rows of the second one.
    now: HashSet<Key<'a>>,
    /// Keys that several rows of a snapshot have.
    ambiguous: HashSet<Key<'a>>,
    /// Rows have no other key than names.
    names_only: bool,
    /// The server dropped all counters in between.
    was_reset: bool,
}

/// The difference of two snapshots of one server. Counters that were reset in between, or whose
/// statement was evicted, cover only the time since then: the statement is marked, and a note says
/// so. Statements that did not run are left out.
pub fn between(first: &Snapshot, mut last: Snapshot) -> Snapshot {
    let all = std::mem::take(&mut last.statements);
    let began = first.span.from_ms.zip(last.span.from_ms);
    let was_reset = began.is_some_and(|(first, last)| last > first);
    let pair = Pair::new(first, &all, was_reset);
    let mut doubts = Doubts { gone: pair.gone(&all), ..Doubts::default() };
    for statement in &all {
        let found = pair.difference(statement, &mut doubts);
        last.statements.extend(found.filter(|statement| {
            !statement.counters.is_empty() && statement.get(Counter::Calls) != Some(0)
        }));
    }
    doubts.note(was_reset, &mut last.notes);
    last.evictions = counted_since(first.evictions, last.evictions, was_reset);
    last.overflow = overflow(first, &last);
    last.span.is_interval = true;
    last.span.from_ms = if was_reset { last.span.from_ms } else { Some(first.span.to_ms) };
    scans(first, &mut last);
    last
}

impl<'a> Pair<'a> {
    fn new(first: &'a Snapshot, all: &'a [Statement], was_reset: bool) -> Self {
        let mut both = first.statements.iter().chain(all);
        let names_only = both.any(|statement| !statement.is_stored && statement.rows.is_empty());
        let before = || first.statements.iter().filter(|_| !was_reset);
        let then: Vec<_> = before().flat_map(|statement| rows(statement, names_only)).collect();
        let now: Vec<_> = all.iter().flat_map(|statement| rows(statement, names_only)).collect();
        Self {
            first,
            by_name: before().map(|statement| (names(statement), statement)).collect(),
            ambiguous: repeated(&then).chain(repeated(&now)).collect(),
            rows: then.into_iter().collect(),
            now: now.into_iter().map(|(key, _)| key).collect(),
            names_only,
            was_reset,
        }
    }

    /// The work of a statement since; `None` where it is not known.
    fn difference(&self, last: &'a Statement, doubts: &mut Doubts) -> Option<Statement> {
        let mut counters = Counters::new();
        let (mut from_start, mut is_reset, mut is_known) = (true, false, true);
        for (key, row) in rows(last, self.names_only) {
            if self.ambiguous.contains(&key) {
                doubts.ambiguous += 1;
                return None;
            }
            let more = match self.change(&key, row) {
                Change::Since(more) => {
                    from_start = false;
                    more
                }
                Change::New(more) => more,
                Change::Reset(more) => {
                    is_reset = true;
                    more
                }
                Change::Unknown => {
                    is_known = false;
                    continue;
                }
            };
            for (counter, value) in more {
                let sum = counters.entry(counter).or_default();
                *sum = sum.saturating_add(value);
            }
        }
        let first = self.first_of(last);
        is_reset |= first.is_some_and(|first| self.has_lost_rows(first));
        if last.is_stored && is_reset {
            doubts.aged += 1;
            return None;
        }
        doubts.unknown += usize::from(!is_known);
        doubts.reset += usize::from(is_known && is_reset);
        let stddev_ms = match first.filter(|_| !is_reset) {
            _ if !is_known => None,
            Some(first) => stddev(first, last),
            None => last.spread.and_then(|spread| spread.stddev_ms).filter(|_| from_start),
        };
        Some(Statement {
            counters,
            rows: Vec::new(),
            is_partial: self.was_reset || is_reset || !is_known,
            spread: last.spread.map(|_| Spread { min_ms: None, max_ms: None, stddev_ms }),
            ..last.clone()
        })
    }

    fn change(&self, key: &Key<'_>, row: Row<'_>) -> Change {
        let all = || row.counters.clone();
        let Some(first) = self.rows.get(key) else {
            let is_old = row.since_ms.is_some_and(|since| since + START_MS < self.first.span.to_ms);
            let was_there = self.first.is_cut && is_old && !self.was_reset;
            return if was_there { Change::Unknown } else { Change::New(all()) };
        };
        let began = first.since_ms.zip(row.since_ms);
        if began.is_some_and(|(first, last)| last > first) {
            return Change::Reset(all());
        }
        // A row of one start was not reset: a figure that falls is one that the server rounds.
        let may_round = began.is_some();
        let more: Option<Counters> = row
            .counters
            .iter()
            .map(|(counter, now)| {
                let before = first.counters.get(counter).copied().unwrap_or(0);
                let rounded = (may_round && *counter != Counter::Calls).then_some(0);
                Some((*counter, now.checked_sub(before).or(rounded)?))
            })
            .collect();
        more.map_or_else(|| Change::Reset(all()), Change::Since)
    }

    /// The statement in the first snapshot: one with a row in common, else with the same names.
    fn first_of(&self, last: &'a Statement) -> Option<&'a Statement> {
        let mut keys = rows(last, self.names_only).map(|(key, _)| key);
        let by_row = keys.find_map(|key| Some(self.rows.get(&key)?.statement));
        by_row.or_else(|| self.by_name.get(&names(last)).copied())
    }

    fn has_lost_rows(&self, first: &'a Statement) -> bool {
        rows(first, self.names_only).any(|(key, _)| !self.now.contains(&key))
    }

    /// The number of statements that were there at the beginning and not at the end.
    fn gone(&self, all: &'a [Statement]) -> usize {
        let plain = |statement: &'a Statement| Names { is_stored: false, ..names(statement) };
        let named: HashSet<Names<'_>> = all.iter().map(plain).collect();
        let before = self.first.statements.iter().filter(|_| !self.was_reset);
        let gone = before.filter(|statement| {
            !rows(statement, self.names_only).any(|(key, _)| self.now.contains(&key))
                && !named.contains(&plain(statement))
        });
        gone.count()
    }
}

impl Doubts {
    fn note(&self, was_reset: bool, notes: &mut Vec<String>) {
        if was_reset {
            notes.push(
                "Statement statistics were reset during the interval: figures count from the \
                 reset."
                    .into(),
            );
        }
        for (number, what) in [
            (
                self.reset,
                "evicted or reset during the interval and then counted again; its figures start \
                 there.",
            ),
            (
                self.aged,
                "the Query Store removed its old runs during the interval; its work in the \
                 interval is unknown.",
            ),
            (
                self.unknown,
                "not among the statements that were read at the beginning; part of its work in \
                 the interval is unknown.",
            ),
            (
                self.ambiguous,
                "this capture has names only, and a dropped database or role had one of the same \
                 names; its work in the interval is unknown.",
            ),
            (
                self.gone,
                "counted at the beginning, gone at the end; its work in the interval is unknown.",
            ),
        ] {
            if number > 0 {
                notes.push(format!("{}: {what}", plural(number, "statement")));
            }
        }
    }
}

fn names(statement: &Statement) -> Names<'_> {
    let Statement { digest, database, user, is_top, is_stored, .. } = statement;
    Names { digest, is_top: *is_top, is_stored: *is_stored, database, user }
}

/// The keys that several rows have.
fn repeated<'a>(rows: &[(Key<'a>, Row<'a>)]) -> impl Iterator<Item = Key<'a>> {
    let mut known = HashSet::new();
    rows.iter().map(|(key, _)| *key).filter(move |key| !known.insert(*key))
}

/// The rows of a statement with their keys.
fn rows(statement: &Statement, names_only: bool) -> impl Iterator<Item = (Key<'_>, Row<'_>)> {
    let is_whole = names_only || statement.rows.is_empty();
    let whole = Row { statement, since_ms: None, counters: &statement.counters };
    let whole = is_whole.then_some((Key::Names(names(statement)), whole));
    let rows = statement.rows.iter().filter(move |_| !is_whole);
    whole.into_iter().chain(rows.map(move |row: &CountedRow| {
        let counters = if row.counters.is_empty() { &statement.counters } else { &row.counters };
        let key = Key::Row { digest: &statement.digest, is_top: statement.is_top, id: &row.id };
        (key, Row { statement, since_ms: row.since_ms, counters })
    }))
}

/// The increase of a counter of the server; `None` where it fell without a reset that is known.
fn counted_since(first: Option<u64>, last: Option<u64>, was_reset: bool) -> Option<u64> {
    let (first, last) = (first?, last?);
    last.checked_sub(first).or(was_reset.then_some(last))
}

/// The runs in between without their statement.
fn overflow(first: &Snapshot, last: &Snapshot) -> Option<Overflow> {
    let now = last.overflow.clone()?;
    let before = first.overflow.as_ref().map_or(0, |overflow| overflow.runs);
    // The row was reset where it fell.
    Some(Overflow { runs: now.runs.checked_sub(before).unwrap_or(now.runs), ..now })
}

/// From the sums of squares of both: n (s² + m²). Where they are nearly the same, rounding leaves
/// nothing to be said.
fn stddev(first: &Statement, last: &Statement) -> Option<f64> {
    let sums = |statement: &Statement| {
        let calls = statement.get(Counter::Calls)? as f64;
        let mean = statement.mean_ms().unwrap_or(0.0);
        let deviation = statement.spread.and_then(|spread| spread.stddev_ms)?;
        Some((calls, calls * mean, calls * (deviation * deviation + mean * mean)))
    };
    let ((n0, sum0, squares0), (n1, sum1, squares1)) = (sums(first)?, sums(last)?);
    let (calls, mean) = (n1 - n0, (sum1 - sum0) / (n1 - n0));
    let variance = (squares1 - squares0) / calls - mean * mean;
    let rounding = 1e-9 * squares1 / calls;
    // Where a row is gone, the sums are of other runs.
    (calls > 0.0 && variance >= rounding).then(|| variance.sqrt())
}

/// The number of times that each index was read in between.
fn scans(first: &Snapshot, last: &mut Snapshot) {
    let key = |table: &Table| (table.database.clone(), table.schema.clone(), table.name.clone());
    let before: HashMap<_, &Table> = first.tables.iter().map(|table| (key(table), table)).collect();
    for table in &mut last.tables {
        let known = before.get(&key(table)).filter(|known| known.since_ms == table.since_ms);
        let Some(known) = known else { continue };
        for index in &mut table.indexes {
            let known = known.indexes.iter().find(|candidate| candidate.name == index.name);
            index.interval_scans = known.and_then(|known| index.scans?.checked_sub(known.scans?));
        }
    }
}
