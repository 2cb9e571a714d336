//! Recorded figures of any size: every output of them is made, and has no figure that is none.

use crate::attack::arena::{Arena, Random, Tries, USUAL, campaign};
use crate::common::scripted;
use observations::Recording;
use rusqlite::Connection;
use store::Store;
use testing::reports::disk::{self, Device};
use testing::{recordings, reports, sample};

/// Values of a REAL column; NULL is not a number, `9e999` infinite.
const FIGURES: [&str; 18] = [
    "NULL",
    "0",
    "-0.0",
    "5e-324",
    "1e-308",
    "1e-60",
    "1e-9",
    "0.1",
    "1",
    "-1",
    "1e9",
    "1e19",
    "1e60",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "9e999",
    "-9e999",
];
/// Values of a column of counts.
const COUNTS: [&str; 5] = ["0", "1", "2", "4294967295", "9223372036854775807"];
const SERIES: [&str; 4] =
    ["'[]'", "'[null,9e999,-9e999]'", "'[1e308,1e-308,0,-1,1e308]'", "'[1,1,1,1,1,1,1,1,1]'"];
/// Columns that are counts, but for those of 32 bits.
const COUNTED: &str = "work_amount transactions errors retries count samples sends_intended \
                       sends_missed sends_late send_delay_us_max reads read_bytes writes \
                       write_bytes flushes bytes percent_of lost failures sessions_max";

/// Results files with something in every column, of several studies and designs.
fn recorded(arena: &Arena) -> Vec<Vec<u8>> {
    let mut random = recordings::Random::new(1);
    let split = recordings::split_plot::SplitPlot {
        setups: 3,
        declared: true,
        spread: 0.1,
        spread_of_files: 0.1,
        effect: [0.2, 0.1],
    };
    let device = Device { service_s: 1e-4, delay_s: 1e-4 };
    let all: Vec<Recording> = vec![
        sample::recording(24),
        reports::two_factors(),
        reports::data_files(&["1", "4"], &[&[3.0, 3.1, 2.9, 3.0, 3.2], &[2.0, 2.1, 2.2, 1.9, 2.0]]),
        disk::saturation(device, &["1", "2", "4"], &["1", "4", "16"]),
        disk::disk_run(None),
        disk::database(100.0, 8192.0, None),
        split.measure(&mut random),
    ];
    let path = arena.path("made.steelbench");
    let made = all.into_iter().map(|recording| {
        let mut store = Store::create_or_open(&path).unwrap();
        let run = store.begin_run(&recording).unwrap();
        for trial in &recording.trials {
            store.record_trial(run, trial).unwrap();
        }
        drop(store);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        bytes
    });
    made.chain(DESIGNS.map(|more| run(arena, more))).collect()
}

/// Parts of experiments on the scripted engine, after its factors.
const DESIGNS: [[&str; 2]; 4] = [
    ["\"workload.connections\" = [1, 2, 4, 8]\n", ""],
    [
        "\"target.delay\" = [\"1 ms\", \"3 ms\"]\n\"workload.rows\" = [10, 20]\n\
         \"workload.key\" = [\"random\", \"sequential\"]\n",
        "[design]\nkind = \"screening\"\nresolution = \"IV\"\n",
    ],
    [
        "\"target.delay\" = [\"1 ms\", \"3 ms\"]\n",
        "[design]\nkind = \"response-surface\"\naxial = \"faced\"\n",
    ],
    ["", "[design]\nkind = \"race\"\n"],
];

/// Runs one of them.
fn run(arena: &Arena, [factors, design]: [&str; 2]) -> Vec<u8> {
    let file = scripted(6, "waits = [\"A log 0.4 0.1\"]\nspread = 0.3\ndelay = \"2 ms\"", design);
    // A face-centred design also has the level between.
    let file = file.replace("data_files\" = [1, 2]", "data_files\" = [1, 3]");
    let file = file.replace("[factors]\n", &format!("[factors]\n{factors}"));
    let file = file.replace(
        "connections = 1\n",
        if factors.contains("connections") { "" } else { "connections = 1\n" },
    );
    arena.write("e.toml", file.as_bytes());
    let outcome = arena.run(&["run", "e.toml", "--fresh"], USUAL).unwrap();
    assert!(outcome.status.success(), "{file}\n{}", outcome.text());
    let bytes = std::fs::read(arena.path("results/t.steelbench")).unwrap();
    std::fs::remove_dir_all(arena.path("results")).unwrap();
    bytes
}

/// Columns with figures, each with its table and values for it.
fn columns(file: &Connection) -> Vec<(String, String, &'static [&'static str])> {
    let sql = "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c \
               WHERE t.type = 'table' ORDER BY 1, 2";
    let mut statement = file.prepare(sql).unwrap();
    let row = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let all: Vec<(String, String, String)> =
        statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap();
    let values = |column: &str, kind: &str| match column {
        "interval_values" => Some(&SERIES[..]),
        _ if kind == "REAL" => Some(&FIGURES[..]),
        _ => COUNTED.split_whitespace().any(|name| name == column).then_some(&COUNTS[..]),
    };
    all.into_iter()
        .filter_map(|(table, column, kind)| {
            let values = values(&column, &kind)?;
            Some((table, column, values))
        })
        .collect()
}

/// Replaces figures of some columns, in all rows or in some of them.
fn alter(path: &std::path::Path, random: &mut Random) -> Result<String, rusqlite::Error> {
    let file = Connection::open(path)?;
    let columns = columns(&file);
    let mut all = String::new();
    for _ in 0..=random.below(6) {
        let (table, column, values) = random.pick(&columns);
        let [first, second] = [(); 2].map(|()| *random.pick(values));
        let (step, rest) = (1 + random.below(3), random.below(3));
        let sql = format!(
            "UPDATE {table} SET {column} = CASE rowid / {step} % 3 WHEN {rest} THEN {first} ELSE \
             {second} END;"
        );
        // Columns that are never NULL stay as they are.
        if file.execute_batch(&sql).is_ok() {
            all.push_str(&sql);
        }
    }
    Ok(all)
}

/// Two configurations of a file, as `compare` names them.
fn configurations(path: &std::path::Path) -> [String; 2] {
    let file = Connection::open(path).unwrap();
    let sql = "SELECT group_concat(factor || '=' || level, ',') FROM configuration_levels GROUP BY \
               configuration ORDER BY configuration";
    let mut statement = file.prepare(sql).unwrap();
    let all: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    [all[0].clone(), all[all.len() - 1].clone()]
}

/// Makes every output of a results file.
fn show_all(arena: &Arena) -> Result<(), String> {
    let [from, to] = configurations(&arena.path("results/t.steelbench"));
    let commands: &[&[&str]] = &[
        &["show", "t"],
        &["show", "t", "--full"],
        &["show", "t", "--json"],
        &["show", "t", "--md"],
        &["show", "t", "--stability"],
        &["report", "t"],
        &["export", "t", "--format", "csv"],
        &["export", "t", "--format", "json"],
        &["export", "t", "--format", "parquet"],
        &["export", "t", "--format", "xlsx"],
    ];
    // These may have nothing to compare or to fit.
    let others: &[&[&str]] = &[
        &["compare", "t", &from, &to, "--full"],
        &["compare", "t", &from, &to, "--fail-if", "slower:3%", "--json"],
        &["compare", "t@1", "t@1", "--all"],
        &["compare", "t@1", "t@1", "--fail-if", "slower:3%"],
        &["compare", "--baseline", "t@1", "t@1", "--candidate", "t@1", "t@1"],
        &["predict", "t", "--set", "connections=16"],
        &["predict", "t", "--set", "cpus=8", "--set", "waits.A=0"],
        &["predict", "t", "--set", "rate=2000"],
        &["history", "t"],
    ];
    for (at, command) in commands.iter().chain(others).enumerate() {
        let outcome = arena.run(command, USUAL)?;
        let text = outcome.text();
        if at < commands.len() && !outcome.status.success() {
            return Err(format!("{command:?}: {text}"));
        }
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        if words.any(|word| matches!(word, "NaN" | "inf" | "infx" | "NaNx")) {
            let is_none = |line: &&str| line.contains("NaN") || line.contains("inf");
            let lines: Vec<&str> = text.lines().filter(is_none).take(5).collect();
            return Err(format!("{command:?} prints {lines:#?}"));
        }
    }
    arena.is_clean()
}

#[test]
fn figures_of_any_size() {
    let arena = Arena::new();
    let recorded = recorded(&arena);
    campaign("figures_of_any_size", Tries { short: 11, full: 4000 }, |random| {
        let bytes = random.in_turn(&recorded);
        let _ = std::fs::remove_dir_all(arena.path("results"));
        std::fs::create_dir(arena.path("results")).unwrap();
        arena.write("results/t.steelbench", bytes);
        let path = arena.path("results/t.steelbench");
        let altered = alter(&path, random).map_err(|error| error.to_string())?;
        show_all(&arena).map_err(|why| format!("{altered}\n{why}"))
    });
}
