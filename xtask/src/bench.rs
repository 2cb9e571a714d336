//! Measurements of ourselves by our own program: experiment files and scripts in `xtask/bench`,
//! most of them beside a peer whose trials interleave with ours. Figures are printed next to their
//! goals; nothing is asserted.

mod figures;
mod table;

use crate::process::{cargo, output, read, root, succeed, target, write};
use crate::tools::{DUCKDB_VERSIONS, install_tools, is_on_path};
use figures::Trial;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::{BENCHES, Bench};
use tempfile::TempDir;
use testing::faults;

/// The scale factor of TPC-H that takes a minute or two.
const QUICK_SCALE: f64 = 0.1;

/// Arguments of the command.
struct Options {
    /// Beginnings of names; empty: all.
    names: Vec<String>,
    /// Scale factor of data sets.
    scale: f64,
    /// Blocks of each experiment instead of those of its file.
    blocks: Option<f64>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { names: Vec::new(), scale: QUICK_SCALE, blocks: None };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut number = || {
                let number = rest.next().and_then(|text| text.parse().ok());
                let number = number.filter(|number: &f64| *number > 0.0);
                number.ok_or_else(|| format!("{argument} needs a number above 0"))
            };
            match argument.as_str() {
                "--scale" => options.scale = number()?,
                "--blocks" => options.blocks = Some(number()?),
                name if BENCHES.iter().any(|bench| bench.name.starts_with(name)) => {
                    options.names.push(name.into());
                }
                unknown => {
                    let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
                    let known = known.join(", ");
                    return Err(format!("no measurement is called {unknown}; there are {known}"));
                }
            }
        }
        Ok(options)
    }

    fn selects(&self, bench: &Bench) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| bench.name.starts_with(name))
    }
}

/// Runs the selected measurements.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let options = Options::parse(arguments)?;
    succeed(&mut cargo(&["build", "--quiet", "--release", "--bin", "steelbench"]))?;
    for bench in BENCHES.iter().filter(|bench| options.selects(bench)) {
        println!("== {}", bench.name);
        if let Some(program) = bench.needs
            && !is_on_path(&std::env::var_os("PATH").unwrap_or_default(), program)
        {
            println!("SKIPPED: {program} is not installed");
            continue;
        }
        succeed(cargo(&["build", "--quiet", "--release"]).args(bench.build))?;
        let laboratory = Laboratory::new(&options, bench)?;
        for experiment in bench.experiments() {
            let trials = laboratory.run(experiment.file, options.blocks)?;
            experiment.figures.iter().for_each(|figure| figures::print(figure, &trials));
        }
        if let Some(file) = bench.script {
            let is_python = Path::new(file).extension().is_some_and(|extension| extension == "py");
            let mut script = laboratory.command(if is_python { "python3" } else { "sh" });
            succeed(script.arg(place().join(file)))?;
        }
    }
    Ok(())
}

/// The folder of the files of all measurements.
fn place() -> PathBuf {
    root().join("xtask/bench")
}

/// Environment of a measurement.
struct Laboratory {
    /// For all that is written, on the file system of the target folder.
    folder: PathBuf,
    /// For servers of the measurement: their users can enter it, and names of sockets are short.
    _server: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Laboratory {
    fn new(options: &Options, bench: &Bench) -> Result<Self, String> {
        let folder = target().join("bench");
        create(&folder)?;
        let server = tempfile::Builder::new().prefix("steelbench-bench-").tempdir();
        let server = server.map_err(|error| format!("a folder for servers: {error}"))?;
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755))
            .map_err(|error| format!("{}: {error}", server.path().display()))?;
        let mut variables = vec![
            ("BENCH", place().display().to_string()),
            ("ROOT", root().display().to_string()),
            ("SCALE", options.scale.to_string()),
            ("XDG_CACHE_HOME", folder.join("cache").display().to_string()),
            ("SERVER", server.path().display().to_string()),
            ("PGHOST", server.path().display().to_string()),
            ("PGUSER", "bench".into()),
            ("PGDATABASE", "bench".into()),
            ("FAULTS", write_faults(&folder)?),
        ];
        let path = if bench.has_server {
            add_tools(&mut variables)?
        } else {
            std::env::var("PATH").unwrap_or_default()
        };
        let release = target().join("release").display().to_string();
        variables.push(("PATH", format!("{release}:{release}/examples:{path}")));
        Ok(Self { folder, _server: server, variables })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).envs(self.variables.iter().cloned());
        command
    }

    /// Runs an experiment from scratch; returns its trials.
    fn run(&self, name: &str, blocks: Option<f64>) -> Result<Vec<Trial>, String> {
        let file = place().join(format!("{name}.toml"));
        let mut text = read(&file)?;
        if let (Some(blocks), Some((begin, rest))) = (blocks, text.split_once("\nblocks = ")) {
            let end = rest.split_once('\n').map_or("", |(_, end)| end);
            text = format!("{begin}\nblocks = {blocks}\n{end}");
        }
        write(&self.folder.join(format!("{name}.toml")), &text)?;
        let mut run = self.command("steelbench");
        let printed = output(run.args(["run", &format!("{name}.toml"), "--fresh", "--json"]))?;
        let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok(events.filter_map(|event| Trial::from_event(&event)).collect())
    }
}

/// Installs the tools of servers and their peers, and adds the variables that name them. Returns
/// the search path, with the programs of the distribution's PostgreSQL first.
fn add_tools(variables: &mut Vec<(&'static str, String)>) -> Result<String, String> {
    // A measurement that lacks a tool fails by itself.
    let tools = install_tools(false)?;
    let find = |name: &str| {
        tools.iter().find(|(tool, _)| tool.ends_with(name)).map_or("", |(_, value)| value.as_str())
    };
    let mut bindirs = std::env::split_paths(find("PG_BINDIRS"));
    let bindir = bindirs.find(|bindir| bindir.join("pgbench").exists());
    let bindir = bindir.ok_or("there is no pgbench")?;
    let libraries = find("DUCKDB_LIBS").rsplit(':').next().unwrap_or_default();
    let version = DUCKDB_VERSIONS[DUCKDB_VERSIONS.len() - 1].split('-').next().unwrap_or_default();
    variables.push(("STEELBENCH_DUCKDB_LIB", libraries.into()));
    variables.push(("DUCKDB_VERSION", version.into()));
    Ok(format!("{}:{}", bindir.display(), find("PATH")))
}

/// Writes the faults of the tests as scripts of SQL; returns their folder.
fn write_faults(folder: &Path) -> Result<String, String> {
    let folder = folder.join("faults");
    create(&folder)?;
    write(&folder.join("tables.sql"), faults::TABLES)?;
    write(&folder.join("load.sql"), &faults::load())?;
    Ok(folder.display().to_string())
}

fn create(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
