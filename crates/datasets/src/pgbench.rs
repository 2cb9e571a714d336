//! The tables of pgbench's built-in scripts, as `pgbench -i -s SCALE` makes them.

use crate::{MakeBatches, Part, numbered};
use engines::{Column, DataType, Storage, Table, Values};

const ACCOUNTS_PER_BRANCH: f64 = 100_000.0;
const TELLERS_PER_BRANCH: i64 = 10;

/// From this scale on accounts are numbered with 64 bits.
const SCALE_OF_BIG_NUMBERS: f64 = 20_000.0;

/// Number of accounts.
pub(crate) fn accounts(scale: f64) -> i64 {
    (ACCOUNTS_PER_BRANCH * scale).round().max(1.0) as i64
}

/// Accounts, history, tellers and branches. History begins empty; only the filler of accounts is not NULL, but blank.
pub(crate) fn parts(scale: f64) -> Vec<Part> {
    let account = if scale >= SCALE_OF_BIG_NUMBERS { DataType::BigInt } else { DataType::Int };
    let key = |name| Column::new(name, DataType::Int);
    let int = |name| key(name).nullable();
    let text = |name, length| Column::new(name, DataType::Char(length)).nullable();
    let filled = Storage { fill_percent: Some(100), key_after_fill: true, ..Storage::default() };
    let part = |name, key, storage, columns, filled: &[&'static str], batches: MakeBatches| Part {
        table: Table { name, columns, key, storage },
        columns: filled.to_vec(),
        batches: vec![batches],
    };
    let history = vec![
        int("tid"),
        int("bid"),
        Column::new("aid", account).nullable(),
        int("delta"),
        Column::new("mtime", DataType::Timestamp).nullable(),
        text("filler", 22),
    ];
    let tellers = vec![key("tid"), int("bid"), int("tbalance"), text("filler", 84)];
    let accounts_columns = vec![Column::new("aid", account), int("bid"), int("abalance"), text("filler", 84)];
    let branches = vec![key("bid"), int("bbalance"), text("filler", 88)];
    let rows_of = |last: i64, per_branch: i64, filler: Option<&'static str>| -> MakeBatches {
        Box::new(move || {
            numbered(1, last, move |numbers| {
                let bid = numbers.iter().map(|number| (number - 1) / per_branch + 1).collect();
                let columns = [Values::Integers(numbers), Values::Integers(bid), Values::Same(0)];
                columns.into_iter().chain(filler.map(Values::SameText)).collect()
            })
        })
    };
    let (all, per_branch) = (accounts(scale), ACCOUNTS_PER_BRANCH as i64);
    let branches_count = (all + per_branch - 1) / per_branch;
    let branch_rows: MakeBatches =
        Box::new(move || numbered(1, branches_count, |bid| vec![Values::Integers(bid), Values::Same(0)]));
    let no_rows: MakeBatches = Box::new(|| Box::new(std::iter::empty()));
    vec![
        part(
            "pgbench_accounts",
            &["aid"],
            filled,
            accounts_columns,
            &["aid", "bid", "abalance", "filler"],
            rows_of(all, per_branch, Some("")),
        ),
        part("pgbench_history", &[], Storage::default(), history, &[], no_rows),
        part(
            "pgbench_tellers",
            &["tid"],
            filled,
            tellers,
            &["tid", "bid", "tbalance"],
            rows_of(branches_count * TELLERS_PER_BRANCH, TELLERS_PER_BRANCH, None),
        ),
        part("pgbench_branches", &["bid"], filled, branches, &["bid", "bbalance"], branch_rows),
    ]
}
