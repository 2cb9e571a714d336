//! `steelbench data`, and runs of the probes that work on data sets.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::Lab;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;

/// The sum of `l_quantity` at scale factor 0.01, in hundredths, as DuckDB's dbgen has it.
fn quantity() -> i64 {
    let reference = include_str!("../../datasets/tests/dbgen_reference.tsv");
    let line = reference.lines().find(|line| line.starts_with("lineitem\tl_quantity\t")).unwrap();
    line.split('\t').nth(3).unwrap().parse().unwrap()
}

#[test]
fn a_table_is_written_as_csv_and_as_parquet_with_the_same_values() {
    let lab = Lab::new();
    let said = lab.steelbench(&["data", "lineitem", "--scale", "0.01", "--output", "d"]).expect(0);
    said.shows("d/lineitem.csv: 60,175 rows");
    let csv = lab.read("d/lineitem.csv");
    let quantities = csv.lines().skip(1).map(|line| line.split(',').nth(4).unwrap().replace('.', ""));
    assert_eq!(quantities.map(|quantity| quantity.parse::<i64>().unwrap()).sum::<i64>(), quantity());
    lab.steelbench(&["data", "lineitem", "--scale", "0.01", "--format", "parquet", "--output", "d"])
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
        .says("is there already");
    assert_eq!(std::fs::read_dir(lab.path("d")).unwrap().count(), 2);
    assert_eq!(lab.read("d/lineitem.csv"), csv);
}

#[test]
fn one_table_goes_to_standard_output_and_a_set_to_a_file_each() {
    let lab = Lab::new();
    let text = lab.command(&["data", "nation", "--output", "-"]).output().unwrap().stdout;
    assert_eq!(String::from_utf8(text).unwrap().lines().count(), 26);
    lab.steelbench(&["data", "tpch", "--output", "-"]).expect(2).says("only one table at a time");
    lab.steelbench(&["data", "pgbench", "--scale", "0.01", "--output", "p"]).expect(0);
    let lines = |name: &str| lab.read(name).lines().count();
    assert_eq!(lines("p/pgbench_accounts.csv"), 1001);
    assert_eq!((lines("p/pgbench_tellers.csv"), lines("p/pgbench_branches.csv")), (11, 2));
    lab.steelbench(&["data", "lineitems"]).expect(2).says("lineitem");
    lab.steelbench(&["data", "lineitem", "--scale", "0"]).expect(2).says("0.001");
}

/// Each ready experiment on a data set, as small as it can be: it is valid, runs, and records what cost models need.
#[test]
fn ready_experiments_on_data_sets_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    for name in ["scan-cost", "lineitem-scan", "lookup-update"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let small = [
            ("scale = 0.05", "scale = 0.002"),
            ("rows = \"50k\"", "rows = \"2k\""),
            ("duration = \"500 ms\"", "duration = \"20 ms\""),
            ("warmup = \"200 ms\"", "warmup = \"5 ms\""),
            ("lookups = \"200k\"", "lookups = \"20k\""),
            ("blocks = 3", "blocks = 1"),
        ];
        let small = small.iter().fold(text, |text, (from, to)| text.replace(from, to));
        let lab = Lab::with(&small);
        lab.run(0);
        let facts = "SELECT DISTINCT name FROM facts ORDER BY name";
        let facts = lab.rows(name, facts);
        for wanted in ["cpu_s", "page_bytes", "pages_hit", "pages_read", "table_pages", "table_rows"] {
            assert!(facts.iter().any(|fact| fact == wanted), "{name}: {facts:?}");
        }
        let plans = lab.rows(name, "SELECT count(DISTINCT trial) = (SELECT count(*) FROM trials) FROM plans");
        assert_eq!(plans, ["1"], "{name}");
        let warned = lab.rows(name, "SELECT count(*) FROM warnings WHERE kind = 'other-plan'");
        assert_eq!(warned, ["0"], "{name}");
    }
}
