//! The tables of pgbench's built-in scripts and their rows, as `pgbench -i -s SCALE` makes them.

use std::io::Write as _;
use std::ops::Range;

const ACCOUNTS_PER_BRANCH: u64 = 100_000;
const TELLERS_PER_BRANCH: u64 = 10;

/// From this scale on accounts are numbered with 64 bits.
const SCALE_OF_BIG_NUMBERS: u32 = 20_000;

/// Where the rows of the accounts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// From us by COPY, as pgbench does it unless told otherwise. The faster way: the server
    /// inserts pages instead of rows, and with FREEZE has nothing to do in the vacuum.
    Copy,
    /// From a query in the server: nothing but statements.
    Server,
}

/// A step of making the tables. All steps go, in order, over one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A statement to run.
    Run(String),
    /// A COPY and the rows to feed it with.
    Copy {
        /// `COPY ... FROM STDIN`.
        statement: &'static str,
        /// The rows.
        rows: AccountRows,
    },
}

/// The steps that make and fill the tables of this scale (100,000 accounts each) in the first
/// schema of the search path.
pub fn steps(scale: u32, generation: Generation) -> Vec<Step> {
    let run = |statement: &str| Step::Run(statement.to_owned());
    let mut steps: Vec<Step> = tables(scale).into_iter().map(Step::Run).collect();
    let (branches, tellers) = (u64::from(scale), u64::from(scale) * TELLERS_PER_BRANCH);
    steps.push(Step::Run(format!(
        "INSERT INTO pgbench_branches (bid, bbalance) SELECT bid, 0 FROM generate_series(1, {branches}) AS bid"
    )));
    steps.push(Step::Run(format!(
        "INSERT INTO pgbench_tellers (tid, bid, tbalance) \
         SELECT tid, (tid - 1) / {TELLERS_PER_BRANCH} + 1, 0 FROM generate_series(1, {tellers}) AS tid"
    )));
    match generation {
        Generation::Copy => steps.extend([
            // FREEZE wants a table that the same transaction has emptied.
            run("BEGIN"),
            run("TRUNCATE pgbench_accounts"),
            Step::Copy {
                statement: "COPY pgbench_accounts FROM STDIN WITH (FREEZE ON)",
                rows: AccountRows::new(scale),
            },
            run("COMMIT"),
        ]),
        Generation::Server => {
            let last = branches * ACCOUNTS_PER_BRANCH;
            steps.push(Step::Run(format!(
                "INSERT INTO pgbench_accounts (aid, bid, abalance, filler) \
                 SELECT aid, (aid - 1) / {ACCOUNTS_PER_BRANCH} + 1, 0, '' FROM generate_series(1, {last}) AS aid"
            )));
        }
    }
    let tables = ["branches", "tellers", "accounts", "history"];
    steps.extend(tables.map(|table| Step::Run(format!("VACUUM ANALYZE pgbench_{table}"))));
    let keys = [("branches", "bid"), ("tellers", "tid"), ("accounts", "aid")];
    steps.extend(
        keys.map(|(table, key)| Step::Run(format!("ALTER TABLE pgbench_{table} ADD PRIMARY KEY ({key})"))),
    );
    steps
}

/// The tables, without their keys: those are cheaper to build when the rows are there.
fn tables(scale: u32) -> [String; 4] {
    let number = if scale >= SCALE_OF_BIG_NUMBERS { "bigint" } else { "int" };
    [
        format!(
            "CREATE TABLE pgbench_history (tid int, bid int, aid {number}, delta int, mtime timestamp, filler char(22))"
        ),
        "CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) \
         WITH (fillfactor = 100)"
            .to_owned(),
        format!(
            "CREATE TABLE pgbench_accounts (aid {number} NOT NULL, bid int, abalance int, filler char(84)) \
             WITH (fillfactor = 100)"
        ),
        "CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) \
         WITH (fillfactor = 100)"
            .to_owned(),
    ]
}

/// The rows of `pgbench_accounts` in COPY's text format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRows {
    left: Range<u64>,
}

impl AccountRows {
    /// All rows of this scale.
    pub fn new(scale: u32) -> Self {
        Self { left: 0..u64::from(scale) * ACCOUNTS_PER_BRANCH }
    }

    /// Rows that have not been made.
    pub fn left(&self) -> u64 {
        self.left.end - self.left.start
    }

    /// Appends rows until the buffer has this many bytes or there are no more; false when it has
    /// added none.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, bytes: usize) -> bool {
        let before = self.left.start;
        while buffer.len() < bytes {
            let Some(row) = self.left.next() else { break };
            // Writing to memory cannot fail. The last column, the filler, is all blanks.
            let _ = writeln!(buffer, "{}\t{}\t0\t", row + 1, row / ACCOUNTS_PER_BRANCH + 1);
        }
        self.left.start > before
    }
}
