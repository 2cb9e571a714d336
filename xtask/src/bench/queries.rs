//! Cost of `queries` and `plan`, and of `queries` to its server.

use super::figures::{cpu_s, pairs, print, print_ratios, ratios};
use super::peer_server::PeerServer;
use super::run::{Bench, Used, used};
use crate::process::{output, root};
use crate::tools::python;
use std::fmt::Write;
use std::fs::read_to_string;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs of what is measured without a peer.
const RUNS: usize = 5;
/// Plans in a folder.
const PLANS: usize = 10_000;
/// Pairs of a load that is watched and one that is not.
const ROUNDS: u64 = 8;
/// Twelve times as often as once a minute.
const EVERY: &str = "5s";
const OFTEN: f64 = 12.0;
/// Intervals in a load of 30 s.
const INTERVALS: f64 = 6.0;
/// Statements that the server knows in addition to the load's.
const STATEMENTS: u32 = 5_000;
/// pgbench's load, the same work each time: about half a minute.
const LOAD: [&str; 11] = ["-n", "-M", "prepared", "-c", "4", "-j", "1", "-R", "1500", "-T", "30"];

/// Processor time of a server's processes, and of those of our sessions, s.
type Cost = (f64, f64);

/// A server that knows many statements, and has 2,100 indexes.
fn server() -> Result<PeerServer, String> {
    let server = PeerServer::start_with(
        "-c shared_preload_libraries=pg_stat_statements -c pg_stat_statements.max=10000",
    )?;
    server.sql("CREATE EXTENSION pg_stat_statements")?;
    let mut many = String::new();
    for number in 0..STATEMENTS {
        // By constants and names of columns the server does not tell statements apart. Writing to a
        // text cannot fail.
        let (table, columns) = (number / 50, (number % 50) as usize);
        if columns == 0 {
            let columns: Vec<String> = (0..20).map(|column| format!("c{column} int")).collect();
            let _ = writeln!(
                many,
                "CREATE TABLE many_{table} (a int PRIMARY KEY, {});",
                columns.join(", ")
            );
            for column in 0..20 {
                let _ = writeln!(many, "CREATE INDEX ON many_{table} (c{column});");
            }
        }
        let _ = writeln!(many, "SELECT a{} FROM many_{table} WHERE a = 1;", ", a".repeat(columns));
    }
    let file = server.file("many.sql");
    std::fs::write(&file, many).map_err(|error| format!("{}: {error}", file.display()))?;
    server.peer("psql", &["-qAtX", "-o", "/dev/null", "-f", &file.to_string_lossy()])?;
    Ok(server)
}

/// `queries` of a server with many statements and indexes, with page and workbook, which others
/// open then.
pub fn whole(bench: &Bench) -> Result<(), String> {
    let server = server()?;
    let [page, book] =
        ["html", "xlsx"].map(|end| bench.folder.join(format!("bench-queries.{end}")));
    let mut command = bench.command(&["queries", &server.url(), "--statements", "100000"]);
    command.arg("--html").arg(&page).arg("--workbook").arg(&book);
    let there = server.sql(
        "SELECT (SELECT count(*) FROM pg_stat_statements) || ' statements, ' || (SELECT count(*) \
         FROM pg_stat_user_indexes) || ' indexes'",
    )?;
    measured(
        &format!("queries --html --workbook of {} (goals 5 s, 200 MB)", there.trim()),
        &command,
    )?;
    for page in [&page, &book] {
        let bytes = page.metadata().map_err(|error| format!("{}: {error}", page.display()))?.len();
        println!("  {}: {:.1} MB", page.display(), bytes as f64 / 1e6);
    }
    let mut read = Command::new(python());
    println!("  openpyxl: {}", said(read.args(["-c", SHEETS]).arg(&book)));
    // One file for each sheet.
    let sheets = server.file("sheets");
    let mut office = Command::new("soffice");
    office.args([
        "--headless",
        "--convert-to",
        "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
    ]);
    let converted = said(office.arg("--outdir").arg(&sheets).arg(&book));
    let mut rows = Command::new(python());
    let rows = rows.args(["-c", CONVERTED]).current_dir(&sheets);
    println!("  LibreOffice: {}", if sheets.is_dir() { said(rows) } else { converted });
    Ok(())
}

/// Names of sheets with their numbers of rows.
const SHEETS: &str = "import openpyxl, sys\nfor sheet in openpyxl.load_workbook(sys.argv[1], \
                      read_only=True):\n    print(sheet.title, sum(1 for row in \
                      sheet.iter_rows()) - 1)";

/// Conversion of files that `LibreOffice` has written.
const CONVERTED: &str = "import csv, glob\nfor name in sorted(glob.glob('*.csv')):\n    \
                         print(name, sum(1 for row in csv.reader(open(name, newline=''))) - 1)";

/// Returns a program's output in one line, or the reason for its failure.
fn said(command: &mut Command) -> String {
    let text = output(command).unwrap_or_else(|error| format!("SKIPPED: {error}"));
    text.lines().collect::<Vec<_>>().join(", ")
}

/// `plan` of a folder with many plans: real ones where there are any, else those of our tests,
/// under as many names.
pub fn plan_folder(bench: &Bench) -> Result<(), String> {
    let real = root().join("../shared/plans");
    let source =
        if real.is_dir() { real } else { root().join("crates/engines/postgres/tests/plans") };
    let folder = bench.folder.join("plans");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let found = output(Command::new("find").arg(&source).args([
        "-name",
        "*.sqlplan",
        "-o",
        "-name",
        "*.json",
    ]))?;
    let files: Vec<&Path> = found.lines().map(Path::new).collect();
    let mut bytes = 0;
    for (number, file) in files.iter().cycle().take(PLANS).enumerate() {
        let end = file.extension().unwrap_or_default().to_string_lossy();
        bytes += std::fs::copy(file, folder.join(format!("{number}.{end}"))).map_err(failed)?;
    }
    let what = format!(
        "plan of {PLANS} files, {} different, {:.0} MB (goal 10 s)",
        files.len(),
        bytes as f64 / 1e6
    );
    let mut command = bench.command(&["plan"]);
    measured(&what, command.arg(&folder))?;
    std::fs::remove_dir_all(&folder).map_err(failed)
}

/// Prints what some runs of a command take.
fn measured(what: &str, command: &Command) -> Result<(), String> {
    let runs: Vec<[f64; 3]> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            let Used { cpu_s, peak_mb, .. } = used(command)?;
            Ok([begun.elapsed().as_secs_f64(), cpu_s, peak_mb])
        })
        .collect::<Result<_, String>>()?;
    println!("{what}:");
    for (at, name, unit) in
        [(0, "wall time", " s"), (1, "processor time", " s"), (2, "most memory", " MB")]
    {
        let column: Vec<f64> = runs.iter().map(|run| run[at]).collect();
        print(&format!("  {name}"), &column, 2, unit);
    }
    Ok(())
}

/// Processor time of a server under the same load with `queries --every` and without, in turns.
pub fn server_share(bench: &Bench) -> Result<(), String> {
    let server = server()?;
    server.peer("pgbench", &["-i", "-q", "-s", "5"])?;
    let pairs = pairs(ROUNDS, |_| cost(bench, &server, true), |_| cost(bench, &server, false))?;
    let (all, shares): (Vec<_>, Vec<_>) =
        pairs.iter().map(|(with, without)| ((with.0, without.0), 100.0 * with.1 / with.0)).unzip();
    println!("{STATEMENTS} statements, --every {EVERY}, {ROUNDS} pairs of 30 s:");
    print("  our sessions' share of the server's CPU", &shares, 2, " %");
    let each_minute: Vec<f64> = shares.iter().map(|share| share / OFTEN).collect();
    print("  a twelfth of that, as with one interval a minute (goal 1 %)", &each_minute, 2, " %");
    let each_ms: Vec<f64> = pairs.iter().map(|(with, _)| 1e3 * with.1 / INTERVALS).collect();
    print("  our sessions' CPU for each interval", &each_ms, 1, " ms");
    print_ratios("  CPU of the server with / without", &ratios(&all));
    Ok(())
}

fn cost(bench: &Bench, server: &PeerServer, is_watched: bool) -> Result<Cost, String> {
    let file = bench.folder.join("bench-queries.steelbench");
    let _ = std::fs::remove_file(&file);
    let before_s = server_cpu_s(server)?;
    let mut watch = is_watched
        .then(|| {
            let mut watch =
                bench.command(&["queries", &server.url(), "--every", EVERY, "--output"]);
            watch
                .arg(&file)
                .stdout(Stdio::null())
                .spawn()
                .map_err(|error| format!("steelbench: {error}"))
        })
        .transpose()?;
    server.peer("pgbench", &LOAD)?;
    let ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'steelbench queries'";
    let sessions = server.sql(ours)?;
    if sessions.trim().is_empty() == is_watched {
        return Err(format!(
            "sessions of `queries` while it is watched ({is_watched}): {sessions:?}"
        ));
    }
    let own_s = sessions.lines().map(on_processor_s).sum::<Result<f64, String>>()?;
    let all_s = server_cpu_s(server)? - before_s;
    if let Some(watch) = &mut watch {
        output(Command::new("kill").args(["-INT", &watch.id().to_string()]))?;
        watch.wait().map_err(|error| format!("steelbench: {error}"))?;
    }
    Ok((all_s, own_s))
}

/// CPU time of a process, by the scheduler's own count.
fn on_processor_s(pid: &str) -> Result<f64, String> {
    let text = read(&format!("/proc/{pid}/schedstat"))?;
    let ns = text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
    ns.map(|ns| ns / 1e9).ok_or_else(|| format!("/proc/{pid}/schedstat: {text}"))
}

/// CPU time of a server: of its processes, and of those that have ended.
fn server_cpu_s(server: &PeerServer) -> Result<f64, String> {
    let pid = read(&server.file("data/postmaster.pid").to_string_lossy())?;
    let pid = pid.lines().next().unwrap_or_default().to_owned();
    // Its own and that of its children.
    let ended_s = cpu_s(&pid, 4)?;
    let children = read(&format!("/proc/{pid}/task/{pid}/children"))?;
    // A child that ends in between is counted next time, with those that have ended.
    let living_s: f64 = children.split_whitespace().filter_map(|child| cpu_s(child, 2).ok()).sum();
    Ok(ended_s + living_s)
}

fn read(path: &str) -> Result<String, String> {
    read_to_string(path).map_err(|error| format!("{path}: {error}"))
}
