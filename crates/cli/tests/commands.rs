//! The other commands, and what programs read.

use crate::common::{Exit, Lab, end, scripted};
use crate::registry::REGISTRY;
use engine::Permits;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use work::Stop;

/// A finished run of two factors, one of which has names with commas.
fn recorded() -> Lab {
    let levels = "[[level]]\nfactor = \"log\"\nname = \"wal, synced\"\nset = { \"target.delay\" = \
                  \"4 ms\" }\n[[level]]\nfactor = \"log\"\nname = \"wal\"\nset = { \
                  \"target.delay\" = \"2 ms\" }\n";
    let lab = Lab::with(&scripted(3, "waits = [\"LOG_WRITE log 0.4 0.1\"]", levels));
    lab.run(0);
    lab
}

#[test]
fn json_is_valid_line_by_line() {
    let lab = recorded();
    let events = lab.json(&["run", "e.toml", "--fresh"]);
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "run_started");
    assert_eq!(kinds[kinds.len() - 2..], ["run_finished", "summary"]);
    assert_eq!(kinds.iter().filter(|kind| **kind == "trial_finished").count(), 12);
    let finished = events.iter().find(|event| event["event"] == "trial_finished").unwrap();
    assert_eq!(finished["responses"][0]["name"], "elapsed");

    let object = |arguments: &[&str]| -> Value {
        let lines = lab.json(arguments);
        assert_eq!(lines.len(), 1, "{arguments:?}");
        lines[0].clone()
    };
    let check = object(&["check", "e.toml"]);
    assert_eq!((&check["kind"], check["trials"].as_array().unwrap().len()), (&"check".into(), 12));
    assert_eq!(check["estimate"]["recorded_trials"], 12);
    let show = object(&["show", "t"]);
    assert_eq!((&show["kind"], &show["overview"]["done"]), (&"summary".into(), &12.into()));
    assert_eq!(object(&["show", "t", "--runs"])["runs"].as_array().unwrap().len(), 2);
    let compare = object(&["compare", "data_files=1,log=wal, synced", "data_files=1,log=wal"]);
    assert_eq!(compare["kind"], "comparison");
    assert_eq!(compare["from_label"], "data_files=1 log=wal, synced");
}

#[test]
fn compare_names_both_sides_and_refuses_what_is_not_clear() {
    let lab = recorded();
    let compare = |a: &str, b: &str| lab.steelbench(&["compare", a, b]);
    // 10 transactions of 4 ms against 10 of 2 ms.
    let ended =
        compare("data_files=1, log=wal, synced", "data_files=1,log=wal").expect(0).shows("2.00x");
    assert!(ended.stdout.contains("data_files=1 log=wal, synced"), "{ended:?}");
    compare("data_files=1 log=wal", "data_files=2 log=wal").expect(0);
    // A factor that one side names restricts both; levels of different factors are an error.
    compare("data_files=1", "data_files=2 log=wal").expect(0).shows("A  data_files=1 log=wal ");
    compare("data_files=1", "log=wal").expect(2).says("give levels of the same factor");
    compare("data_files=3", "data_files=2 log=wal")
        .expect(2)
        .says("no configuration is data_files=3");
}

#[test]
fn show_can_be_narrowed_and_pasted() {
    let lab = recorded();
    let ended = lab
        .steelbench(&["show", "t", "--only", "log=wal, synced", "--full"])
        .expect(0)
        .shows("6 trials done");
    assert!(ended.stdout.contains("data_files"), "{ended:?}");
    lab.steelbench(&["show", "t", "--only", "log=none"])
        .expect(2)
        .says("no configuration has log=none");
    lab.steelbench(&["show", "--md"]).expect(0).shows("\n| :-- |");
    lab.steelbench(&["show", "results/t.steelbench", "--full"]).expect(0).shows("12 trials done");
}

#[test]
fn a_failed_export_leaves_the_previous_one_alone() {
    let lab = recorded();
    for format in ["csv", "parquet"] {
        let table = lab.path(&format!("out/trials.{format}"));
        let export = || lab.steelbench(&["export", "t", "--format", format, "--output", "out"]);
        export().expect(0);
        let before = std::fs::read(&table).unwrap();
        // No room for more than this stops the export, for root too.
        let mut small = lab.command(&["export", "t", "--format", format, "--output", "out"]);
        // SAFETY: between fork and exec system calls alone are made.
        unsafe {
            small.pre_exec(|| {
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                let limit = libc::rlimit { rlim_cur: 100, rlim_max: 100 };
                libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
                Ok(())
            });
        }
        Exit::from(small.output().unwrap()).expect(1).says(&format!("out/trials.{format}"));
        assert_eq!(std::fs::read(&table).unwrap(), before);
    }
    let partial: Vec<_> =
        std::fs::read_dir(lab.path("out")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(partial.len(), 2 * 8 + 1, "no partial file is left: {partial:?}");
    // A file where the folder should be.
    lab.steelbench(&["export", "t", "--format", "csv", "--output", "out/waits.csv"])
        .expect(1)
        .says("waits.csv");
    // What cannot be replaced is written to as it is.
    lab.steelbench(&["export", "t", "--format", "json", "--output", "/dev/null"]).expect(0);
}

#[test]
fn exports_have_a_row_for_each_record() {
    let lab = recorded();
    let count = |table: &str| {
        lab.rows("t", &format!("SELECT count(*) FROM {table}"))[0].parse::<usize>().unwrap()
    };
    assert_eq!((count("trials"), count("waits")), (12, 12));
    let files = |format: &str, folder: &str| -> Vec<String> {
        let ended =
            lab.steelbench(&["export", "t", "--format", format, "--output", folder]).expect(0);
        ended.stdout.lines().map(str::to_owned).collect()
    };
    let csv = files("csv", "csv");
    for table in ["trials", "waits", "latencies"] {
        let path = csv.iter().find(|path| path.ends_with(&format!("{table}.csv"))).unwrap();
        let mut lines = lab.read(path).lines().map(str::to_owned).collect::<Vec<_>>();
        let columns = lines.remove(0).split(',').count();
        assert!(columns > 3);
        assert_eq!(lines.len(), count(table), "{path}");
    }
    let parquet = files("parquet", "parquet");
    assert_eq!(parquet.len(), csv.len());
    for table in ["trials", "waits", "latencies"] {
        let path = parquet.iter().find(|path| path.ends_with(&format!("{table}.parquet"))).unwrap();
        let reader = SerializedFileReader::new(File::open(lab.path(path)).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), count(table) as i64, "{path}");
    }
    let written = files("json", "t.json");
    let from_file: Value = serde_json::from_str(&lab.read(&written[0])).unwrap();
    let printed = lab.steelbench(&["export", "t", "--format", "json"]).expect(0).stdout;
    assert_eq!(from_file, serde_json::from_str::<Value>(&printed).unwrap());
    assert_eq!(from_file["trials"].as_array().unwrap().len(), 12);
}

#[test]
fn init_writes_a_file_that_check_accepts_and_never_over_another() {
    let lab = Lab::new();
    lab.steelbench(&["init"]).expect(0).shows("experiment.toml");
    lab.steelbench(&["check", "experiment.toml"]).expect(0).shows(": valid");
    let before = lab.read("experiment.toml");
    lab.steelbench(&["init"]).expect(2).says("experiment.toml");
    assert_eq!(lab.read("experiment.toml"), before);
    lab.steelbench(&["init", "no/such/folder.toml"]).expect(2).says("no/such/folder.toml");
}

/// The names that a setting accepts.
fn names(schema: &Value, table: &str, setting: &str) -> Vec<String> {
    let setting = &schema["properties"][table]["properties"][setting];
    let names = setting["enum"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Every engine with every probe: a file that `check` accepts, or why the two do not fit.
#[test]
fn init_writes_a_file_for_each_engine_and_probe_that_fit() {
    init_writes_files_that_fit(&["postgres", "duckdb", "mariadb", "sqlserver"]);
}

#[test]
#[ignore = "lane all: runs an experiment on each engine with each probe"]
fn what_init_writes_runs_on_each_engine() {
    init_writes_files_that_fit(&["postgres"]);
}

/// Checks the file of each engine and probe, and runs it with small sizes except on some engines.
fn init_writes_files_that_fit(only_checked: &[&str]) {
    let lab = Lab::new();
    let (mut of_engines, mut of_probes) = (BTreeSet::new(), BTreeSet::new());
    let schema: Value =
        serde_json::from_str(&lab.steelbench(&["schema"]).expect(0).stdout).unwrap();
    let engines = names(&schema, "target", "engine");
    let probes = names(&schema, "workload", "probe");
    for engine in &engines {
        for probe in &probes {
            let file = format!("{engine}-{probe}.toml");
            let ended = lab.steelbench(&["init", &file, "--engine", engine, "--probe", probe]);
            if ended.code == Some(2) {
                ended.says("engine");
                continue;
            }
            let written = lab.read(&file);
            let is_prose = |line: &&str| line.starts_with("# ") && !line.contains(" = ");
            let wide = written.lines().filter(is_prose).find(|line| line.chars().count() > 100);
            assert_eq!(wide, None, "{file}");
            let is_server = written.contains("Version of the private server");
            if is_server && probe != "insert" {
                // `check` starts a server, which one file of each engine shows.
                lab.write(&file, &written.replace("[target]\n", "[target]\nversion = \"99\"\n"));
            }
            let checked = lab.steelbench(&["check", &file]).expect(0).shows(": valid");
            of_engines.insert(engine.clone());
            of_probes.insert(probe.clone());
            // An engine that has to be installed may not be there; the scripted one knows inserts
            // only.
            let is_ready = !checked.stdout.contains("not ready yet: ")
                && (engine != "null" || probe == "insert");
            // What loads much is run on one engine.
            let is_small =
                engine == "sqlite" || !["order-entry", "decision-support"].contains(&&**probe);
            if !only_checked.contains(&engine.as_str()) && is_ready && is_small {
                lab.write(&file, &small(&lab.read(&file)));
                lab.steelbench(&["run", &file, "--fresh"]).expect(0);
            }
        }
    }
    assert_eq!(of_engines, BTreeSet::from_iter(engines));
    assert_eq!(of_probes, BTreeSet::from_iter(probes));
    lab.steelbench(&["init", "a.toml", "--probe", "disk"]).expect(0);
    assert!(lab.read("a.toml").contains("engine = \"files\""));
    lab.steelbench(&["init", "b.toml", "--engine", "none"]).expect(0);
    assert!(lab.read("b.toml").contains("probe = \"sync\""));
    lab.steelbench(&["init", "c.toml", "--engine", "postgress"])
        .expect(2)
        .says("did you mean `postgres`?");
    assert!(!lab.path("c.toml").exists());
}

/// Returns the experiment with one block of short trials.
fn small(text: &str) -> String {
    let with_rows = text.contains("\nrows = ");
    let line = |line: &str| match line.split(" = ").next().unwrap_or_default() {
        "rows" => "rows = 500".to_owned(),
        "file_size" => "file_size = \"1 MiB\"".to_owned(),
        "blocks" => "blocks = 1".to_owned(),
        "duration" => "duration = \"200 ms\"".to_owned(),
        "# duration" if !with_rows => "duration = \"200 ms\"".to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_results_file_is_found_by_its_whole_name_and_has_one_ending() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run_with(&["-o", "results/x.steelbench"], 0);
    for name in ["x", "x.steelbench", "results/x.steelbench"] {
        lab.steelbench(&["show", name, "--full"]).expect(0).shows("2 trials done");
    }
    lab.write("e.toml", &scripted(1, "", "").replace("name = \"t\"", "name = \"y.steelbench\""));
    lab.run(0);
    assert!(lab.path("results/y.steelbench").exists());
    let gone = lab.steelbench(&["show", "z.steelbench"]).expect(2);
    assert!(!gone.stderr.contains("steelbench.steelbench"), "{gone:?}");
}

/// No line is wider than the terminal, so that none wraps: what does not fit is left out, or
/// stacked.
#[test]
fn tables_fit_80_columns() {
    let lab = Lab::with(
        "[experiment]\nname = \"t\"\nresponse = \"throughput\"\n[target]\nengine = \
         \"sqlite\"\n[workload]\nprobe = \"insert\"\nconnections = 2\nrows = \
         2000\nrows_per_transaction = 100\n[factors]\n\"target.data_files\" = [1, \
         2]\n\"target.settings.journal_mode\" = [\"wal\", \"truncate\"]\n[repeats]\nblocks = 3\n",
    );
    lab.run(0);
    lab.run_with(&["--fresh"], 0);
    for columns in ["80", "60"] {
        let commands: [&[&str]; 6] = [
            &["show", "t"],
            &["show", "t", "--full"],
            &["history", "t"],
            &["compare", "data_files=1,journal_mode=wal", "data_files=2,journal_mode=wal"],
            &["compare", "t@1", "t@latest", "--all"],
            &["check", "e.toml"],
        ];
        for arguments in commands {
            let ended: Exit =
                lab.command(arguments).env("COLUMNS", columns).output().unwrap().into();
            let ended = ended.expect(0);
            let most: usize = columns.parse().unwrap();
            let wide: Vec<&str> =
                ended.stdout.lines().filter(|line| line.chars().count() > most).collect();
            assert!(wide.is_empty(), "{columns} {arguments:?}: {wide:#?}");
        }
    }
    let mut show = lab.command(&["show", "t", "--full"]);
    let shown: Exit = show.env("COLUMNS", "80").output().unwrap().into();
    shown.expect(0).shows("WaitType").shows("(columns hidden at this width: ");
}

#[test]
fn schema_and_completions_are_printed() {
    let lab = Lab::new();
    let schema: Value =
        serde_json::from_str(&lab.steelbench(&["schema"]).expect(0).stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["properties"]["experiment"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        lab.steelbench(&["completions", shell]).expect(0).shows("steelbench");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let lab = recorded();
    for arguments in [
        &["show", "t"][..],
        &["schema"],
        &["check", "e.toml", "--order", "all"],
        &["export", "t", "--format", "json"],
        &["completions", "bash"],
        &["run", "e.toml", "--json", "--fresh"],
    ] {
        let mut child =
            lab.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Reads what one read gives, then closes the pipe.
        let mut first = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        end(child).expect(0);
        assert!(!first.is_empty(), "{arguments:?}");
    }
}

fn name_of(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap()
}

/// As far as no server is needed; with the scripts that `init` writes.
#[test]
fn every_ready_experiment_is_valid() {
    let listed = Lab::new().steelbench(&["init", "--like"]).expect(0).stdout;
    for path in testing::ready::experiments() {
        let (lab, name) = (Lab::new(), name_of(&path));
        assert!(listed.split([' ', ',', '\n']).any(|word| word == name), "{name}: {listed}");
        lab.steelbench(&["init", "--like", name]).expect(0);
        let source = lab.read(&format!("{name}.toml"));
        for used in source.split("$STEELBENCH_FOLDER/").skip(1) {
            let script = lab.path(used.split('"').next().unwrap().trim_end_matches('\\'));
            assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o755, "{name}");
        }
        let parsed = experiment::parse(&source, &REGISTRY.catalog()).and_then(|mut experiment| {
            experiment.folder = lab.path("");
            runner::load(REGISTRY, experiment)
        });
        let experiment = parsed.unwrap_or_else(|errors| {
            panic!("{}", errors.render(&path.display().to_string(), &source))
        });
        assert_eq!(experiment.name, name);
        let (results, permits) = (Path::new("results/none.steelbench"), Permits::default());
        let never = Stop::when(|| false);
        let findings = runner::preflight(REGISTRY, &experiment, results, &permits, &never);
        assert!(findings.invalid.is_empty(), "{}: {:?}", path.display(), findings.invalid);
    }
}

#[test]
#[ignore = "lane all: starts a server for each of many files"]
fn check_accepts_every_ready_experiment() {
    let lab = Lab::new();
    for path in testing::ready::experiments() {
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("[[knob]]") {
            let mut check = lab.command(&["tune", path.to_str().unwrap(), "--check"]);
            if text.contains("engine = \"duckdb\"") {
                let listed = std::env::var("STEELBENCH_TEST_DUCKDB_LIBS").unwrap_or_default();
                let Some(library) = listed.split(':').find(|path| !path.is_empty()) else {
                    crate::common::skipped("STEELBENCH_TEST_DUCKDB_LIBS names no libduckdb");
                    continue;
                };
                check.env("STEELBENCH_DUCKDB_LIB", library);
            }
            Exit::from(check.output().unwrap()).expect(0);
            continue;
        }
        // Wherever it is asked: the files that it names lie beside it.
        let ended = lab.steelbench(&["check", path.to_str().unwrap()]).expect(0);
        assert_eq!(ended.stdout.split(": valid").next(), Some(name_of(&path)));
    }
}

#[test]
fn a_wrong_command_line_is_code_2() {
    let lab = Lab::new();
    lab.steelbench(&["rum"]).expect(2).says("run");
    lab.steelbench(&["run"]).expect(2);
    lab.steelbench(&["--version"]).expect(0).shows("steelbench ");
    let build = lab.steelbench(&["--version", "--json"]).expect(0).stdout;
    let build: serde_json::Value = serde_json::from_str(&build).unwrap();
    assert_eq!(build["version"], env!("CARGO_PKG_VERSION"));
    assert!(build["target"].as_str().unwrap().starts_with(std::env::consts::ARCH), "{build}");
    assert_eq!(build["features"], serde_json::json!(["sqlserver"]));
    assert!(!build["commit"].as_str().unwrap().is_empty(), "{build}");
}

/// Names of the fields of an object, with those of what is in it, but for what a user has named.
fn fields(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                found.insert(path.clone());
                if !path.ends_with("[].levels") && !path.ends_with("[].settings") {
                    fields(&path, value, found);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                fields(&format!("{path}[]"), item, found);
            }
        }
        _ => {}
    }
}

#[test]
fn what_check_says_as_json_is_documented() {
    let lab = Lab::with(&scripted(2, "", ""));
    let mut written = BTreeSet::new();
    fields("", &lab.json(&["check", "e.toml"])[0], &mut written);
    let document = include_str!("../../../docs/formats.md");
    let table =
        document.split("### A file: kind `check`").nth(1).unwrap().split("\n## ").next().unwrap();
    let row = |line: &str| line.strip_prefix("| `")?.split('`').next().map(str::to_owned);
    let mut documented: BTreeSet<String> = table.lines().filter_map(row).collect();
    documented.extend(["schema".to_owned(), "kind".to_owned()]);
    assert_eq!(documented, written);
}
