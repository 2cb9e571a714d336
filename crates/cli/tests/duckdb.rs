//! DuckDB end to end: inserts, and pgbench's scripts on its tables.

use crate::common::{Lab, skipped};

/// Runs an experiment on each libduckdb that is there.
fn with_each_library(file: &str, check: impl Fn(&Lab)) {
    let listed = std::env::var("STEELBENCH_TEST_DUCKDB_LIBS").unwrap_or_default();
    let libraries: Vec<&str> = listed.split(':').filter(|path| !path.is_empty()).collect();
    if libraries.is_empty() {
        return skipped("STEELBENCH_TEST_DUCKDB_LIBS names no libduckdb");
    }
    for library in libraries {
        let lab = Lab::with(&file.replace(
            "[target]",
            &format!("[target]\nengine = \"duckdb\"\nlibrary = \"{library}\""),
        ));
        lab.write("check.sql", CHECK);
        lab.run(0);
        check(&lab);
    }
}

/// A transaction that fails unless all accounts have what the history says.
const CHECK: &str = "SELECT CAST((SELECT coalesce(sum(delta), 0) FROM pgbench_history) = (SELECT \
                     sum(abalance) FROM pgbench_accounts) AS INTEGER) AS same, (SELECT count(*) \
                     FROM pgbench_accounts) AS accounts \\gset\n\\if :same != 1 or :accounts != \
                     100000\nSELECT error('the balances are ' || :same || ' for ' || :accounts || \
                     ' accounts');\n\\endif\n";

#[test]
fn built_in_scripts_keep_the_balances() {
    let file = "[experiment]\nname = \"t\"\n[target]\n[workload]\nprobe = \"script\"\nbuiltin = \
                [\"tpcb-like@4\", \"simple-update@3\", \"select-only@3\"]\nscript = \
                \"check.sql@2\"\nscale = 1\nconnections = 2\ntransactions = 300\nmax_tries = \
                1000\n[repeats]\nblocks = 1\n";
    with_each_library(file, |lab| {
        assert_eq!(lab.rows("t", "SELECT transactions, errors FROM trials"), ["300|0"]);
        let ran = lab.rows(
            "t",
            "SELECT script, sum(count) > 0 FROM statements GROUP BY script ORDER BY script",
        );
        assert_eq!(ran.len(), 4, "{ran:?}");
        assert!(ran.iter().all(|script| script.ends_with("|1")), "{ran:?}");
    });
}

#[test]
fn rows_are_inserted_by_statement_and_by_the_appender() {
    let file = "[experiment]\nname = \"t\"\n[target]\n[workload]\nprobe = \"insert\"\nconnections \
                = 2\nrows = 4000\nrows_per_transaction = 500\n[factors]\n\"workload.method\" = \
                [\"statements\", \"copy\"]\n\"workload.key\" = [\"random\", \
                \"sequential\"]\n[repeats]\nblocks = 1\n";
    with_each_library(file, |lab| {
        let done = lab.rows("t", "SELECT DISTINCT work_amount, transactions, errors FROM trials");
        assert_eq!(done, ["4000|8|0"]);
        assert_eq!(lab.trials("t"), 4);
    });
}
