//! What `queries` and others say of one server with planted faults: printed for a person to judge.

use super::peer_server::PeerServer;
use super::run::Bench;
use crate::process::output;
use std::fmt::Write;
use std::process::Command;

/// A redundant index (city), an unused one (note), and zip codes that follow from cities.
const TABLES: &str = "
    CREATE EXTENSION pg_stat_statements;
    CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, city int NOT NULL, zip int NOT NULL);
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL, amount int NOT NULL, note text NOT NULL);
    CREATE INDEX customers_city_idx ON customers (city);
    CREATE INDEX customers_city_name_idx ON customers (city, name);
    CREATE INDEX orders_note_idx ON orders (note);
    INSERT INTO customers SELECT g, 'name ' || g, g % 50, (g % 50) * 100 + 7 FROM generate_series(1, 50000) g;
    INSERT INTO orders SELECT g, g % 10000, g % 977, 'note of order number ' || g FROM generate_series(1, 60000) g";

/// What others say, as their documentation has it: a name, and SQL.
const BY_SQL: [(&str, &str); 6] = [
    (
        "pg_qualstats: index advisor",
        "SELECT v FROM json_array_elements(pg_qualstats_index_advisor(min_filter => 1000, min_selectivity => 30)->'indexes') v",
    ),
    (
        "pg_qualstats: conditions with the largest errors of estimates",
        "SELECT lrelid::regclass, lattnum, round(max(mean_err_estimate_ratio)::numeric, 1) FROM pg_qualstats \
         JOIN pg_database d ON d.oid = dbid AND datname = current_database() \
         WHERE lrelid IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5",
    ),
    (
        "hypopg: the cost with an index that somebody has thought of",
        "SELECT indexname FROM hypopg_create_index('CREATE INDEX ON orders (customer_id)'); \
         EXPLAIN SELECT * FROM orders WHERE customer_id = 1",
    ),
    (
        "SQL: indexes with idx_scan = 0 that are not unique",
        "SELECT indexrelid::regclass FROM pg_stat_user_indexes JOIN pg_index USING (indexrelid) WHERE idx_scan = 0 AND NOT indisunique",
    ),
    (
        "SQL: indexes whose columns begin another",
        "SELECT a.indexrelid::regclass, b.indexrelid::regclass FROM pg_index a JOIN pg_index b ON a.indrelid = b.indrelid \
         AND a.indexrelid <> b.indexrelid AND (b.indkey::text || ' ') LIKE (a.indkey::text || ' %') \
         WHERE a.indrelid IN ('orders'::regclass, 'customers'::regclass) AND NOT a.indisunique",
    ),
    (
        "SQL: tables that were read whole most often, statements with temporary files, and with most calls",
        "SELECT relname, seq_scan FROM pg_stat_user_tables ORDER BY seq_scan DESC; \
         SELECT left(query, 60), temp_blks_written FROM pg_stat_statements WHERE temp_blks_written > 0; \
         SELECT left(query, 60), calls FROM pg_stat_statements ORDER BY calls DESC LIMIT 3",
    ),
];

/// Plants the faults on a server, then has everybody who is installed look at it.
pub fn compare(bench: &Bench) -> Result<(), String> {
    let server = PeerServer::start_with(
        "-c shared_preload_libraries=pg_stat_statements,pg_qualstats -c pg_qualstats.sample_rate=1 -c autovacuum=off \
         -c log_min_duration_statement=0 -c log_temp_files=0 -c log_line_prefix=%m\\ [%p]\\ ",
    )
    .map_err(|error| format!("{error}\nis there postgresql-15-pg-qualstats?"))?;
    server.sql(TABLES)?;
    server.sql("CREATE EXTENSION pg_qualstats")?;
    server.sql("CREATE EXTENSION hypopg")?;
    server.sql("VACUUM ANALYZE")?;
    server.sql("SELECT pg_stat_statements_reset()")?;
    let file = server.file("load.sql");
    std::fs::write(&file, load()).map_err(|error| format!("{}: {error}", file.display()))?;
    server.peer("psql", &["-qAtX", "-o", "/dev/null", "-f", &file.to_string_lossy()])?;

    println!("-- ours: queries");
    println!("{}", output(&mut bench.command(&["queries", &server.url()]))?);
    for (name, sql) in BY_SQL {
        println!("-- {name}\n{}", server.sql(sql)?);
    }
    let log = server.file("log").to_string_lossy().into_owned();
    let report = bench.folder.join("pgbadger.txt").to_string_lossy().into_owned();
    let said =
        output(Command::new("pgbadger").args(["-q", "-f", "stderr", "-p", "%m [%p] ", "-o", &report, &log]));
    let text =
        said.and_then(|_| std::fs::read_to_string(&report).map_err(|error| format!("{report}: {error}")));
    println!("-- pgbadger on the log of all statements\n{}", text.unwrap_or_else(|error| error));
    Ok(())
}

/// Statements that miss an index, spill, are estimated wrongly, are run for each row of a list; and some that are as they
/// should be.
fn load() -> String {
    let mut sql = String::from("SET work_mem = '64kB';\n");
    for number in 1..=20 {
        let first = number * 100;
        // Writing to a text cannot fail.
        let _ = write!(
            sql,
            "SELECT * FROM orders WHERE customer_id = {number};\n\
             SELECT id FROM customers WHERE city = {number} AND zip = {number}07;\n\
             SELECT name FROM customers WHERE city = {number} ORDER BY name LIMIT 5;\n\
             SELECT count(*) FROM (SELECT * FROM orders ORDER BY amount OFFSET 0) s;\n\
             SELECT id, zip FROM customers WHERE id >= {first} AND id < {};\n",
            first + 100
        );
        for id in first..first + 100 {
            let _ = writeln!(sql, "SELECT name FROM customers WHERE id = {id};");
        }
    }
    sql
}
