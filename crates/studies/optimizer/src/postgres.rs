//! PostgreSQL's planner as plain data, and its cost formulas for one table and one predicate
//! (<https://www.postgresql.org/docs/current/runtime-config-query.html>, `costsize.c`,
//! `selfuncs.c`, `pathnode.c`).

use crate::optimizer::{
    Alternative, CostFormulas, Explain, HintSet, LIMIT_OFFSET, Optimizer, Prefix, Statistics,
};
use engine::Results;
use inspection::plans::{Plan, PlanError};
use inspection::postgres::PLANS;

/// The planner.
pub const OPTIMIZER: Optimizer = Optimizer {
    explain: Explain::words("EXPLAIN (FORMAT JSON) "),
    analyze: &[Explain::words("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ")],
    read,
    alternatives: &[
        Alternative::by_session(
            "scan",
            &[
                "SET enable_indexscan = off",
                "SET enable_indexonlyscan = off",
                "SET enable_bitmapscan = off",
            ],
        )
        .scanning(&["Seq Scan"]),
        Alternative::by_session(
            "index",
            &["SET enable_seqscan = off", "SET enable_bitmapscan = off"],
        )
        .reading(&["Index"]),
        Alternative::by_session(
            "bitmap",
            &[
                "SET enable_seqscan = off",
                "SET enable_indexscan = off",
                "SET enable_indexonlyscan = off",
            ],
        )
        .reading(&["Bitmap Heap Scan"]),
        Alternative::by_session("no-nestloop", &["SET enable_nestloop = off"])
            .avoiding(&["Nested Loop"]),
        Alternative::by_session("no-hashjoin", &["SET enable_hashjoin = off"])
            .avoiding(&["Hash Join"]),
        Alternative::by_session("no-mergejoin", &["SET enable_mergejoin = off"])
            .avoiding(&["Merge Join"]),
        Alternative::by_session("serial", &["SET max_parallel_workers_per_gather = 0"])
            .avoiding(&["Gather"]),
        // Parallelism for nothing: the number of workers stays that of the size of the table.
        Alternative::by_session(
            "parallel",
            &[
                "SET parallel_setup_cost = 0",
                "SET parallel_tuple_cost = 0",
                "SET min_parallel_table_scan_size = 0",
                "SET min_parallel_index_scan_size = 0",
            ],
        )
        .needing(&["Gather"]),
    ],
    unforced: &[
        "PostgreSQL's enable_* settings choose a kind of scan, for all tables of a query, not \
         which of several indexes it uses.",
        "It can avoid a kind of join but not choose an order of joins.",
    ],
    read_only: &["SET default_transaction_read_only = on"],
    index: "SELECT quote_ident(i.relname) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid \
            JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0] WHERE \
            x.indrelid = '{table}'::regclass AND a.attname = '{column}' ORDER BY x.indnatts LIMIT \
            1",
    row_at: LIMIT_OFFSET,
    statistics: Statistics {
        gather: &["ANALYZE {table}"],
        sample: &["SET default_statistics_target = {sample}"],
        by_rows: &[],
        extended: &[
            "CREATE STATISTICS steelbench_optimizer (ndistinct, dependencies, mcv) ON {columns} \
             FROM {table}",
        ],
    },
    formulas: Some(&Formulas),
    hints: Some(&HINTS),
    prefix: Some(&PREFIX),
};

/// `pg_hint_plan` (<https://github.com/ossc-db/pg_hint_plan>). Its hints are for one table, and
/// name the index.
static HINTS: HintSet = HintSet {
    name: "pg_hint_plan",
    // A server that has it preloaded knows its settings. Otherwise a superuser can load it.
    enabling: "SELECT CASE WHEN current_setting('pg_hint_plan.enable_hint', true) IS NOT NULL \
               THEN 'SET pg_hint_plan.enable_hint = on' WHEN current_setting('is_superuser') = \
               'on' AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_hint_plan') \
               THEN $$LOAD 'pg_hint_plan'$$ END",
    alternatives: &[
        Alternative::by_begin("scan", "/*+ SeqScan({alias}) */ ").scanning(&["Seq Scan"]),
        // An index scan where no index has all columns.
        Alternative::by_begin("index", "/*+ IndexOnlyScan({alias} {index}) */ ")
            .reading(&["Index"]),
        Alternative::by_begin("bitmap", "/*+ BitmapScan({alias} {index}) */ ")
            .reading(&["Bitmap Heap Scan"]),
    ],
    unforced: &["Hints of pg_hint_plan force how the table of the first varied column is read. \
                 Kinds of joins are avoided by settings of the session, for all joins."],
};

/// A table of the first rows in the place of the whole one, in a transaction that is rolled back.
static PREFIX: Prefix = Prefix {
    begin: &[
        "BEGIN",
        "ALTER TABLE {table} RENAME TO steelbench_whole",
        "CREATE TABLE {table} (LIKE steelbench_whole INCLUDING DEFAULTS INCLUDING STORAGE)",
        "INSERT INTO {table} SELECT * FROM steelbench_whole WHERE {key} <= {rows}",
        "ALTER TABLE {table} ADD PRIMARY KEY ({key})",
        "CREATE INDEX ON {table} ({column})",
        "ANALYZE {table}",
    ],
    end: &["ROLLBACK"],
};

fn read(results: &Results) -> Result<Plan, PlanError> {
    let text = results.last.first().and_then(Option::as_deref).unwrap_or_default();
    PLANS.read_one(text)
}

struct Formulas;

/// Plans whose costs differ by less count as equal, and the one with the lower start-up cost wins
/// (`STD_FUZZ_FACTOR` in pathnode.c).
const FUZZ: f64 = 1.01;

/// Operators for each page that is passed on the way to a leaf (`DEFAULT_PAGE_CPU_MULTIPLIER`).
const OPERATORS_PER_PAGE: f64 = 50.0;

impl CostFormulas for Formulas {
    fn constant(&self) -> &'static str {
        "random_page_cost"
    }

    fn figures(&self) -> &'static str {
        "SELECT t.reltuples, pg_relation_size(t.oid) / b.size, pg_relation_size(i.oid) / b.size, \
         coalesce((SELECT s.correlation FROM pg_stats s WHERE s.schemaname = n.nspname AND \
         s.tablename = t.relname AND s.attname = a.attname), 0), \
         current_setting('random_page_cost'), current_setting('seq_page_cost'), \
         current_setting('cpu_tuple_cost'), current_setting('cpu_index_tuple_cost'), \
         current_setting('cpu_operator_cost'), (SELECT setting FROM pg_settings WHERE name = \
         'effective_cache_size') FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace \
         JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid JOIN \
         pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0], (SELECT \
         current_setting('block_size')::int) AS b (size) WHERE t.oid = '{table}'::regclass AND \
         a.attname = '{column}' ORDER BY x.indnatts LIMIT 1"
    }

    fn value(&self, figures: &[Option<String>]) -> Option<f64> {
        Some(Costs::from_figures(figures)?.random_page)
    }

    /// 1.1 for storage without seeks, or PostgreSQL's default for storage with them.
    fn other_value(&self, value: f64) -> f64 {
        if value > 2.0 { 1.1 } else { 4.0 }
    }

    fn set(&self, value: f64) -> String {
        format!("SET random_page_cost = {value}")
    }

    fn crossover_rows(&self, figures: &[Option<String>], value: f64) -> Option<f64> {
        let costs = Costs { random_page: value, ..Costs::from_figures(figures)? };
        let is_scanned = |rows: f64| {
            let others = costs.bitmap(rows).min(costs.index(rows));
            costs.scan() <= FUZZ * others
        };
        let (mut low, mut high) = (1.0, costs.rows.floor());
        if !is_scanned(high) {
            return None;
        }
        while high - low > 1.0 {
            let middle = f64::midpoint(low, high).floor();
            if middle <= low || middle >= high {
                break;
            }
            if is_scanned(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

/// The figures of the formulas.
#[derive(Debug, Clone, Copy)]
struct Costs {
    rows: f64,
    pages: f64,
    index_pages: f64,
    correlation: f64,
    random_page: f64,
    seq_page: f64,
    tuple: f64,
    index_tuple: f64,
    operator: f64,
    cache_pages: f64,
}

impl Costs {
    fn from_figures(figures: &[Option<String>]) -> Option<Self> {
        let mut figures = figures.iter();
        let mut next = || figures.next()?.as_ref()?.parse::<f64>().ok();
        let costs = Self {
            rows: next()?,
            pages: next()?,
            index_pages: next()?,
            correlation: next()?,
            random_page: next()?,
            seq_page: next()?,
            tuple: next()?,
            index_tuple: next()?,
            operator: next()?,
            cache_pages: next()?,
        };
        let Self { rows, pages, index_pages, .. } = costs;
        (rows >= 1.0 && pages >= 1.0 && index_pages >= 1.0).then_some(costs)
    }

    /// `cost_seqscan`.
    fn scan(&self) -> f64 {
        self.seq_page * self.pages + (self.tuple + self.operator) * self.rows
    }

    /// `genericcostestimate` and `btcostestimate`: the index without the table.
    fn index_alone(&self, rows: f64) -> f64 {
        let pages =
            if self.index_pages > 1.0 { (rows * self.index_pages / self.rows).ceil() } else { 1.0 };
        let descent = self.rows.log2().ceil() + (self.height() + 1.0) * OPERATORS_PER_PAGE;
        pages * self.random_page
            + rows * (self.index_tuple + self.operator)
            + descent * self.operator
    }

    /// Levels above the leaves, if inner pages hold as many entries as leaves do.
    fn height(&self) -> f64 {
        let entries = (self.rows / self.index_pages).max(2.0);
        self.index_pages.log(entries).ceil().max(0.0)
    }

    /// `cost_index`, between rows in the order of the index and rows anywhere.
    fn index(&self, rows: f64) -> f64 {
        let apart = self.pages_fetched(rows) * self.random_page;
        let in_order = (rows / self.rows * self.pages).ceil();
        let together = self.random_page + (in_order - 1.0).max(0.0) * self.seq_page;
        let order = self.correlation * self.correlation;
        self.index_alone(rows) + apart + order * (together - apart) + self.tuple * rows
    }

    /// Pages that rows anywhere are in, when a cache of this size keeps pages
    /// (`index_pages_fetched`, by Mackert and Lohman).
    fn pages_fetched(&self, rows: f64) -> f64 {
        let pages = self.pages;
        let cache = (self.cache_pages * pages / (pages + self.index_pages)).ceil();
        let fetched = |rows: f64| 2.0 * pages * rows / (2.0 * pages + rows);
        if pages <= cache {
            return fetched(rows).min(pages).ceil();
        }
        let filled_by = 2.0 * pages * cache / (2.0 * pages - cache);
        if rows <= filled_by {
            fetched(rows).ceil()
        } else {
            (cache + (rows - filled_by) * (pages - cache) / pages).ceil()
        }
    }

    /// `cost_bitmap_heap_scan`, while the bitmap knows single rows.
    fn bitmap(&self, rows: f64) -> f64 {
        let fetched = 2.0 * self.pages * rows / (2.0 * self.pages + rows);
        let pages = if fetched >= self.pages { self.pages } else { fetched.ceil() };
        let page = if pages >= 2.0 {
            self.random_page - (self.random_page - self.seq_page) * (pages / self.pages).sqrt()
        } else {
            self.random_page
        };
        self.index_alone(rows)
            + 0.1 * self.operator * rows
            + pages * page
            + (self.tuple + self.operator) * rows
    }
}
