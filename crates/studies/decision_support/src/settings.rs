//! The settings of decision support.

use experiment::{Kind, choice, settings};
use probe::data::{ANALYZE, DEGREE};
use probe::load::{QUERY_LIMIT, THREADS, WARMUP};

choice! {
    /// The tables.
    pub enum Data {
        /// Tables of TPC-H, for its 22 queries or yours.
        Tpch = "tpch",
        /// Tables of TPC-DS, for your queries.
        Tpcds = "tpcds",
    }
}

choice! {
    /// Secondary indexes of the tables.
    pub enum Indexes {
        /// Primary keys only.
        None = "none",
        /// Also an index of each table on columns that refer to another table.
        References = "references",
    }
}

choice! {
    /// Where the queries' parameters come from.
    pub enum Parameters {
        /// Values of the specification's validation.
        Validation = "validation",
        /// Drawn for each stream by the rules of the specification.
        Drawn = "drawn",
    }
}

settings! {
    pub const SETTINGS = [DEGREE, ANALYZE, THREADS, WARMUP, QUERY_LIMIT];
    /// Tables: tpch (those of its 22 queries), or tpcds (24 tables, for workload.files).
    pub DATA: Data = "workload.data", Data::KIND, "tpch" => DataIdentity;
    /// Files with your own queries, one SELECT each, or folders of such files (*.sql), in place of
    /// the 22. Relative paths start at the folder of the experiment file.
    pub FILES: Vec<String> = "workload.files", Kind::TextList => Operation @Files;
    /// Scale factor of the tables: 1 is 6 million rows of LINEITEM, or 2.9 million sales in shops;
    /// 0.01 is a hundredth of them.
    pub SCALE: f64 =
        "workload.scale", Kind::Number { min: 0.001, max: 100_000.0 }, "0.01" => DataIdentity;
    /// Queries to run (or one): "Q1" to "Q22". Default: all 22.
    pub NUMBERS: Vec<String> = "workload.queries", Kind::TextList => Operation @Trial;
    /// Parameters of the queries: those of the specification's validation, or drawn for each stream
    /// (drawn). The seed of the block determines them: its configurations have the same ones.
    pub PARAMETERS: Parameters = "workload.parameters", Parameters::KIND, "validation" => Operation;
    /// Run the refresh functions too: RF1 inserts 0.1 % new orders with their lines, RF2 deletes as
    /// many. One stream has RF1 before its queries and RF2 behind them; beside several streams, a
    /// connection of its own runs one pair for each of them.
    pub REFRESH: bool = "workload.refresh", Kind::Bool, "false" => Operation;
    /// Streams that run their queries at the same time, each on its own connection. 1 is the power
    /// test: the queries in the order of the specification. Each further stream has a random order
    /// of its own.
    pub STREAMS: u32 = "workload.streams", Kind::Count { min: 1, max: 4096 }, "1" => Concurrency;
    /// Rounds in the measurement (default 1): in each, every stream runs each of its queries.
    pub ROUNDS: Option<u64> =
        "workload.rounds", Kind::Count { min: 1, max: 1_000_000 } => Measurement;
    /// Secondary indexes: none, or references (one for each table on columns that refer to another
    /// table; of TPC-DS one for each table of sales and returns, on the date).
    pub INDEXES: Indexes = "workload.indexes", Indexes::KIND, "none" => DataIdentity;
    /// Compare the answers of a trial at scale 1 with the published ones, where the parameters are
    /// those of the validation and nothing is refreshed; a difference fails the trial.
    pub VERIFY: bool = "workload.verify", Kind::Bool, "true";
}
