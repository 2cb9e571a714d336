//! What can be typed after `steelbench queries try`.

use super::{Quick, setting};
use clap::{ArgGroup, Args};
use script::{CONNECTIONS, DURATION, PROTOCOL, Protocol, WARMUP};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("change").args(["index", "drop", "set"]).multiple(true).required(true)
)]
#[command(
    group = ArgGroup::new("data").args(["source", "dump", "sql"]).multiple(true).required(true)
)]
pub struct Try {
    /// PostgreSQL database to measure on a copy of: `pg_dump` reads it once, and nothing is
    /// changed there. The dump is kept as NAME.dump
    #[arg(value_name = "URL", conflicts_with = "dump")]
    pub source: Option<String>,
    /// Dump to begin with, in place of a URL: of `pg_dump` or mariadb-dump, or a SQLite database
    #[arg(long, value_name = "FILE")]
    pub dump: Option<String>,
    /// SQL that runs then in both levels; repeatable
    #[arg(long, value_name = "FILE")]
    pub sql: Vec<String>,
    /// Index to try: "CREATE INDEX ON orders (customer)"; repeatable
    #[arg(long, value_name = "SQL")]
    pub index: Vec<String>,
    /// Index to try without, by its name or a DROP INDEX; for MariaDB "NAME ON TABLE"; repeatable
    #[arg(long, value_name = "NAME")]
    pub drop: Vec<String>,
    /// Setting to try: `enable_seqscan=off`, `work_mem=64MB`; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::pg::pair)]
    pub set: Vec<(String, String)>,
    /// The statements, a script in pgbench's language, writes included; a weight can follow;
    /// repeatable
    #[arg(
        short,
        long,
        visible_alias = "script",
        value_name = "FILE[@WEIGHT]",
        required_unless_present = "auto_explain"
    )]
    pub file: Vec<String>,
    /// Statements that `auto_explain` wrote to this log of PostgreSQL, each once with the values
    /// of its first run: they become a script, NAME.statements.sql, with these constants in
    /// it; repeatable
    #[arg(long, value_name = "FILE")]
    pub auto_explain: Vec<PathBuf>,
    /// Engine [default: postgres, mariadb for mysql:// and mariadb://]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// Test server to work on, in databases of our own that are dropped at the end, in place of a
    /// private server
    #[arg(long, value_name = "URL")]
    pub test_server: Option<String>,
    /// Number of connections [default: 1]
    #[arg(short, long, value_name = "N", value_parser = setting::<u32, _>(CONNECTIONS))]
    pub client: Option<u32>,
    /// Length of the measurement of each trial, in seconds [default: 10]
    #[arg(short = 'T', long, value_name = "SECONDS", value_parser = setting::<f64, _>(DURATION))]
    pub time: Option<f64>,
    /// The load runs for this long before the measurement [default: 1 s]
    #[arg(long, value_name = "TIME", value_parser = setting::<f64, _>(WARMUP))]
    pub warmup: Option<f64>,
    /// How statements are sent: simple, prepared [default: prepared]
    #[arg(short = 'M', long, value_name = "NAME", value_parser = setting::<Protocol, _>(PROTOCOL))]
    pub protocol: Option<Protocol>,
    #[command(flatten)]
    pub quick: Quick,
}

/// Where the experiment is written.
pub struct Written {
    /// The experiment file.
    pub experiment: PathBuf,
    /// The SQL of the change, which the experiment names.
    pub change: String,
    /// The dump of a URL.
    pub dump: String,
    /// Statements of a log.
    pub statements: String,
}

impl Try {
    /// Name of the experiment.
    pub fn name(&self) -> &str {
        self.quick.name.as_deref().unwrap_or("try")
    }

    /// The files that it writes, in the current folder.
    pub fn written(&self) -> Written {
        let name = self.name();
        Written {
            experiment: format!("{name}.toml").into(),
            change: format!("{name}.sql"),
            dump: format!("{name}.dump"),
            statements: format!("{name}.statements.sql"),
        }
    }
}
