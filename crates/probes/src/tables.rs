//! The tables that probes work on: those of the published studies and of pgbench.

use engines::{Column, DataType, DefaultValue, Fill, Rows, Storage, Table, Values};

/// `MyBigTable` of studies S1: a 16-byte key, a time, `char(111)`, two ints and a bigint, clustered on the key.
pub fn my_big_table() -> Table {
    let columns = vec![
        Column::new("c1", DataType::Uuid).default(DefaultValue::NewUuid),
        Column::new("c2", DataType::Timestamp).default(DefaultValue::Now),
        Column::new("c3", DataType::Char(111)).default(DefaultValue::Text("a")),
        Column::new("c4", DataType::Int).default(DefaultValue::Integer(1)),
        Column::new("c5", DataType::Int).default(DefaultValue::Integer(2)),
        Column::new("c6", DataType::BigInt).default(DefaultValue::Integer(42)),
    ];
    let storage = Storage { spread: true, ..Storage::default() };
    Table { name: "mybigtable", columns, key: &["c1"], storage }
}

/// An integer key and a filler that gives each row a page of its own (S1b).
pub fn one_row_per_page() -> Table {
    let columns = vec![
        Column::new("c1", DataType::BigInt),
        Column::new("c2", DataType::PageFiller).default(DefaultValue::Filler),
    ];
    let storage = Storage { spread: true, ..Storage::default() };
    Table { name: "onerowperpage", columns, key: &["c1"], storage }
}

const ACCOUNTS_PER_BRANCH: i64 = 100_000;
const TELLERS_PER_BRANCH: i64 = 10;

/// From this scale on accounts are numbered with 64 bits.
const SCALE_OF_BIG_NUMBERS: u32 = 20_000;

/// The tables of pgbench's built-in scripts, as `pgbench -i -s SCALE` makes them.
pub fn pgbench(scale: u32) -> Vec<Table> {
    let account = if scale >= SCALE_OF_BIG_NUMBERS { DataType::BigInt } else { DataType::Int };
    let key = |name| Column::new(name, DataType::Int);
    let int = |name| key(name).nullable();
    let text = |name, length| Column::new(name, DataType::Char(length)).nullable();
    let filled = Storage { fill_percent: Some(100), key_after_fill: true, ..Storage::default() };
    let table = |name, key, storage, columns| Table { name, columns, key, storage };
    let history = vec![
        int("tid"),
        int("bid"),
        Column::new("aid", account).nullable(),
        int("delta"),
        Column::new("mtime", DataType::Timestamp).nullable(),
        text("filler", 22),
    ];
    let tellers = vec![key("tid"), int("bid"), int("tbalance"), text("filler", 84)];
    let accounts = vec![Column::new("aid", account), int("bid"), int("abalance"), text("filler", 84)];
    let branches = vec![key("bid"), int("bbalance"), text("filler", 88)];
    vec![
        table("pgbench_history", &[], Storage::default(), history),
        table("pgbench_tellers", &["tid"], filled, tellers),
        table("pgbench_accounts", &["aid"], filled, accounts),
        table("pgbench_branches", &["bid"], filled, branches),
    ]
}

/// Bytes of the rows of accounts, beside which the others do not count.
pub fn pgbench_bytes(scale: u32) -> u64 {
    let accounts =
        pgbench(scale).iter().find(|table| table.name == "pgbench_accounts").map_or(0, Table::row_bytes);
    accounts * u64::from(scale) * ACCOUNTS_PER_BRANCH as u64
}

/// Their rows. History begins empty; only the filler of accounts is not NULL, but blank.
pub fn pgbench_rows(scale: u32) -> Vec<Fill> {
    let scale = i64::from(scale);
    let branch_of = |number: i64, per_branch: i64| (number - 1) / per_branch + 1;
    let branches = numbered(scale, |bid| vec![Values::Integers(bid), Values::Same(0)]);
    let tellers = numbered(scale * TELLERS_PER_BRANCH, move |tid| {
        let bid = tid.iter().map(|tid| branch_of(*tid, TELLERS_PER_BRANCH)).collect();
        vec![Values::Integers(tid), Values::Integers(bid), Values::Same(0)]
    });
    let accounts = numbered(scale * ACCOUNTS_PER_BRANCH, move |aid| {
        let bid = aid.iter().map(|aid| branch_of(*aid, ACCOUNTS_PER_BRANCH)).collect();
        vec![Values::Integers(aid), Values::Integers(bid), Values::Same(0), Values::SameText("")]
    });
    vec![
        Fill { table: 3, columns: vec!["bid", "bbalance"], batches: branches },
        Fill { table: 1, columns: vec!["tid", "bid", "tbalance"], batches: tellers },
        Fill { table: 2, columns: vec!["aid", "bid", "abalance", "filler"], batches: accounts },
    ]
}

/// Rows of a batch: enough for the batch to cost nothing beside them.
const BATCH_ROWS: usize = 4096;

/// Rows with keys from 1; `columns` makes the columns of some of them.
fn numbered(
    last: i64,
    columns: impl Fn(Vec<i64>) -> Vec<Values> + Send + 'static,
) -> Box<dyn Iterator<Item = Rows> + Send> {
    Box::new((1..=last).step_by(BATCH_ROWS).map(move |first| {
        let keys: Vec<i64> = (first..=last).take(BATCH_ROWS).collect();
        Rows { count: keys.len(), columns: columns(keys) }
    }))
}
