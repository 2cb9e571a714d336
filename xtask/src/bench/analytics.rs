//! Data sets, scans and cost models beside the engines' own loaders and shells.

use super::figures::{pairs, print, print_median, print_ratios, ratios, ratios_within};
use super::peer_server::PeerServer;
use super::run::{Bench, Ran, example, run_by};
use crate::process::{output, root, succeed};
use crate::tools::{DUCKDB_VERSIONS, install_tools, python};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Pairs of loads.
const LOADS: u64 = 3;
/// Name of our experiment.
const EXPERIMENT: &str = "bench-analytics";
/// The time that scans are compared where the ratio is near 1, and where it need not be known as
/// well.
const CLOSELY: Duration = Duration::from_mins(2);
const ROUGHLY: Duration = Duration::from_secs(30);
/// SQLite with a cache that holds the table.
const SQLITE: &str = "engine = \"sqlite\"\nsettings = { cache_size = -2000000 }";
/// Scans of a measurement: few, because processes differ more than scans of one do.
const SCANS_EACH: usize = 8;

/// Predictions whose parts are printed, of each engine.
const WORST: usize = 8;

/// LINEITEM as TPC-H defines it (1.4.1), and as SQLite's types say it.
const COLUMNS: &str = "l_orderkey BIGINT NOT NULL, l_partkey BIGINT NOT NULL, l_suppkey BIGINT \
                       NOT NULL, l_linenumber INTEGER NOT NULL, l_quantity DECIMAL(15,2) NOT \
                       NULL, l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT \
                       NULL, l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, \
                       l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE \
                       NOT NULL, l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, \
                       l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL";
const KEY: &str = "PRIMARY KEY (l_orderkey, l_linenumber)";
const SQLITE_TYPES: [(&str, &str); 7] = [
    ("BIGINT", "INTEGER"),
    ("DECIMAL(15,2)", "REAL"),
    ("CHAR(1)", "TEXT"),
    ("CHAR(10)", "TEXT"),
    ("CHAR(25)", "TEXT"),
    ("VARCHAR(44)", "TEXT"),
    ("DATE", "TEXT"),
];
/// Columns that are padded: `char(n)` of which the text is shorter.
const PADDED: [(usize, usize); 2] = [(13, 25), (14, 10)];

/// The scanned query: four sums of one table, one row returned.
const SCAN: &str =
    "SELECT sum(l_partkey), sum(l_suppkey), sum(l_linenumber), sum(l_quantity) FROM lineitem";

/// Measures the time that a table takes to load.
pub fn loads(bench: &Bench) -> Result<(), String> {
    Peers::run(bench, Peers::load)
}

/// Overhead of our scan over the engine's.
pub fn scans(bench: &Bench) -> Result<(), String> {
    Peers::run(bench, Peers::scan)
}

/// Measures the errors of cost models.
pub fn models(bench: &Bench) -> Result<(), String> {
    Peers::run(bench, Peers::misfit)
}

/// A peer: its name, our target next to it, and its seconds or milliseconds.
type Peer<'p> = (&'static str, String, Box<dyn Fn() -> Result<f64, String> + 'p>);

struct Peers<'a> {
    bench: &'a Bench,
    /// Files of this measurement alone.
    folder: PathBuf,
    csv: PathBuf,
    server: PeerServer,
    /// The library that we use, and a Python that imports the same version.
    duckdb_library: String,
    duckdb_python: PathBuf,
    scan_sqlite: PathBuf,
}

impl<'a> Peers<'a> {
    /// Measures on files that are removed at the end.
    fn run(bench: &'a Bench, measure: fn(&Self) -> Result<(), String>) -> Result<(), String> {
        let peers = Self::new(bench)?;
        let measured = measure(&peers);
        // What remains is below the folder of the measurements.
        let _ = fs::remove_dir_all(&peers.folder).and_then(|()| fs::remove_dir_all(bench.cache()));
        measured
    }

    fn new(bench: &'a Bench) -> Result<Self, String> {
        let folder = bench.folder.join("analytics");
        // A cache of before would have the data sets already.
        let _ = (fs::remove_dir_all(&folder), fs::remove_dir_all(bench.cache()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let tools = install_tools(true)?;
        let libraries = tools.iter().find(|(name, _)| name.ends_with("DUCKDB_LIBS"));
        let duckdb_library =
            libraries.and_then(|(_, list)| list.split(':').next()).unwrap_or_default();
        let version = DUCKDB_VERSIONS[0].split('-').next().unwrap_or_default();
        let duckdb_python = bench.folder.join(format!("python-duckdb-{version}"));
        if !duckdb_python.join("duckdb").exists() {
            let mut pip = Command::new(python());
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--target",
            ]);
            succeed(pip.arg(&duckdb_python).arg(format!("duckdb=={version}")))?;
        }
        let csv = folder.join("lineitem.csv");
        let mut peers = Self {
            bench,
            csv,
            server: PeerServer::start()?,
            duckdb_library: duckdb_library.to_owned(),
            duckdb_python,
            scan_sqlite: example("sqlite", "straight_scan")?,
            folder,
        };
        peers.csv = peers.padded_csv()?;
        Ok(peers)
    }

    /// LINEITEM as a file, with its texts as long as those that we load.
    fn padded_csv(&self) -> Result<PathBuf, String> {
        let scale = self.bench.scale.to_string();
        let folder = self.folder.to_string_lossy();
        output(
            &mut self.bench.command(&["data", "lineitem", "--scale", &scale, "--output", &folder]),
        )?;
        let path = self.folder.join("padded.csv");
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let lines = BufReader::new(File::open(&self.csv).map_err(failed)?).lines();
        let mut padded = BufWriter::new(File::create(&path).map_err(failed)?);
        for (number, line) in lines.enumerate() {
            let line = line.map_err(failed)?;
            // Only the last column has commas of its own.
            let mut parts: Vec<String> = line.splitn(16, ',').map(str::to_owned).collect();
            for (at, length) in PADDED.into_iter().filter(|_| number > 0) {
                parts[at] = format!("{:<length$}", parts[at]);
            }
            writeln!(padded, "{}", parts.join(",")).map_err(failed)?;
        }
        fs::remove_file(&self.csv).map_err(failed)?;
        padded.flush().map_err(failed).map(|()| path)
    }

    /// Loads the same rows into the same table, its key and statistics included: seconds of the
    /// engine's own loader against ours.
    fn load(&self) -> Result<(), String> {
        let loads: [Peer; 3] = [
            ("sqlite (.import)", "engine = \"sqlite\"".into(), Box::new(|| self.sqlite_import())),
            ("duckdb (COPY FROM CSV)", self.duckdb_target(), Box::new(|| self.duckdb_copy())),
            (
                "postgres (\\copy, FREEZE)",
                self.postgres_target(),
                Box::new(|| self.postgres_copy()),
            ),
        ];
        for (name, target, peer) in &loads {
            let pairs = pairs(
                LOADS,
                |_| peer(),
                |round| self.ours(target, 1, round).map(|ran| ran.load_s),
            )?;
            for (peer_s, ours_s) in &pairs {
                println!(
                    "  {name}, LINEITEM SF {}: {peer_s:.2} s, ours {ours_s:.2} s",
                    self.bench.scale
                );
            }
            print_ratios(&format!("speed ours / {name}"), &ratios(&pairs));
        }
        Ok(())
    }

    /// Milliseconds of a scan as our trial has it, against the engine's own shell on what its
    /// loader made, and a loop on what ours made.
    fn scan(&self) -> Result<(), String> {
        for make in [Self::sqlite_import, Self::duckdb_copy, Self::postgres_copy] {
            make(self)?;
        }
        let scans: [(Duration, Peer); 4] = [
            (
                CLOSELY,
                (
                    "sqlite, a loop on the same library and file",
                    SQLITE.to_owned(),
                    Box::new(|| self.sqlite_loop()),
                ),
            ),
            (CLOSELY, ("psql (\\timing)", self.postgres_target(), Box::new(|| self.psql_timing()))),
            (
                ROUGHLY,
                (
                    "sqlite3 (.timer; the system's version)",
                    SQLITE.to_owned(),
                    Box::new(|| self.sqlite_timer()),
                ),
            ),
            (
                ROUGHLY,
                ("duckdb (profiling)", self.duckdb_target(), Box::new(|| self.duckdb_profile())),
            ),
        ];
        for (time, (name, target, shell)) in &scans {
            let ours = || self.ours(target, SCANS_EACH, 0).map(|ran| ran.scan_ms);
            let what =
                format!("time of a scan ours / {name} ({:.2} and {:.2} ms)", ours()?, shell()?);
            print_median(&what, &ratios_within(*time, ours, shell)?);
        }
        self.instructions()
    }

    /// Instructions of our whole process for one more scan, against those of the loop: times differ
    /// by more from call to call than the two do.
    fn instructions(&self) -> Result<(), String> {
        const FEW: usize = 2;
        const MANY: usize = 6;
        if Command::new("valgrind").arg("--version").output().is_err() {
            println!("SKIPPED: instructions of a scan: valgrind is not installed");
            return Ok(());
        }
        let of_one = |of: &dyn Fn(usize) -> Result<f64, String>| -> Result<f64, String> {
            Ok((of(MANY)? - of(FEW)?) / (MANY - FEW) as f64)
        };
        let (ours, peer) = (
            of_one(&|scans| {
                // Writes the file, and the data set where it is not kept: neither is to be counted.
                self.trial(SQLITE, scans, "0 s", 0)?;
                let file = format!("{EXPERIMENT}.toml");
                instructions(&self.bench.command(&["run", "--fresh", &file]))
            })?,
            of_one(&|scans| instructions(&self.straight(scans)?))?,
        );
        println!(
            "instructions of a scan ours / sqlite, that loop ({ours:.0} and {peer:.0}): {:.4}",
            ours / peer
        );
        Ok(())
    }

    fn duckdb_target(&self) -> String {
        format!("engine = \"duckdb\"\nlibrary = \"{}\"", self.duckdb_library)
    }

    fn postgres_target(&self) -> String {
        format!("engine = \"postgres\"\nurl = \"{}\"", self.server.url())
    }

    /// Our trial on a data set that no cache has in the first round, and that the cache of this
    /// measurement keeps for the same one.
    fn ours(&self, target: &str, scans: usize, round: u64) -> Result<Ours, String> {
        // No peer counts its first scan, which fills caches.
        let warmup = if scans > 1 { "200 ms" } else { "0 s" };
        let scan_ms = self.trial(target, scans, warmup, round)?.trial()?.response("scan")?;
        let results = self.bench.folder.join("results").join(format!("{EXPERIMENT}.steelbench"));
        let sql = "SELECT value FROM facts WHERE name = 'load_s' ORDER BY trial DESC LIMIT 1";
        let load_s = output(Command::new("sqlite3").arg(results).arg(sql))?;
        let load_s =
            load_s.trim().parse().map_err(|error| format!("load_s {load_s:?}: {error}"))?;
        Ok(Ours { load_s, scan_ms })
    }

    fn trial(&self, target: &str, scans: usize, warmup: &str, round: u64) -> Result<Ran, String> {
        let text = format!(
            "[target]\n{target}\ncache = \"warm\"\n[workload]\nprobe = \"scan\"\ndata = \
             \"lineitem\"\nscale = {}\ndata_seed = {round}\nscans = {scans}\nwarmup = \
             \"{warmup}\"\naggregates = [\"sum(l_partkey)\", \"sum(l_suppkey)\", \
             \"sum(l_linenumber)\", \"sum(l_quantity)\"]\n[repeats]\nblocks = 1\n",
            self.bench.scale
        );
        self.bench.experiment(EXPERIMENT, &text, &[])
    }

    fn sqlite_import(&self) -> Result<f64, String> {
        let file = self.folder.join("peer.db");
        let _ = fs::remove_file(&file);
        let columns =
            SQLITE_TYPES.iter().fold(COLUMNS.to_owned(), |sql, (from, to)| sql.replace(from, to));
        let create = format!("CREATE TABLE lineitem ({columns}, {KEY}) WITHOUT ROWID;");
        let import = format!(".import --csv --skip 1 {} lineitem", self.csv.display());
        let mut shell = Command::new("sqlite3");
        shell.arg(&file).args([
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
            &create,
            &import,
        ]);
        timed(&mut shell)
    }

    fn duckdb_copy(&self) -> Result<f64, String> {
        let program = format!(
            "connection.execute(\"CREATE TABLE lineitem ({COLUMNS})\")\nstart = \
             time.perf_counter()\nconnection.execute(\"COPY lineitem FROM '{}' \
             (HEADER)\")\nconnection.execute('ALTER TABLE lineitem ADD \
             {KEY}')\nconnection.execute('CHECKPOINT')\nprint(time.perf_counter() - start)\n",
            self.csv.display()
        );
        let file = self.folder.join("peer.duckdb");
        let _ = fs::remove_file(&file);
        number(&self.duckdb(&program)?)
    }

    fn duckdb_profile(&self) -> Result<f64, String> {
        let profile = self.folder.join("profile.json");
        let program = format!(
            "connection.execute(\"PRAGMA enable_profiling = \
             'json'\")\nconnection.execute(\"PRAGMA profiling_output = '{}'\")\ntimes = []\nfor _ \
             in range({SCANS_EACH} + 1):\n    connection.execute('{SCAN}').fetchall()\n    \
             times.append(json.load(open('{}'))['latency'])\nprint(1e3 * sum(times[1:]) / \
             {SCANS_EACH})\n",
            profile.display(),
            profile.display()
        );
        number(&self.duckdb(&program)?)
    }

    fn duckdb(&self, program: &str) -> Result<String, String> {
        let mut python = Command::new(python());
        python.env("PYTHONPATH", &self.duckdb_python);
        let begin = format!(
            "import duckdb, json, time\nconnection = \
             duckdb.connect('{}')\nconnection.execute('SET enable_progress_bar = false')\n",
            self.folder.join("peer.duckdb").display()
        );
        output(python.args(["-c", &format!("{begin}{program}")]))
    }

    fn postgres_copy(&self) -> Result<f64, String> {
        self.server.sql("DROP TABLE IF EXISTS lineitem")?;
        self.server.sql(&format!("CREATE TABLE lineitem ({COLUMNS})"))?;
        let copy = format!(
            "\\copy lineitem FROM '{}' WITH (FORMAT csv, HEADER, FREEZE)",
            self.csv.display()
        );
        let key = format!("ALTER TABLE lineitem ADD {KEY}");
        let steps =
            ["BEGIN", "TRUNCATE lineitem", &copy, "COMMIT", "VACUUM ANALYZE lineitem", &key];
        let arguments: Vec<&str> =
            ["-qX"].into_iter().chain(steps.iter().flat_map(|sql| ["-c", sql])).collect();
        let start = Instant::now();
        self.server.peer("psql", &arguments)?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn psql_timing(&self) -> Result<f64, String> {
        let mut arguments = vec!["-qAtX", "-c", "\\timing on"];
        (0..=SCANS_EACH).for_each(|_| arguments.extend(["-c", SCAN]));
        let printed = self.server.peer("psql", &arguments)?.printed;
        // `Time: 123.456 ms (00:00.123)`
        mean_ms(
            printed
                .lines()
                .filter_map(|line| line.strip_prefix("Time: ")?.split(' ').next()?.parse().ok()),
        )
    }

    fn sqlite_timer(&self) -> Result<f64, String> {
        let scans = format!("{SCAN};\n").repeat(SCANS_EACH + 1);
        let script = self.folder.join("scans.sql");
        let failed = |error: std::io::Error| format!("{}: {error}", script.display());
        fs::write(&script, format!("PRAGMA cache_size = -2000000;\n.timer on\n{scans}"))
            .map_err(failed)?;
        let mut shell = Command::new("sqlite3");
        // Commands of the shell count only on its standard input.
        shell.arg(self.folder.join("peer.db")).stdin(File::open(&script).map_err(failed)?);
        let printed = output(&mut shell)?;
        // `Run Time: real 0.123 user 0.120 sys 0.003`
        mean_ms(
            printed
                .lines()
                .filter_map(|line| {
                    line.strip_prefix("Run Time: real ")?.split(' ').next()?.parse::<f64>().ok()
                })
                .map(|s| s * 1e3),
        )
    }

    fn sqlite_loop(&self) -> Result<f64, String> {
        number(&output(&mut self.straight(SCANS_EACH)?)?)
    }

    /// Runs the loop on the file that Steelbench's trials scan, so that both read the same pages.
    fn straight(&self, scans: usize) -> Result<Command, String> {
        let files = self.bench.cache().join("steelbench/sqlite");
        let kept = fs::read_dir(&files)
            .map_err(|error| format!("{}: {error}", files.display()))?
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("data-"));
        let used = kept.max_by_key(|entry| entry.metadata().and_then(|of| of.modified()).ok());
        let file = used.ok_or_else(|| format!("{}: no data set", files.display()))?.path();
        let mut straight = Command::new(&self.scan_sqlite);
        straight.arg(file).args([SCAN, &scans.to_string()]);
        Ok(straight)
    }

    /// Measures the errors of the cost models of the ready experiment when they predict a
    /// configuration from the others, and the parts of the worst of these predictions.
    fn misfit(&self) -> Result<(), String> {
        let file = root().join("experiments/scan-cost.toml");
        let command = |arguments: &[&str]| {
            let mut command = self.bench.command(arguments);
            command.env("STEELBENCH_DUCKDB_LIB", &self.duckdb_library);
            command
        };
        output(command(&["run", "--fresh"]).arg(file))?;
        let shown = output(&mut command(&["show", "scan-cost", "--json"]))?;
        let summary: Value =
            serde_json::from_str(&shown).map_err(|error| format!("show --json: {error}"))?;
        let models = summary["costs"].as_array().ok_or("show --json has no costs")?;
        for engine in ["sqlite", "postgres", "duckdb"].map(|name| format!("engine={name}")) {
            let values: Vec<&Value> = models
                .iter()
                .filter(|model| model["group"].as_str().unwrap_or_default() == engine)
                .collect();
            let mut rows: Vec<(f64, String)> =
                values.iter().flat_map(|model| predictions(model)).collect();
            rows.sort_by(|left, right| right.0.abs().total_cmp(&left.0.abs()));
            let errors: Vec<f64> = rows.iter().map(|(error, _)| error.abs()).collect();
            if errors.is_empty() {
                return Err(format!("no cost model of {engine}: is it installed?"));
            }
            print(&format!("leave-one-out error of the cost model, {engine}"), &errors, 1, " %");
            rows.iter().take(WORST).for_each(|(_, made_of)| println!("  {made_of}"));
        }
        Ok(())
    }
}

/// The error in percent of each configuration of a cost model, and a line with the parts of the
/// prediction.
fn predictions(model: &Value) -> Vec<(f64, String)> {
    let access = model["access"].as_str().map(|access| format!(" ({access})")).unwrap_or_default();
    let row = |row: &Value| {
        let (error, predicted) = (100.0 * row["error"].as_f64()?, row["predicted_ms"].as_f64()?);
        let parts = row["parts"].as_array().into_iter().flatten();
        let parts = parts.filter_map(|part| Some((part["name"].as_str()?, part["ms"].as_f64()?)));
        let parts: Vec<String> = parts
            .filter(|(_, ms)| *ms >= 0.01 * predicted)
            .map(|(name, ms)| format!("{name} {:.0} %", 100.0 * ms / predicted))
            .collect();
        let [label, spread] = [row["label"].as_str()?.to_owned(), spread(&row["measured"])];
        Some((
            error,
            format!(
                "{error:+.1} %: {label}{access}: measured {:.4} ms{spread}, predicted \
                 {predicted:.4} ms of: {}",
                row["measured"]["mean"].as_f64()?,
                parts.join(", ")
            ),
        ))
    };
    model["rows"].as_array().into_iter().flatten().filter_map(row).collect()
}

/// ` (blocks 1.0 to 1.2)`: how far the measurements themselves lie apart.
fn spread(measured: &Value) -> String {
    let ends = measured["min"].as_f64().zip(measured["max"].as_f64());
    ends.map(|(low, high)| format!(" (blocks {low:.4} to {high:.4})")).unwrap_or_default()
}

/// Our trial's times.
struct Ours {
    load_s: f64,
    scan_ms: f64,
}

/// The mean of all but the first, which fills caches.
fn mean_ms(times: impl Iterator<Item = f64>) -> Result<f64, String> {
    let times: Vec<f64> = times.skip(1).collect();
    if times.len() == SCANS_EACH {
        return Ok(times.iter().sum::<f64>() / times.len() as f64);
    }
    Err(format!("{} times instead of {SCANS_EACH}", times.len()))
}

fn timed(command: &mut Command) -> Result<f64, String> {
    let start = Instant::now();
    output(command)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Instructions of a process from start to end, as callgrind counts them.
fn instructions(command: &Command) -> Result<f64, String> {
    let mut counted = Command::new("valgrind");
    counted.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let result =
        run_by(&mut counted, command).output().map_err(|error| format!("valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&result.stderr);
    let total = text.lines().find_map(|line| Some(line.split_once("refs:")?.1.replace(',', "")));
    number(&total.ok_or_else(|| format!("{counted:?}: {}\n{text}", result.status))?)
}

fn number(printed: &str) -> Result<f64, String> {
    printed.trim().parse().map_err(|error| format!("{printed:?}: {error}"))
}
