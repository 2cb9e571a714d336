//! The tables of pgbench's built-in scripts, as `pgbench -i -s SCALE` makes them.

use crate::{Part, numbered};
use work::{Column, DataType, Storage, Table, Values};

const ACCOUNTS_PER_BRANCH: f64 = 100_000.0;
const TELLERS_PER_BRANCH: i64 = 10;

/// From this scale on accounts are numbered with 64 bits.
const SCALE_OF_BIG_NUMBERS: f64 = 20_000.0;

/// Number of accounts.
pub(crate) fn accounts(scale: f64) -> i64 {
    (ACCOUNTS_PER_BRANCH * scale).round().max(1.0) as i64
}

/// Accounts, history, tellers and branches. History begins empty; only the filler of accounts is
/// not NULL, but blank.
pub(crate) fn parts(scale: f64) -> Vec<Part> {
    let account = if scale >= SCALE_OF_BIG_NUMBERS { DataType::BigInt } else { DataType::Int };
    let key = |name| Column::new(name, DataType::Int);
    let int = |name| key(name).nullable();
    let text = |name, length| Column::new(name, DataType::Char(length)).nullable();
    let table = |name, key: &'static [&'static str], columns| {
        let storage =
            Storage { fill_percent: Some(100), key_after_fill: true, ..Storage::default() };
        Table { name, columns, key, storage }
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
    let accounts_columns =
        vec![Column::new("aid", account), int("bid"), int("abalance"), text("filler", 84)];
    let branches = vec![key("bid"), int("bbalance"), text("filler", 88)];
    let rows_of = |last: i64, per_branch: i64, filler: Option<&'static str>| {
        move || {
            numbered(1, last, move |numbers| {
                let bid = numbers.iter().map(|number| (number - 1) / per_branch + 1).collect();
                let columns = [Values::Integers(numbers), Values::Integers(bid), Values::Same(0)];
                columns.into_iter().chain(filler.map(Values::SameText)).collect()
            })
        }
    };
    let (all, per_branch) = (accounts(scale), ACCOUNTS_PER_BRANCH as i64);
    let count = (all + per_branch - 1) / per_branch;
    let history =
        Table { name: "pgbench_history", columns: history, key: &[], storage: Storage::default() };
    vec![
        Part::new(
            table("pgbench_accounts", &["aid"], accounts_columns),
            4,
            rows_of(all, per_branch, Some("")),
        ),
        Part::new(history, 0, || Box::new(std::iter::empty())),
        Part::new(
            table("pgbench_tellers", &["tid"], tellers),
            3,
            rows_of(count * TELLERS_PER_BRANCH, TELLERS_PER_BRANCH, None),
        ),
        Part::new(table("pgbench_branches", &["bid"], branches), 2, move || {
            numbered(1, count, |bid| vec![Values::Integers(bid), Values::Same(0)])
        }),
    ]
}
