//! Real plans of SQL Server, held against what Python's XML library finds in the same files. They
//! are in a folder beside the project: see their licences there.

use inspection::plan_files::{self, PlanFileError};
use inspection::plans::{self, Access, Kind, Operator, Rule, Statement, index_uses, remarks};
use inspection::sqlserver::{INSPECTION, PLANS, RULES};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testing::published_plans;

pub fn read(file: &Path) -> Result<Vec<Statement>, PlanFileError> {
    let inspections = [("sqlserver", &INSPECTION)];
    plan_files::read(inspections.into_iter(), &std::fs::read(file).unwrap())
}

fn by_python(files: &[PathBuf]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sqlserver/showplan.py");
    let mut python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is among what the tests need");
    let names: String =
        files.iter().flat_map(|file| [file.to_string_lossy(), "\n".into()]).collect();
    python.stdin.take().unwrap().write_all(names.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn operators(statements: &[Statement]) -> Vec<&Operator> {
    let plans = statements.iter().filter_map(|statement| statement.plan.as_ref());
    plans.flat_map(|plan| plan.operators()).map(|(_, operator)| operator).collect()
}

fn strings<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    value[key].as_array().unwrap().iter().map(|array| array.as_str().unwrap()).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn every_plan_is_read_as_another_reader_reads_it() {
    let files = published_plans();
    if files.is_empty() {
        println!("SKIPPED, cannot be here: the folder shared/plans beside the project");
        return;
    }
    let expected = by_python(&files);
    assert_eq!(expected.len(), files.len());
    let mut counts = (0, 0, 0, 0);
    for (file, expected) in files.iter().zip(&expected) {
        let name = file.file_name().unwrap().to_string_lossy();
        let statements = read(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let plans: Vec<_> =
            statements.iter().filter_map(|statement| statement.plan.as_ref()).collect();
        let operators = operators(&statements);
        assert_eq!(plans.len() as u64, expected["plans"].as_u64().unwrap(), "{name}: plans");

        let mut costs: Vec<f64> = operators.iter().map(|operator| operator.cost.unwrap()).collect();
        costs.sort_by(f64::total_cmp);
        let expected_costs: Vec<f64> = expected["costs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cost| cost.as_f64().unwrap())
            .collect();
        assert_eq!(costs, expected_costs, "{name}: costs");

        let mut names: Vec<&str> =
            operators.iter().map(|operator| operator.name.as_str()).collect();
        names.sort_unstable();
        // Of a seek that is a lookup the file has the name of a seek.
        let physical: Vec<&str> = strings(expected, "physical");
        let without_lookups = |names: &[&str]| -> Vec<String> {
            let mut all: Vec<String> = names
                .iter()
                .map(|name| name.replace("Key Lookup", "Clustered Index Seek"))
                .collect();
            all.sort();
            all
        };
        assert_eq!(without_lookups(&names), without_lookups(&physical), "{name}: operators");

        let rows: f64 = operators.iter().filter_map(|operator| operator.rows.actual).sum();
        assert_eq!(Some(rows), expected["rows"].as_f64(), "{name}: rows");

        let indexes: BTreeSet<String> = operators
            .iter()
            .flat_map(|operator| &operator.objects)
            .filter_map(|object| Some(format!("{}.{}", object.table, object.index.as_ref()?)))
            .collect();
        let indexes: Vec<&str> = indexes.iter().map(String::as_str).collect();
        assert_eq!(indexes, strings(expected, "indexes"), "{name}: indexes");

        let of_operators = operators.iter().flat_map(|operator| &operator.warnings);
        let mut warnings: Vec<&str> = plans
            .iter()
            .flat_map(|plan| &plan.warnings)
            .chain(of_operators)
            .map(|warning| warning.name.as_str())
            .collect();
        warnings.sort_unstable();
        assert_eq!(warnings, strings(expected, "warnings"), "{name}: warnings");

        let mut missing: Vec<&str> = plans
            .iter()
            .flat_map(|plan| &plan.missing_indexes)
            .map(|index| index.object.table.as_str())
            .collect();
        missing.sort_unstable();
        assert_eq!(missing, strings(expected, "missing"), "{name}: missing indexes");

        let waits: f64 = plans.iter().flat_map(|plan| &plan.waits).map(|wait| wait.wait_ms).sum();
        assert_eq!(Some(waits), expected["waits_ms"].as_f64(), "{name}: waits");
        let unknown: Vec<&String> = plans.iter().flat_map(|plan| &plan.unknown).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        counts.0 += operators.len();
        counts.1 += warnings.len();
        counts.2 += missing.len();
        counts.3 += indexes.len();
    }
    // The comparison above could be of nothing.
    assert!(
        counts.0 > 500 && counts.1 > 20 && counts.2 > 5 && counts.3 > 50,
        "{counts:?} in {} files",
        files.len()
    );
}

/// Times of operators without their inputs add up to that of the root, and costs to the whole.
#[test]
fn own_times_and_costs_add_up() {
    let files = published_plans();
    if files.is_empty() {
        println!("SKIPPED, cannot be here: the folder shared/plans beside the project");
        return;
    }
    let mut timed = 0;
    for file in files {
        let statements = read(&file);
        for plan in statements.unwrap().iter().filter_map(|statement| statement.plan.as_ref()) {
            let Some(root) = &plan.root else { continue };
            let shares = plan.net_costs();
            let sum =
                |of: fn(&plans::NetCost) -> Option<f64>| shares.iter().filter_map(of).sum::<f64>();
            let (cost, ms) = (sum(|share| share.cost), sum(|share| share.ms));
            let (whole, run) = (root.cost.unwrap_or(0.0), root.time().unwrap_or(0.0));
            assert!(
                (cost - whole).abs() <= 1e-6 * whole + 1e-9,
                "{}: {cost} {whole}",
                file.display()
            );
            assert!((ms - run).abs() <= 0.05 * run + 1e-9, "{}: {ms} {run}", file.display());
            timed += usize::from(run > 0.0);
        }
    }
    assert!(timed > 10, "{timed}");
}

#[test]
fn what_there_is_to_look_at_is_said_with_its_figures_and_what_is_unknown_by_name() {
    let statements = (PLANS.read)(include_str!("plans/own.sqlplan")).unwrap();
    let kinds: Vec<&str> = statements.iter().map(|statement| statement.kind.as_str()).collect();
    assert_eq!(kinds, ["SELECT", "SET ON/OFF", "StmtQuantum"]);
    let plan = statements[0].plan.as_ref().unwrap();
    assert_eq!(plan.unknown, ["QuantumOptimizer"]);
    assert_eq!(
        (
            plan.elapsed_ms,
            plan.cpu_ms,
            plan.memory.map(|memory| (memory.granted_kib, memory.used_kib))
        ),
        (Some(200.0), Some(40.0), Some((204_800.0, 512.0)))
    );
    let all = plan.operators();
    let (seek, lookup) = (all[1].1, all[2].1);
    assert_eq!(
        (lookup.name.as_str(), lookup.kind, lookup.access),
        ("Key Lookup", Kind::Lookup, Some(Access::Lookup))
    );
    // The slower of two threads, and the rows of both, which are one execution.
    assert_eq!(
        (seek.elapsed_ms, seek.rows.actual, seek.rows_read.actual),
        (Some(50.0), Some(30_000.0), Some(30_000.0))
    );
    assert_eq!((seek.rows.estimated, lookup.rows.estimated), (Some(1.5), Some(30_000.0)));
    assert_eq!(seek.predicates[0].text, "a = (42)");
    // In row mode the time of a join has that of its inputs in it.
    assert_eq!(plan.net_costs()[0].ms, Some(10.0));
    assert_eq!(plan.net_costs()[0].cost, Some(1.0));

    let remarks = remarks(plan, &RULES.terms);
    let found: Vec<(Rule, Option<usize>)> =
        remarks.iter().map(|remark| (remark.rule, remark.operator)).collect();
    // Each lookup finds one row, as estimated: that there are many is the seek's error.
    assert_eq!(
        found,
        [
            (Rule::Estimate, Some(1)),
            (Rule::MissingIndex, None),
            (Rule::Lookups, Some(2)),
            (Rule::Warning, None),
            (Rule::MemoryUnused, None),
            (Rule::Serial, None),
            (Rule::EarlyAbort, None),
            (Rule::IdleThreads, None),
        ],
        "{remarks:#?}"
    );
    let missing = &plan.missing_indexes[0];
    assert_eq!(
        (missing.impact, missing.equality.as_slice(), missing.included.as_slice()),
        (Some(0.875), ["a".to_owned()].as_slice(), ["b".to_owned()].as_slice())
    );

    let uses: Vec<(String, Access)> = index_uses(&statements)
        .iter()
        .map(|index_use| (index_use.object.label(), index_use.uses[0].access))
        .collect();
    assert_eq!(
        uses,
        [("t (IX_a)".to_owned(), Access::Seek), ("t (PK_t)".to_owned(), Access::Lookup)]
    );
}
