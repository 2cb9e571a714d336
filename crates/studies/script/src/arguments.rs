//! The arguments of `steelbench pg`: pgbench's options, and those of an experiment.

use crate::probe::{MAX_TRIES, PROTOCOL, RAND_TYPE, SCALE, TABLE_SIZE, TABLES, TRANSACTIONS};
use crate::sql::Protocol;
use clap::{ArgAction, Args, Parser};
use command_line::arguments::{Psql, Quick, ServerNameError, pair, positive, setting};
use datasets::sysbench::Distribution;
use probe::load::{CONNECTIONS, DURATION, RATE, THREADS, WARMUP};

/// Run pgbench's load or your own scripts
///
/// Takes pgbench's options.
#[derive(Debug, Parser)]
#[command(name = "pg", disable_help_flag = true)]
pub(crate) struct Pg {
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
    /// Setting to vary, with its levels, such as `connections=1,4,16` or
    /// `shared_buffers=128MB,1GB`: connections, scale, protocol, threads, rate, any other setting
    /// by its path or the last part of it, otherwise a server setting; repeatable
    #[arg(long, value_name = "SETTING=LEVELS", value_parser = variation)]
    pub vary: Vec<Variation>,
    /// The engine that runs the scripts
    #[arg(long, value_name = "NAME", default_value = "postgres")]
    pub engine: String,
    #[command(flatten)]
    pub scripts: Scripts,
    #[command(flatten)]
    pub load: PgLoad,
    /// Database, URL or connection string
    #[arg(value_name = "DATABASE")]
    pub database: Option<String>,
    /// Start a private server and ignore the PG* variables; this is the default if neither they nor
    /// options name a server
    #[arg(long, conflicts_with_all = ["host", "port", "username", "dbname", "database"])]
    pub private: bool,
    #[command(flatten)]
    pub server: Psql,
    #[command(flatten)]
    pub quick: Quick,
}

/// Scripts and tables of the transactions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scripts (as in pgbench)")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Scripts {
    /// Built-in script: tpcb-like, simple-update, select-only, or sysbench's `oltp_point_select`,
    /// `oltp_read_only`, `oltp_write_only`, `oltp_read_write`; repeatable [default: tpcb-like]
    #[arg(short, long, value_name = "NAME[@WEIGHT]")]
    pub builtin: Vec<String>,
    /// A script of your own; repeatable
    #[arg(short, long, value_name = "FILE[@WEIGHT]")]
    pub file: Vec<String>,
    /// Same as -b select-only
    #[arg(short = 'S', long)]
    pub select_only: bool,
    /// Same as -b simple-update
    #[arg(short = 'N', long)]
    pub skip_some_updates: bool,
    /// A variable for scripts
    #[arg(short = 'D', long, value_name = "NAME=VALUE", value_parser = pair)]
    pub define: Vec<(String, String)>,
    /// Size of pgbench's tables, in 100,000 accounts
    #[arg(short, long, value_name = "N", value_parser = setting(SCALE))]
    pub scale: Option<u32>,
    /// Create and fill pgbench's tables before each trial. This is the default for built-in
    /// scripts, and for scripts that use these tables unless a server is given
    #[arg(short, long, conflicts_with = "existing_tables")]
    pub initialize: bool,
    /// Use the existing pgbench tables of the database instead of creating them in a separate
    /// schema
    #[arg(long)]
    pub existing_tables: bool,
    /// Number of sysbench's tables [default: 1]
    #[arg(long, value_name = "N", value_parser = setting(TABLES))]
    pub tables: Option<u64>,
    /// Rows of each of sysbench's tables [default: 10000]
    #[arg(long, value_name = "N", value_parser = setting(TABLE_SIZE))]
    pub table_size: Option<u64>,
    /// How sysbench's scripts choose rows: special, uniform, pareto [default: special]
    #[arg(long, value_name = "NAME", value_parser = setting(RAND_TYPE))]
    pub rand_type: Option<Distribution>,
    /// Accepted for compatibility with pgbench: no vacuum runs before a load
    #[arg(short, long)]
    pub no_vacuum: bool,
    /// Accepted for compatibility with pgbench: statement latencies are always recorded
    #[arg(short, long, alias = "report-latencies")]
    pub report_per_command: bool,
}

/// How the load is made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load (as in pgbench)")]
pub(crate) struct PgLoad {
    /// Number of connections [default: 1]
    #[arg(short, long, value_name = "N", value_parser = setting(CONNECTIONS))]
    pub client: Option<u32>,
    /// Threads that drive the connections to a server [default: 1]
    #[arg(short, long, value_name = "N", value_parser = setting(THREADS))]
    pub jobs: Option<u32>,
    /// Transactions of each connection
    #[arg(
        short, long, value_name = "N", value_parser = setting(TRANSACTIONS),
        conflicts_with = "time",
    )]
    pub transactions: Option<u64>,
    /// Length of the measurement of each trial, in seconds [default: 10, unless --transactions is
    /// given]
    #[arg(short = 'T', long, value_name = "SECONDS", value_parser = setting(DURATION))]
    pub time: Option<f64>,
    /// How statements are sent: simple, prepared [default: simple]
    #[arg(short = 'M', long, value_name = "NAME", value_parser = setting(PROTOCOL))]
    pub protocol: Option<Protocol>,
    /// Transactions per second of all connections (open loop)
    #[arg(short = 'R', long, value_name = "N", value_parser = setting(RATE))]
    pub rate: Option<f64>,
    /// Count transactions above this latency; with --rate, skip transactions that start later than
    /// this
    #[arg(short = 'L', long, value_name = "MILLISECONDS", value_parser = positive::<86_400_000>)]
    pub latency_limit: Option<f64>,
    /// Maximum number of tries of a transaction after deadlocks or serialization failures [default:
    /// 1]
    #[arg(long, value_name = "N", value_parser = setting(MAX_TRIES))]
    pub max_tries: Option<u64>,
    /// Length of the intervals of the series; progress is always shown
    #[arg(short = 'P', long, value_name = "SECONDS", value_parser = positive::<86_400>)]
    pub progress: Option<f64>,
    /// The load runs for this long before the measurement [default: 0]
    #[arg(long, value_name = "TIME", value_parser = setting(WARMUP))]
    pub warmup: Option<f64>,
}

impl Pg {
    /// The connection string of the server that is named; `variables` is whether the PG* variables
    /// name one.
    ///
    /// # Errors
    /// When parts of it are given twice.
    pub fn url(&self, variables: bool) -> Result<Option<String>, ServerNameError> {
        let named =
            !self.server.is_empty() || self.database.is_some() || (variables && !self.private);
        let url = self.server.url(self.database.as_deref())?;
        Ok(named.then_some(url))
    }
}

/// A setting and its levels.
#[derive(Debug, Clone)]
pub struct Variation {
    pub setting: String,
    pub levels: Vec<String>,
}

/// A variation that cannot be read.
#[derive(Debug, thiserror::Error)]
enum VariationError {
    #[error("expected SETTING=LEVEL,LEVEL")]
    NoLevels,
    #[error("empty name or level")]
    Empty,
}

fn variation(text: &str) -> Result<Variation, VariationError> {
    let (setting, levels) = text.split_once('=').ok_or(VariationError::NoLevels)?;
    let levels: Vec<String> = levels.split(',').map(|level| level.trim().to_owned()).collect();
    let empty = setting.trim().is_empty() || levels.iter().any(String::is_empty);
    if empty {
        Err(VariationError::Empty)
    } else {
        Ok(Variation { setting: setting.trim().to_owned(), levels })
    }
}
