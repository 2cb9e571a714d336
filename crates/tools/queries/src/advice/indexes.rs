//! Indexes that are not used or hardly, that failed to be built, and that are larger than they need
//! to be.

use crate::IndexUse;
use crate::cross::{IndexPlace, all_indexes};
use crate::words::{in_units, numbers};
use inspection::statements::{
    Advice, AdviceKind, Certainty, Index, Rules, Snapshot, Statement, Table,
};
use observations::number::{bytes, count, percent, plural};

/// An index that is smaller, of a table that changes less, costs nothing noticeable.
const BYTES_MIN: u64 = 1 << 20;
const CHANGES_MIN: u64 = 1_000;
/// Writes for each scan above which an index must save a lot to be worth its maintenance.
const CHANGES_BY_SCAN: u64 = 1_000;
/// Fewer changes than this say nothing of a ratio. The rows that are there had to be inserted once,
/// whatever is read: they do not count.
const RARE_CHANGES_MIN: u64 = 10_000;
/// Counters of less than a day have seen no nightly job.
const DAY_MS: i64 = 86_400_000;
/// Free space of a B-tree that is worth building it again: half of it, and so much.
const BLOAT_SHARE: f64 = 0.5;
const BLOAT_MIN: u64 = 10 << 20;

/// Indexes that nothing reads, or hardly. One that is redundant is advised on as that.
pub(crate) fn of_use(
    snapshot: &Snapshot,
    uses: &[IndexUse],
    rules: &Rules,
    is_redundant: impl Fn(usize, usize) -> bool,
) -> Vec<Advice> {
    let advice = |place: IndexPlace<'_>| {
        let IndexPlace { table_at, table, number, index } = place;
        let may_go = index.may_go() && index.is_valid && !is_redundant(table_at, number);
        if !may_go || foreign_key(table, index).is_some() {
            return None;
        }
        let used = place.statements(uses);
        let found = match index.scans {
            Some(scans) => unused(snapshot, table, index, scans, &used),
            None if rules.keeps_statistics => None,
            None => of_no_statement(snapshot, table, index, &used),
        };
        let ddl = Some((rules.drop_index)(table, index));
        found.map(|found| place.advice(Advice { ddl, ..found }))
    };
    all_indexes(snapshot).filter_map(advice).collect()
}

/// The foreign key whose checks an index serves, if no other index does.
pub(super) fn foreign_key<'a>(table: &'a Table, index: &Index) -> Option<&'a str> {
    let key = table.foreign_keys.iter().find(|key| {
        index.begins_with(&key.columns)
            && !table.indexes.iter().any(|other| {
                other.name != index.name && other.is_valid && other.begins_with(&key.columns)
            })
    })?;
    Some(&key.name)
}

fn unused(
    snapshot: &Snapshot,
    table: &Table,
    index: &Index,
    scans: u64,
    used: &[usize],
) -> Option<Advice> {
    let changes = table.index_changes().unwrap_or(0);
    let beyond_load = changes.saturating_sub(table.rows.unwrap_or(0.0) as u64);
    let size = index.bytes.unwrap_or(0);
    let is_large = size >= BYTES_MIN || changes >= CHANGES_MIN;
    let since = since(table.since_ms, snapshot.span.to_ms);
    let kind = match scans {
        0 if is_large && table.is_in_use() && used.is_empty() => AdviceKind::UnusedIndex,
        1.. if beyond_load >= RARE_CHANGES_MIN && beyond_load / scans >= CHANGES_BY_SCAN => {
            AdviceKind::RarelyUsedIndex
        }
        _ => return None,
    };
    let is_short = table.since_ms.is_none_or(|from| snapshot.span.to_ms - from < DAY_MS);
    let in_plans = match used {
        [] => String::new(),
        used => format!(" Plans of {} use it.", numbers(used)),
    };
    let is_sure = kind == AdviceKind::UnusedIndex && !is_short;
    let certainty = if is_sure { Certainty::Counted } else { Certainty::Possible };
    Some(Advice {
        evidence: format!(
            "Read {} {since}, but maintained for {} changed rows of the table.{in_plans}",
            if scans == 0 { "0 times".into() } else { plural(scans as usize, "time") },
            count(changes)
        ),
        change: format!(
            "Dropping it frees {} and leaves one index less to maintain for each of these changes.",
            bytes(size)
        ),
        price: careful(is_short),
        weight: size as f64 + changes as f64,
        ..Advice::new(kind, certainty)
    })
}

/// Finds an index of an engine that counts no reads: no given statement uses it, though some read
/// its table.
fn of_no_statement(
    snapshot: &Snapshot,
    table: &Table,
    index: &Index,
    used: &[usize],
) -> Option<Advice> {
    let reads = |statement: &&Statement| {
        let mut objects = statement.operators().flat_map(|operator| &operator.objects);
        objects.any(|object| object.table == table.name)
    };
    let readers = snapshot.statements.iter().filter(reads).count();
    let size = index.bytes.filter(|size| *size >= BYTES_MIN)?;
    (used.is_empty() && readers > 0).then(|| Advice {
        evidence: format!(
            "{} of those given read the table; no plan uses the index.",
            plural(readers, "statement")
        ),
        change: format!(
            "Dropping it frees {} and leaves one index less to maintain on each write.",
            bytes(size)
        ),
        price: "Other statements may use it. Keep its definition: recreating it takes time and \
                space."
            .into(),
        weight: size as f64,
        ..Advice::new(AdviceKind::UnusedIndex, Certainty::Possible)
    })
}

fn careful(is_short: bool) -> String {
    let short = if is_short {
        "The counters cover less than a day, or an unknown time: rare jobs may be missing. "
    } else {
        ""
    };
    format!(
        "{short}Counting starts when an index is created. Reads on replicas are counted there, \
         not here. Keep its definition: recreating it takes time and space."
    )
}

/// `in 20 days`
fn since(from_ms: Option<i64>, to_ms: i64) -> String {
    let Some(from) = from_ms else { return "since the counters started".into() };
    let seconds = (to_ms - from).max(0) as f64 / 1e3;
    let (length, unit) = in_units(seconds).unwrap_or((seconds, "seconds"));
    format!("in {length:.0} {unit}")
}

/// Indexes that queries cannot use, and such as are mostly empty.
pub fn of_state(snapshot: &Snapshot, rules: &Rules) -> Vec<Advice> {
    let advice = |place: IndexPlace<'_>| {
        let IndexPlace { table, index, .. } = place;
        let found = if index.is_valid {
            bloated(snapshot, table, index)
        } else {
            Some(invalid((rules.drop_index)(table, index), index))
        };
        found.map(|found| place.advice(found))
    };
    all_indexes(snapshot).filter_map(advice).collect()
}

fn invalid(drop: String, index: &Index) -> Advice {
    Advice {
        evidence: "The server marks it as invalid: no query uses it, but writes may have to \
                   maintain it. Such an index remains after a failed CREATE INDEX CONCURRENTLY \
                   or REINDEX CONCURRENTLY, and exists while one runs."
            .into(),
        change: format!(
            "Drop or rebuild it unless a build is running; its size is {}.",
            bytes(index.bytes.unwrap_or(0))
        ),
        price: "None, if it is not being built now: see pg_stat_progress_create_index.".into(),
        ddl: Some(drop),
        ..Advice::new(AdviceKind::InvalidIndex, Certainty::Counted)
    }
}

fn bloated(snapshot: &Snapshot, table: &Table, index: &Index) -> Option<Advice> {
    let free = index.bloat_bytes(&table.columns, snapshot.block_bytes)?;
    let size = index.bytes?;
    let share = free as f64 / size.max(1) as f64;
    (free >= BLOAT_MIN && share >= BLOAT_SHARE).then(|| Advice {
        evidence: format!(
            "Its size is {}. By the number and width of its entries, {} ({}) are free (estimate).",
            bytes(size),
            bytes(free),
            percent(share, 0)
        ),
        change: "Rebuilding it (REINDEX INDEX CONCURRENTLY) frees that space; measure it exactly \
                 with pgstattuple first."
            .into(),
        price:
            "The build reads the table and needs room for a second copy while it runs. An index \
                whose pages split at random fills up to this again."
                .into(),
        weight: free as f64,
        ..Advice::new(AdviceKind::BloatedIndex, Certainty::Estimated)
    })
}
