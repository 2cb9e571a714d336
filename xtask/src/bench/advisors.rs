//! Output of `queries` and of other advisors for one server with planted faults: printed for a
//! person to judge.

use super::peer_server::PeerServer;
use super::run::Bench;
use crate::process::output;
use std::process::Command;
use testing::faults;

/// Advice of other tools, called as their documentation says: a name, and SQL.
const BY_SQL: [(&str, &str); 6] = [
    (
        "pg_qualstats: index advisor",
        "SELECT v FROM json_array_elements(pg_qualstats_index_advisor(min_filter => 1000, \
         min_selectivity => 30)->'indexes') v",
    ),
    (
        "pg_qualstats: conditions with the largest errors of estimates",
        "SELECT lrelid::regclass, lattnum, round(max(mean_err_estimate_ratio)::numeric, 1) FROM \
         pg_qualstats JOIN pg_database d ON d.oid = dbid AND datname = current_database() WHERE \
         lrelid IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5",
    ),
    (
        "hypopg: the cost with an index proposed by hand",
        "SELECT indexname FROM hypopg_create_index('CREATE INDEX ON orders (customer_id)'); \
         EXPLAIN SELECT * FROM orders WHERE customer_id = 1",
    ),
    (
        "SQL: indexes with idx_scan = 0 that are not unique",
        "SELECT indexrelid::regclass FROM pg_stat_user_indexes JOIN pg_index USING (indexrelid) \
         WHERE idx_scan = 0 AND NOT indisunique",
    ),
    (
        "SQL: indexes whose columns begin another",
        "SELECT a.indexrelid::regclass, b.indexrelid::regclass FROM pg_index a JOIN pg_index b ON \
         a.indrelid = b.indrelid AND a.indexrelid <> b.indexrelid AND (b.indkey::text || ' ') \
         LIKE (a.indkey::text || ' %') WHERE a.indrelid IN ('orders'::regclass, \
         'customers'::regclass) AND NOT a.indisunique",
    ),
    (
        "SQL: tables that were read whole most often, statements with temporary files, and with \
         most calls",
        "SELECT relname, seq_scan FROM pg_stat_user_tables ORDER BY seq_scan DESC; SELECT \
         left(query, 60), temp_blks_written FROM pg_stat_statements WHERE temp_blks_written > 0; \
         SELECT left(query, 60), calls FROM pg_stat_statements ORDER BY calls DESC LIMIT 3",
    ),
];

/// Extensions of other tools. The server has to load the first one when it starts.
const EXTENSIONS: [&str; 2] = ["pg_qualstats", "hypopg"];

/// Plants the faults on a server, then runs each installed tool on it.
pub fn compare(bench: &Bench) -> Result<(), String> {
    let available = PeerServer::start()?.sql("SELECT name FROM pg_available_extensions")?;
    let is_there = |name: &str| available.lines().any(|line| line == name);
    let qualstats =
        if is_there(EXTENSIONS[0]) { ",pg_qualstats -c pg_qualstats.sample_rate=1" } else { "" };
    let server = PeerServer::start_with(&format!(
        "-c shared_preload_libraries=pg_stat_statements{qualstats} -c autovacuum=off -c \
         log_min_duration_statement=0 -c log_temp_files=0 -c log_line_prefix=%m\\ [%p]\\ "
    ))?;
    server.sql("CREATE EXTENSION pg_stat_statements")?;
    server.sql(faults::TABLES)?;
    for name in EXTENSIONS.into_iter().filter(|name| is_there(name)) {
        server.sql(&format!("CREATE EXTENSION {name}"))?;
    }
    server.sql("VACUUM ANALYZE")?;
    server.sql("SELECT pg_stat_statements_reset()")?;
    let file = server.file("load.sql");
    std::fs::write(&file, faults::load())
        .map_err(|error| format!("{}: {error}", file.display()))?;
    server.peer("psql", &["-qAtX", "-o", "/dev/null", "-f", &file.to_string_lossy()])?;

    println!("-- ours: queries");
    println!("{}", output(&mut bench.command(&["queries", &server.url()]))?);
    for (name, sql) in BY_SQL {
        match EXTENSIONS
            .into_iter()
            .find(|extension| name.starts_with(extension) && !is_there(extension))
        {
            Some(extension) => println!("-- {name}\nSKIPPED: {extension} is not installed"),
            None => println!("-- {name}\n{}", server.sql(sql)?),
        }
    }
    let log = server.file("log").to_string_lossy().into_owned();
    let report = bench.folder.join("pgbadger.txt").to_string_lossy().into_owned();
    let output = output(
        Command::new("pgbadger")
            .args(["-q", "-f", "stderr", "-p", "%m [%p] ", "-o", &report, &log]),
    );
    let text = output.and_then(|_| {
        std::fs::read_to_string(&report).map_err(|error| format!("{report}: {error}"))
    });
    println!(
        "-- pgbadger on the log of all statements\n{}",
        text.unwrap_or_else(|error| format!("SKIPPED: {error}"))
    );
    Ok(())
}
