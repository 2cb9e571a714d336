//! `steelbench data`, and runs of the probes that work on data sets.

use crate::common;
use testing::installed;

use crate::common::{Lab, skipped};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use std::os::unix::fs::PermissionsExt;

/// The sum of `l_quantity` at scale factor 0.01, in hundredths, as DuckDB's dbgen has it.
fn quantity() -> i64 {
    let reference = include_str!("../../core/datasets/tests/dbgen_reference.tsv");
    let line = reference.lines().find(|line| line.starts_with("lineitem\tl_quantity\t")).unwrap();
    line.split('\t').nth(3).unwrap().parse().unwrap()
}

#[test]
fn a_table_is_written_as_csv_and_as_parquet_with_the_same_values() {
    let lab = Lab::new();
    let output =
        lab.steelbench(&["data", "lineitem", "--scale", "0.01", "--output", "d"]).expect(0);
    output.shows("d/lineitem.csv: 60,175 rows");
    let csv = lab.read("d/lineitem.csv");
    let quantities =
        csv.lines().skip(1).map(|line| line.split(',').nth(4).unwrap().replace('.', ""));
    assert_eq!(
        quantities.map(|quantity| quantity.parse::<i64>().unwrap()).sum::<i64>(),
        quantity()
    );
    lab.steelbench(&[
        "data", "lineitem", "--scale", "0.01", "--format", "parquet", "--output", "d",
    ])
    .expect(0);
    let reader = SerializedFileReader::try_from(lab.path("d/lineitem.parquet").as_path()).unwrap();
    let decimal = |bytes: &[u8]| i64::from_be_bytes(bytes.try_into().unwrap());
    let (mut rows, mut sum) = (0, 0);
    for row in reader.get_row_iter(None).unwrap() {
        sum += decimal(row.unwrap().get_decimal(4).unwrap().data());
        rows += 1;
    }
    assert_eq!((rows, sum), (60_175, quantity()));
    // What is there is not written over, and nothing unfinished remains.
    lab.steelbench(&["data", "lineitem", "--scale", "0.01", "--output", "d"])
        .expect(2)
        .says("already exists");
    assert_eq!(std::fs::read_dir(lab.path("d")).unwrap().count(), 2);
    assert_eq!(lab.read("d/lineitem.csv"), csv);
}

#[test]
fn one_table_goes_to_standard_output_and_a_set_to_a_file_each() {
    let lab = Lab::new();
    let text = lab.command(&["data", "nation", "--output", "-"]).output().unwrap().stdout;
    assert_eq!(String::from_utf8(text).unwrap().lines().count(), 26);
    lab.steelbench(&["data", "tpch", "--output", "-"]).expect(2).says("only one table");
    lab.steelbench(&["data", "pgbench", "--scale", "0.01", "--output", "p"]).expect(0);
    let lines = |name: &str| lab.read(name).lines().count();
    assert_eq!(lines("p/pgbench_accounts.csv"), 1001);
    assert_eq!((lines("p/pgbench_tellers.csv"), lines("p/pgbench_branches.csv")), (11, 2));
    lab.steelbench(&["data", "lineitems"]).expect(2).says("lineitem");
    lab.steelbench(&["data", "lineitem", "--scale", "0"]).expect(2).says("0.001");
}

/// Each ready experiment on a data set, as small as it can be: it is valid, runs, and records what
/// cost models need.
#[test]
#[ignore = "lane all: runs four ready experiments on all engines"]
fn ready_experiments_on_data_sets_run() {
    for name in ["scan-cost", "lineitem-scan", "lookup-update", "scan-parallel"] {
        let mut engine: Vec<&str> = targets().into_iter().map(|(engine, _)| engine).collect();
        engine.retain(|engine| name != "scan-parallel" || *engine != "sqlite");
        engine.sort_unstable();
        if engine.is_empty() {
            continue;
        }
        let text = testing::ready::text(name);
        let small = [
            ("scale = 0.05", "scale = 0.002"),
            ("scale = 0.1", "scale = 0.002"),
            ("[\"50k\", \"500k\"]", "[\"1k\", \"2k\"]"),
            ("\"workload.rows\" = \"500k\"", "\"workload.rows\" = \"2k\""),
            ("duration = \"300 ms\"", "duration = \"20 ms\""),
            ("duration = \"500 ms\"", "duration = \"20 ms\""),
            ("duration = \"1 s\"", "duration = \"50 ms\""),
            ("warmup = \"300 ms\"", "warmup = \"5 ms\""),
            ("warmup = \"100 ms\"", "warmup = \"5 ms\""),
            ("blocks = 3", "blocks = 1"),
            ("blocks = 2", "blocks = 1"),
        ];
        let small = small.iter().fold(text, |text, (from, to)| text.replace(from, to));
        let lab = Lab::with(&small);
        std::fs::set_permissions(lab.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        let mut run = lab.command(&["run", "e.toml"]);
        if let Some(library) = duckdb_library() {
            run.env("STEELBENCH_DUCKDB_LIB", library);
        }
        common::Exit::from(run.output().unwrap()).expect(0);
        let engines = "SELECT DISTINCT level FROM configuration_levels WHERE factor = 'engine' \
                       ORDER BY level";
        assert_eq!(lab.rows(name, engines), engine, "{name}");
        let facts = "SELECT DISTINCT name FROM facts ORDER BY name";
        let facts = lab.rows(name, facts);
        let pages: &[&str] = if engine == ["duckdb"] { &[] } else { &["pages_hit", "pages_read"] };
        for text in ["cpu_s", "page_bytes", "table_pages", "table_rows"].iter().chain(pages) {
            assert!(facts.iter().any(|fact| fact == text), "{name}: {facts:?}");
        }
        let plans = lab
            .rows(name, "SELECT count(DISTINCT trial) = (SELECT count(*) FROM trials) FROM plans");
        assert_eq!(plans, ["1"], "{name}");
        let warned = lab.rows(name, "SELECT count(*) FROM warnings WHERE kind = 'other_plan'");
        assert_eq!(warned, ["0"], "{name}");
        let shown = lab.steelbench(&["show", name, "--full"]).expect(0).stdout;
        assert_eq!(
            shown.contains("Speed-up of a scan"),
            name == "scan-parallel",
            "{name}: {shown}"
        );
    }
}

/// The engines that are there, each with what its `[target]` says.
fn targets() -> Vec<(&'static str, String)> {
    let mut targets = vec![("sqlite", String::new())];
    if let Some(library) = duckdb_library() {
        targets.push(("duckdb", format!("library = \"{library}\"\n")));
    }
    if std::env::var("STEELBENCH_PG_BINDIRS").is_ok_and(|folders| !folders.is_empty()) {
        targets.push(("postgres", "settings = { fsync = false }\n".into()));
    } else {
        skipped("STEELBENCH_PG_BINDIRS names no PostgreSQL");
    }
    targets
}

/// The JSON that a command prints.
fn parsed(lab: &Lab, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&lab.steelbench(arguments).expect(0).stdout).unwrap()
}

fn duckdb_library() -> Option<String> {
    let listed = std::env::var("STEELBENCH_TEST_DUCKDB_LIBS").unwrap_or_default();
    let first = listed.split(':').find(|path| !path.is_empty()).map(str::to_owned);
    first.or_else(|| {
        skipped("STEELBENCH_TEST_DUCKDB_LIBS names no libduckdb");
        None
    })
}

/// A study loads a data set once, the next run of it not at all, and another seed is another data
/// set.
#[test]
fn a_second_run_loads_nothing_and_another_seed_does() {
    for (engine, target) in targets_and_mariadb() {
        let seed = u64::from(std::process::id());
        let file = |seed: u64| {
            format!(
                "[experiment]\nname = \"t\"\n[target]\nengine = \
                 \"{engine}\"\n{target}[workload]\nprobe = \"scan\"\nrows = 2000\nscans = \
                 2\ndegree = 1\ndata_seed = {seed}\n[repeats]\nblocks = 3\n"
            )
        };
        let lab = Lab::with(&file(seed));
        std::fs::set_permissions(lab.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        lab.run(0);
        assert_eq!(loaded(&lab), ["2000", "0", "0"], "{engine}");
        lab.run_with(&["--fresh"], 0);
        assert_eq!(loaded(&lab), ["0", "0", "0"], "{engine}");
        lab.write("e.toml", &file(seed + (1 << 32)));
        lab.run_with(&["--fresh"], 0);
        assert_eq!(loaded(&lab), ["2000", "0", "0"], "{engine}");
    }
}

/// Rows that were loaded in each trial of the last run.
fn loaded(lab: &Lab) -> Vec<String> {
    let sql = "SELECT value FROM facts JOIN trials ON trials.id = trial WHERE name = \
               'rows_loaded' AND run = (SELECT max(id) FROM runs) ORDER BY trials.id";
    lab.rows("t", sql)
}

fn targets_and_mariadb() -> Vec<(&'static str, String)> {
    let is_there = !installed::mariadb_installations().is_empty();
    let mariadb =
        is_there.then(|| ("mariadb", "settings = { innodb_flush_log_at_trx_commit = 0 }\n".into()));
    targets().into_iter().chain(mariadb).collect()
}

/// Compressed rows are another data set than the same rows as they are; a trial that changes rows
/// leaves what was kept as it is.
#[test]
fn mariadb_keeps_a_data_set_for_each_compression_and_works_on_copies_where_it_is_changed() {
    let Some((engine, target)) =
        targets_and_mariadb().pop().filter(|(engine, _)| *engine == "mariadb")
    else {
        return;
    };
    let seed = (1 << 33) + u64::from(std::process::id());
    let file = |probe: &str, more: &str| {
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \
             \"{engine}\"\n{target}[workload]\n{probe}\nrows = 2000\ndata_seed = \
             {seed}\n[repeats]\nblocks = 2\n{more}"
        )
    };
    let scans = |levels: &str| {
        let factor = format!("[factors]\n\"target.compression\" = {levels}\n");
        file("probe = \"scan\"\nscans = 2\naggregates = \"sum\"", &factor)
    };
    let lab = Lab::with(&scans("[\"none\", \"compressed-8k\"]"));
    std::fs::set_permissions(lab.path(""), PermissionsExt::from_mode(0o755)).unwrap();
    let loads = |lab: &Lab| loaded(lab).iter().filter(|rows| *rows == "2000").count();
    lab.run(0);
    assert_eq!((loaded(&lab).len(), loads(&lab)), (4, 2));
    lab.write("e.toml", &file("probe = \"update\"\nupdates = 200", ""));
    lab.run_with(&["--fresh"], 0);
    assert_eq!((loaded(&lab).len(), loads(&lab)), (2, 0));
    // Pages with holes are loaded for each trial: a copy would fill the holes.
    lab.write("e.toml", &scans("[\"none\", \"compressed-8k\", \"page-zlib\"]"));
    lab.run_with(&["--fresh"], 0);
    assert_eq!((loaded(&lab).len(), loads(&lab)), (6, 2));
}

/// With `if_installed`, levels whose engine is not installed are skipped, and each report of the
/// run says so.
#[test]
fn levels_of_engines_that_are_not_installed_are_left_out_and_said() {
    let file = |condition: &str, library: &str| {
        format!(
            "[experiment]\nname = \"t\"\n[workload]\nprobe = \"scan\"\nrows = 500\nscans = \
             1\n[repeats]\nblocks = 1\n[[level]]\nfactor = \"engine\"\nname = \"row\"\nset = {{ \
             \"target.engine\" = \"sqlite\" }}\n[[level]]\nfactor = \"engine\"\nname = \
             \"column\"\n{condition}\nset = {{ \"target.engine\" = \"duckdb\", \"target.library\" \
             = \"{library}\" }}\n"
        )
    };
    let lab = Lab::with(&file("", "./gone.so"));
    lab.steelbench(&["check", "e.toml"]).expect(2).says("gone.so");
    lab.write("e.toml", &file("if_installed = true", "./gone.so"));
    let left_out = "level column of engine omitted: duckdb is not installed: ";
    lab.steelbench(&["check", "e.toml"]).expect(0).shows(left_out);
    let checked = parsed(&lab, &["check", "e.toml", "--json"]);
    assert!(checked["left_out"][0].as_str().unwrap().starts_with(left_out));
    assert_eq!(checked["configurations"].as_array().unwrap().len(), 1);
    let message = lab.run(0).says(left_out);
    assert!(message.stdout.replace('\n', " ").contains("duckdb not installed"), "{message:?}");
    assert_eq!(lab.rows("t", "SELECT label FROM configurations"), ["engine=row"]);
    // What is not installed is not run, and the other way round is another experiment.
    if let Some(library) = duckdb_library() {
        std::os::unix::fs::symlink(library, lab.path("gone.so")).unwrap();
        lab.run(2).says("the installed engines differ from those at the start of this run");
        lab.run_with(&["--fresh"], 0);
        let labels =
            "SELECT label FROM configurations WHERE run = (SELECT max(id) FROM runs) ORDER BY id";
        assert_eq!(lab.rows("t", labels), ["engine=row", "engine=column"]);
    }
    let none = file("if_installed = true", "./never.so")
        .replace("\"sqlite\"", "\"duckdb\", \"target.library\" = \"./no.so\"");
    lab.write("e.toml", &none.replacen("name = \"row\"", "name = \"row\"\nif_installed = true", 1));
    lab.steelbench(&["check", "e.toml"]).expect(2).says("omitted: ");
}

/// The predicted cost of an unmeasured table is printed after a run and by `show`.
#[test]
fn a_scan_study_predicts_a_table_of_ones_own() {
    let file = "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe = \
                \"scan\"\nrows = 3000\nscans = 5\n[factors]\n\"workload.rows_per_page\" = [1, 5, \
                20]\n\"workload.aggregates\" = [\"count\", \
                \"sum\"]\n\"workload.aggregated_columns\" = [1, 3]\n[repeats]\nblocks = 2\n";
    let table = "[[predict]]\nname = \"orders\"\nrows = \"2M\"\nrows_per_page = 10\naggregate = \
                 \"sum\"\ncolumns = 3\n";
    let lab = Lab::with(&format!("{file}{table}"));
    let output = lab.run(0);
    output.shows("Estimates of the model for unmeasured tables").shows("orders");
    let shown = parsed(&lab, &["show", "t", "--json"]);
    let prediction = &shown["costs"][0]["predictions"][0];
    assert_eq!(
        (prediction["table"]["rows"].as_u64(), prediction["table"]["columns"].as_u64()),
        (Some(2_000_000), Some(3))
    );
    assert!(prediction["ms"].as_f64().unwrap() > 0.0, "{prediction}");
    // Another table is asked for afterwards, of the same trials.
    lab.write(
        "e.toml",
        &format!("{file}{}", table.replace("2M", "4M").replace("\"sum\"", "\"max\"")),
    );
    lab.run(0).shows("cannot be estimated: the model lacks the cost of: row, with any MIN or MAX");
    assert_eq!(lab.trials("t"), 24);
    lab.write("e.toml", &format!("{file}{}", table.replace("= 10", "= 0")));
    lab.steelbench(&["check", "e.toml"]).expect(2).says("predict.rows_per_page");
}
