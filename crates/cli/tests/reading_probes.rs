//! The probes scan, lookup and update on real engines: what they report is what is in the tables.

mod stored;

use testing::installed as servers;

use datasets::{DataSet, Size};
use engine::{Answer, Folders, Host, Instance, Permits};
use experiment::{Configuration, Value};
use keys::lookup::Lookup;
use keys::update::Update;
use observations::Observations;
use probe::{Probe, ProbeError, Target, TrialContext};
use scan::Scan;
use tempfile::TempDir;
use work::{Cancel, Operation, Output, Request, SharedTables, Statement, UserStatement, Work};

/// DuckDB's answers; `datasets/tests/dbgen_reference.py` says how they were got.
const REFERENCE: &str = include_str!("../../core/datasets/tests/dbgen_reference.tsv");

type Settings = Vec<(String, Value)>;

/// Returns the targets, including DuckDB, which has no pages of rows.
fn all_targets() -> Vec<(&'static str, Settings)> {
    targets().into_iter().chain(duckdb()).collect()
}

/// DuckDB in each version that is there.
fn duckdb() -> impl Iterator<Item = (&'static str, Settings)> {
    let libraries = servers::duckdb_libraries().into_iter();
    libraries.map(|library| {
        (
            "duckdb",
            library
                .map(|path| ("target.library".to_owned(), Value::Text(path)))
                .into_iter()
                .collect(),
        )
    })
}

/// The engines with pages of rows that are there, each with what it needs.
fn targets() -> Vec<(&'static str, Settings)> {
    let mut targets = vec![("sqlite", Vec::new())];
    targets.extend(servers::installations().into_iter().map(|installation| {
        let text = |text: String| Value::Text(text);
        let settings = vec![
            ("target.bindir".to_owned(), text(installation.bindir.display().to_string())),
            ("target.version".to_owned(), text(installation.version.to_string())),
            ("target.settings.fsync".to_owned(), Value::Bool(false)),
        ];
        ("postgres", settings)
    }));
    targets
}

fn number(value: i64) -> Value {
    Value::Integer(value)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn configuration(target: &[(String, Value)], settings: &[(&str, Value)]) -> Configuration {
    let settings = settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone()));
    let settings = target.iter().cloned().chain(settings).collect();
    Configuration { settings, ..Configuration::default() }
}

/// An engine's host, in a folder that is removed at the end: trials on it share its server.
struct Hosted {
    engine: &'static str,
    host: Box<dyn Host>,
    _folder: TempDir,
}

impl Hosted {
    fn new(engine: &'static str) -> Self {
        let folder = servers::folder();
        let place = Folders {
            directory: folder.path().into(),
            volumes: Vec::new(),
            permits: Permits::default(),
            cgroup_joins: Vec::new(),
        };
        Self { engine, host: (testing::engine(engine).host)(place), _folder: folder }
    }

    /// A target that is prepared, and a way to ask it.
    fn prepared(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        work: impl FnOnce(&dyn Instance),
    ) {
        let instance = self.host.prepare(configuration, connections, &Cancel::new()).unwrap();
        work(instance.as_ref());
        instance.remove().unwrap();
    }

    /// A trial, and what a question about its tables has for an answer behind it.
    fn trial(
        &mut self,
        probe: &dyn Probe,
        configuration: &Configuration,
        question: &str,
    ) -> (Observations, Vec<String>) {
        let mut result = None;
        let engine = self.engine;
        let target = Target::for_engine(testing::engine(engine), configuration);
        assert_eq!(probe.plan(configuration, &target), Vec::new(), "{engine}");
        self.prepared(configuration, probe.connections(configuration), |instance| {
            let run = probe.run(&TrialContext {
                generation: probe::generation::Generation::Here,
                configuration,
                instance,
                target,
                storage: &[],
                seed: 3,
                cancel: &Cancel::new(),
                disturbances: &[],
                progress: &|_| (),
            });
            let observations = run.unwrap_or_else(|error: ProbeError| panic!("{engine}: {error}"));
            result = Some((observations, ask(instance, &Statement::Text(question))));
        });
        result.unwrap()
    }
}

/// The last row of an answer.
fn ask(instance: &dyn Instance, statement: &Statement<'_>) -> Vec<String> {
    let mut connections = instance.connect(1).unwrap();
    let mut answers: Vec<Answer> = Vec::new();
    connections
        .send(0, &Request::Execute { statement: *statement, parameters: &[], results: true })
        .unwrap();
    while answers.is_empty() {
        connections.wait(None, &mut answers).unwrap();
    }
    let done = answers.remove(0).result.unwrap();
    done.results[0].last.iter().map(|cell| cell.clone().unwrap_or_default()).collect()
}

fn close(got: &str, expected: f64) -> bool {
    (got.parse::<f64>().unwrap() / expected - 1.0).abs() < 1e-9
}

fn loaded(name: &str, operations: Vec<Operation>) -> Work {
    let set = DataSet::new(name, Size { scale: 0.01, ..Size::default() }).unwrap();
    let data = SharedTables {
        identity: set.identity(),
        tables: 1,
        bytes: set.row_bytes(),
        changed: false,
    };
    Work {
        tables: set.tables(),
        fills: set.fills(),
        operations,
        data: Some(data),
        ..Work::default()
    }
}

#[test]
fn lineitem_has_the_sums_of_another_implementation_in_each_engine() {
    let reference = |column: &str| -> f64 {
        let line = REFERENCE
            .lines()
            .find(|line| line.starts_with(&format!("lineitem\t{column}\t")))
            .unwrap();
        line.split('\t').nth(3).unwrap().parse().unwrap()
    };
    let columns =
        ["l_orderkey", "l_partkey", "l_quantity", "l_extendedprice", "l_discount", "l_tax"];
    for (engine, settings) in all_targets() {
        Hosted::new(engine).prepared(&configuration(&settings, &[]), 1, |instance| {
            let sums = columns.iter().map(|column| Output::Sum(column));
            let outputs = std::iter::once(Output::Count).chain(sums).collect();
            instance.create(loaded("lineitem", vec![Operation::scan(0, outputs)])).unwrap();
            let row = ask(instance, &Statement::Operation(0));
            assert_eq!(row[0], "60175", "{engine}");
            for ((column, got), hundredths) in
                columns.iter().zip(&row[1..]).zip([1.0, 1.0, 0.01, 0.01, 0.01, 0.01])
            {
                assert!(close(got, reference(column) * hundredths), "{engine} {column}: {got}");
            }
        });
    }
}

#[test]
fn q1_and_q6_have_the_answers_of_another_implementation_in_each_engine() {
    let query = |name: &str| {
        let sql = scan::named_query(name).unwrap();
        let all = if name == "tpch-q1" {
            format!("SELECT * FROM ({sql}) AS q WHERE l_returnflag = 'A'")
        } else {
            sql.into()
        };
        Operation::Text(UserStatement { texts: vec![all] })
    };
    let answer = |begin: &str| -> Vec<f64> {
        let line = REFERENCE.lines().find(|line| line.starts_with(begin)).unwrap();
        line.split('\t').filter_map(|cell| cell.parse().ok()).collect()
    };
    for (engine, settings) in all_targets() {
        Hosted::new(engine).prepared(&configuration(&settings, &[]), 1, |instance| {
            instance.create(loaded("lineitem", vec![query("tpch-q1"), query("tpch-q6")])).unwrap();
            for (operation, answer) in [(0, answer("q1\tA")), (1, answer("q6"))] {
                let row = ask(instance, &Statement::Operation(operation));
                let numbers = &row[row.len() - answer.len()..];
                let same = numbers.iter().zip(&answer).all(|(got, answer)| close(got, *answer));
                assert!(same, "{engine}: {row:?} for {answer:?}");
            }
        });
    }
}

#[test]
fn a_scan_reports_rows_pages_processor_time_and_its_plan() {
    for (engine, settings) in targets() {
        let workload = [
            ("workload.rows", number(20_000)),
            ("workload.rows_per_page", number(20)),
            ("workload.columns", number(6)),
            ("workload.aggregates", Value::List(vec![text("count"), text("sum"), text("max(c3)")])),
            ("workload.aggregated_columns", number(2)),
            ("workload.scans", number(5)),
            ("workload.degree", number(1)),
            ("workload.connections", number(1)),
            ("workload.analyze", Value::Bool(true)),
        ];
        let configuration = configuration(&settings, &workload);
        let (observations, row) = Hosted::new(engine).trial(
            &Scan,
            &configuration,
            "SELECT count(*), min(id), max(id) FROM synthetic",
        );
        assert_eq!(row, ["20000", "1", "20000"], "{engine}");
        let fact =
            |name: &str| observations.fact(name).unwrap_or_else(|| panic!("{engine} lacks {name}"));
        let names = [
            "table_rows",
            "scans",
            "degree",
            "agg_columns",
            "agg_count",
            "agg_sum",
            "agg_max",
            "agg_avg",
        ];
        let expected = [20_000.0, 5.0, 1.0, 2.0, 1.0, 2.0, 1.0, 0.0];
        assert_eq!(names.map(fact), expected, "{engine}");
        let pages = fact("table_pages");
        assert!((950.0..=1100.0).contains(&pages), "{engine}: {pages} pages");
        // Each page of the table is looked at in each scan, and few others are.
        let used = fact("pages_hit") + fact("pages_read");
        assert!((pages * 0.99..=pages * 1.2 + 20.0).contains(&used), "{engine}: {used} of {pages}");
        let cpu_s = fact("cpu_s");
        assert!(
            cpu_s > 0.0 && cpu_s * 5.0 <= observations.elapsed_s * 1.1 + 0.02,
            "{engine}: {cpu_s}"
        );
        let per_page = observations.response("cpu_per_page").unwrap();
        assert!((per_page * pages / 1e6 / cpu_s - 1.0).abs() < 1e-9, "{engine}");
        let per_core = observations.response("bandwidth_per_core").unwrap();
        assert!(
            (per_core * cpu_s * 1e6 / (pages * fact("page_bytes")) - 1.0).abs() < 1e-9,
            "{engine}"
        );
        assert_eq!(observations.responses[0].name, "scan");
        let plan = &observations.plans[0];
        assert!(plan.text.to_lowercase().contains("scan"), "{engine}: {}", plan.text);
        assert_eq!((plan.hash.len(), plan.statement.as_str()), (16, "scan"));
        // What one run took is not part of the plan, which would be another one each time.
        if engine == "sqlite" {
            assert!(fact("vm_steps") > 20_000.0);
            assert_eq!(fact("fullscan_steps"), 19_999.0);
        } else {
            assert!(plan.analysis.as_ref().unwrap().contains("Buffers: shared"), "{plan:?}");
            // One run before the measurement saw as many pages as each measured one.
            let analyzed = fact("analyzed_pages_hit") + fact("analyzed_pages_read");
            assert!(
                (pages * 0.99..=pages * 1.2 + 20.0).contains(&analyzed),
                "{engine}: {analyzed} of {pages}"
            );
            assert!(fact("analyzed_ms") > 0.0);
            assert!(!plan.text.contains("Buffers"), "{plan:?}");
        }
    }
}

#[test]
fn workers_of_a_parallel_scan_are_planned_and_their_processor_time_is_counted() {
    for (engine, settings) in targets().into_iter().filter(|(engine, _)| *engine == "postgres") {
        let mut host = Hosted::new(engine);
        let mut scan = |degree: i64| {
            let workload = [
                ("workload.rows", number(200_000)),
                ("workload.aggregates", Value::List(vec![text("sum"), text("avg")])),
                ("workload.aggregated_columns", number(4)),
                ("workload.scans", number(10)),
                ("workload.degree", number(degree)),
                ("workload.connections", number(1)),
            ];
            let configuration = configuration(&settings, &workload);
            host.trial(&Scan, &configuration, "SELECT 1").0
        };
        let (alone, together) = (scan(1), scan(3));
        assert!(!alone.plans[0].text.contains("Workers"), "{}", alone.plans[0].text);
        assert!(
            together.plans[0].text.contains("Workers Planned: 2"),
            "{}",
            together.plans[0].text
        );
        assert_ne!(alone.plans[0].hash, together.plans[0].hash);
        // The session itself does a third of the work; with its workers it is all of it again.
        let (fact, three) = (alone.fact("cpu_s").unwrap(), together.fact("cpu_s").unwrap());
        assert!(
            together.time.cpu_s / 10.0 < 0.8 * three,
            "{} of {three}",
            together.time.cpu_s / 10.0
        );
        assert!((0.7..3.0).contains(&(three / fact)), "{three} of {fact}");
    }
}

#[test]
fn duckdb_scans_and_looks_up_on_as_many_threads_as_it_is_told() {
    for (engine, settings) in duckdb() {
        let mut host = Hosted::new(engine);
        let mut scan = |degree: i64| {
            let workload = [
                ("workload.rows", number(400_000)),
                ("workload.aggregates", Value::List(vec![text("count"), text("sum"), text("avg")])),
                ("workload.aggregated_columns", number(4)),
                ("workload.scans", number(20)),
                ("workload.degree", number(degree)),
                ("workload.analyze", Value::Bool(true)),
            ];
            let configuration = configuration(&settings, &workload);
            host.trial(
                &Scan,
                &configuration,
                "SELECT count(*), current_setting('threads') FROM synthetic",
            )
        };
        let ((alone, single), (together, three)) = (scan(1), scan(3));
        assert_eq!(
            (single, three),
            (vec!["400000".into(), "1".into()], vec!["400000".into(), "3".into()])
        );
        let all = |observations: &Observations| {
            (observations.fact("cpu_s").unwrap() * 20.0, observations.time.cpu_s)
        };
        let (cpu_s, own_s) = all(&alone);
        assert!(own_s > 0.0 && (cpu_s - own_s).abs() < 1e-9, "{cpu_s} of which {own_s}");
        let (cpu_s, own_s) = all(&together);
        assert!(own_s < cpu_s, "the workers did nothing: {cpu_s} of which {own_s}");
        assert!(alone.fact("table_pages").unwrap() > 1.0);
        assert_eq!(alone.fact("page_bytes"), Some(262_144.0));
        assert_eq!(alone.fact("rows_scanned"), Some(400_000.0));
        assert!(alone.fact("operator_ungrouped_aggregate").unwrap() >= 0.0);
        let plan = &alone.plans[0];
        assert!(
            plan.text.contains("SEQ_SCAN")
                && plan.analysis.as_ref().unwrap().contains("Total Time")
        );
        assert_eq!(plan.hash, together.plans[0].hash);
        let lookups = [("workload.rows", number(5000)), ("workload.lookups", number(200))];
        let (observations, _) =
            host.trial(&Lookup, &configuration(&settings, &lookups), "SELECT 1");
        assert_eq!(observations.work.amount, 200);
        let join =
            configuration(&settings, &[lookups[1].clone(), ("workload.method", text("join"))]);
        let target = Target::for_engine(testing::engine(engine), &join);
        let objections = Lookup.plan(&join, &target);
        assert!(
            objections
                .iter()
                .any(|objection| objection.message.contains("does not join by nested loops"))
        );
    }
}

#[test]
fn what_cannot_be_scanned_is_said_before_anything_runs() {
    let sqlite = testing::engine("sqlite");
    let objections = |probe: &dyn Probe, settings: &[(&str, Value)]| -> Vec<String> {
        let configuration = configuration(&[], settings);
        let target = Target::for_engine(sqlite, &configuration);
        let invalid = probe.plan(&configuration, &target);
        invalid
            .iter()
            .map(|objection| format!("{}: {}", objection.path, objection.message))
            .collect()
    };
    let scans = ("workload.scans", number(1));
    for (settings, text) in [
        (("workload.aggregates", text("sum(c99)")), "unknown column of table synthetic `c99`"),
        (("workload.aggregates", text("median")), "unknown aggregate `median`"),
        (("workload.aggregates", text("sum(c6)")), "c6 is not a numeric column"),
        (("workload.aggregates", text("sum(c2")), "lacks a closing bracket"),
        (("workload.filter", text("c2 > 3")), "write a column, < and a whole number"),
        (("workload.filter", text("c9 < 3")), "unknown column of table synthetic `c9`"),
        (("workload.group_by", text("c77")), "unknown column of table synthetic `c77`"),
        (("workload.degree", number(4)), "runs a statement on one CPU"),
        (("workload.query", text("tpch-q1")), "use data = \"lineitem\""),
    ] {
        let found = objections(&Scan, &[scans.clone(), settings]);
        assert!(found.len() == 1 && found[0].contains(text), "{text}: {found:?}");
    }
    let many = [
        scans.clone(),
        ("workload.aggregates", text("sum")),
        ("workload.aggregated_columns", number(9)),
    ];
    let found = objections(&Scan, &many);
    assert!(found[0].contains("table synthetic has 5 columns with a sum, not 9"), "{found:?}");
    let cold = [("workload.scans", number(3)), ("target.cache", text("cold"))];
    assert!(objections(&Scan, &cold)[0].contains("only the first scan finds cold caches"));
    let keyless = ("workload.data", text("mybigtable"));
    for (probe, amount) in
        [(&Lookup as &dyn Probe, "workload.lookups"), (&Update, "workload.updates")]
    {
        let found = objections(probe, &[(amount, number(5)), keyless.clone()]);
        assert!(found[0].contains("keys of mybigtable are not known integers"), "{found:?}");
        let found =
            objections(probe, &[(amount, number(5)), ("workload.distinct_keys", number(100_001))]);
        assert!(found[0].contains("keys exceed the 100000 of the table"), "{found:?}");
    }
}

#[test]
fn lookups_find_their_rows_by_statement_and_by_join() {
    for (engine, settings) in targets() {
        let mut host = Hosted::new(engine);
        for (data, method) in [
            ("synthetic", "statements"),
            ("synthetic", "join"),
            ("lineitem", "statements"),
            ("lineitem", "join"),
        ] {
            let workload = [
                ("workload.data", text(data)),
                ("workload.scale", Value::Float(0.002)),
                ("workload.rows", number(5000)),
                ("workload.method", text(method)),
                ("workload.sample", number(200)),
                ("workload.connections", number(2)),
                ("workload.lookups", number(2000)),
                ("workload.keys", text("zipf")),
                ("workload.zipf", Value::Float(0.99)),
            ];
            let configuration = configuration(&settings, &workload);
            let (observations, _) = host.trial(&Lookup, &configuration, "SELECT 1");
            assert_eq!(observations.work.amount, 2000, "{engine} {data} {method}");
            assert!(
                observations.response("cpu_per_lookup").unwrap() > 0.0,
                "{engine} {data} {method}"
            );
            // Rows are found by the key, not by reading the table.
            let pages =
                observations.fact("pages_hit").unwrap() + observations.fact("pages_read").unwrap();
            let table = observations.fact("table_pages").unwrap();
            assert!(
                pages >= 1.0 && pages < table / 4.0,
                "{engine} {data} {method}: {pages} of {table}"
            );
            let plan = observations.plans[0].text.to_lowercase();
            let by_key = if engine == "sqlite" { "search" } else { "index" };
            assert!(
                plan.contains(by_key) && !plan.contains("hash"),
                "{engine} {data} {method}: {plan}"
            );
        }
    }
}

#[test]
fn updates_are_all_in_the_table_and_hold_their_locks_for_a_time() {
    for (engine, settings) in all_targets() {
        let mut host = Hosted::new(engine);
        for sharing in ["shared", "disjoint"] {
            let workload = [
                ("workload.rows", number(1000)),
                ("workload.updates", number(400)),
                ("workload.connections", number(4)),
                ("workload.sharing", text(sharing)),
                ("workload.distinct_keys", number(40)),
                ("workload.max_tries", number(100)),
                ("target.settings.synchronous", text("off")),
            ];
            let workload = if engine == "sqlite" { &workload[..] } else { &workload[..6] };
            let configuration = configuration(&settings, workload);
            // Each update adds 1 to a value of which the data set tells the sum.
            let sum = "SELECT sum(c2), count(*) FROM synthetic";
            let (observations, row) = host.trial(&Update, &configuration, sum);
            let set = DataSet::new("synthetic", Size { rows: 1000, ..Size::default() }).unwrap();
            let mut before = 0;
            for rows in set.fills().remove(0).batches {
                let work::Values::Integers(values) = &rows.columns[1] else { panic!("{rows:?}") };
                before += values.iter().sum::<i64>();
            }
            assert_eq!(row[0].parse::<i64>().unwrap() - before, 400, "{engine} {sharing}");
            assert_eq!(
                (observations.work.amount, row[1].as_str()),
                (400, "1000"),
                "{engine} {sharing}"
            );
            assert!(observations.response("cpu_per_update").unwrap() > 0.0, "{engine} {sharing}");
            // The lock goes with the commit: a part of the transaction.
            let (held, all) = (
                observations.response("lock_held").unwrap(),
                observations.response("latency_mean").unwrap(),
            );
            assert!(0.0 < held && held < all, "{engine} {sharing}: {held} of {all} ms");
        }
    }
}

/// Page size, SQLite's own cache and memory-mapped files are settings like any other, and change
/// what a scan reads.
#[test]
fn page_size_cache_size_and_mmap_size_of_sqlite_change_what_a_scan_reads() {
    let scan = |settings: &[(&str, i64)]| {
        let workload = [
            ("workload.rows", number(4000)),
            ("workload.rows_per_page", number(20)),
            ("workload.aggregates", text("sum")),
            ("workload.scans", number(4)),
            ("workload.connections", number(1)),
        ];
        let settings = settings
            .iter()
            .map(|(name, value)| (format!("target.settings.{name}"), number(*value)));
        let configuration = configuration(&settings.collect::<Settings>(), &workload);
        let (observations, _) = Hosted::new("sqlite").trial(&Scan, &configuration, "SELECT 1");
        let fact = |name: &str| observations.fact(name).unwrap();
        (fact("table_pages"), fact("page_bytes"), fact("pages_read"), fact("pages_hit"))
    };
    // Of 200 pages a cache of 100 KiB has none left when the next scan begins.
    let (pages, bytes, read, _) = scan(&[("page_size", 4096), ("cache_size", -100)]);
    assert!(
        (190.0..=220.0).contains(&pages) && bytes == 4096.0 && read > 0.9 * pages,
        "{read} of {pages}"
    );
    // In one of 100 MiB only the first of four scans reads.
    let (pages, bytes, read, hits) = scan(&[("page_size", 65_536), ("cache_size", -102_400)]);
    assert!((190.0..=220.0).contains(&pages) && bytes == 65_536.0, "{pages} pages of {bytes}");
    assert!(read <= 0.3 * pages && hits > 0.6 * pages, "{read} read, {hits} hit of {pages}");
    // What is mapped is neither.
    let (pages, _, read, hits) =
        scan(&[("page_size", 4096), ("cache_size", -100), ("mmap_size", 1 << 30)]);
    assert!(read + hits < 0.3 * pages, "{read} read, {hits} hit of {pages}");
}
