//! Comparing what two builds of the program say of the same recordings: `cargo xtask compare`.
//!
//! A change that must not change what users see is checked by this: the old and the new program
//! show, report and export the same results files, and every output that differs is named.

use crate::process::{output, succeed, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const USAGE: &str = "usage: cargo xtask compare OLD NEW FILE...";

/// A command of the program whose output is compared; `{}` stands for the file that it writes.
struct View {
    name: &'static str,
    arguments: &'static [&'static str],
}

const VIEWS: [View; 9] = [
    View { name: "screen", arguments: &["show", "r"] },
    View { name: "show", arguments: &["show", "r", "--full"] },
    View { name: "show.json", arguments: &["show", "r", "--json"] },
    View { name: "show.md", arguments: &["show", "r", "--md"] },
    View { name: "report.html", arguments: &["report", "r", "--output", "{}"] },
    View { name: "csv", arguments: &["export", "r", "--format", "csv", "--output", "{}"] },
    View { name: "export.json", arguments: &["export", "r", "--format", "json", "--output", "{}"] },
    View { name: "parquet", arguments: &["export", "r", "--format", "parquet", "--output", "{}"] },
    View { name: "xlsx", arguments: &["export", "r", "--format", "xlsx", "--output", "{}"] },
];

/// Compares all outputs of two programs on results files. An error names those that differ and
/// where their differences are.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let [old, new, files @ ..] = arguments else { return Err(USAGE.into()) };
    if files.is_empty() {
        return Err(USAGE.into());
    }
    let folder = target().join("compare");
    let _ = fs::remove_dir_all(&folder);
    let mut differing = 0;
    for file in files.iter().map(Path::new) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let old = written(Path::new(old), file, &folder.join(&name).join("old"))?;
        let new = written(Path::new(new), file, &folder.join(&name).join("new"))?;
        for view in &VIEWS {
            let lines = differences(&old.join(view.name), &new.join(view.name))?;
            let text = if lines == 0 { "same".into() } else { format!("{lines} lines differ") };
            println!("{name:<32} {:<12} {text}", view.name);
            differing += usize::from(lines > 0);
        }
    }
    if differing == 0 {
        return Ok(());
    }
    Err(format!("{differing} outputs differ; see the .diff files in {}", folder.display()))
}

/// Writes all outputs of a program on a copy of a results file, which it may bring up to date, into
/// a folder.
fn written(program: &Path, file: &Path, folder: &Path) -> Result<PathBuf, String> {
    let program = program.canonicalize().map_err(|error| failed(program, &error))?;
    let results = folder.join("results");
    fs::create_dir_all(&results).map_err(|error| failed(&results, &error))?;
    fs::copy(file, results.join("r.steelbench")).map_err(|error| failed(file, &error))?;
    for View { name, arguments } in &VIEWS {
        let mut command = Command::new(&program);
        command
            .current_dir(folder)
            .args(arguments.iter().map(|argument| argument.replace("{}", name)));
        // One width, no colours, and the same name of the program in what it prints.
        command.env("COLUMNS", "100").env("NO_COLOR", "1");
        let printed = output(&mut command)?;
        if !arguments.contains(&"{}") {
            fs::write(folder.join(name), printed).map_err(|error| failed(folder, &error))?;
        }
    }
    unpack(&folder.join("xlsx"))?;
    Ok(folder.to_path_buf())
}

/// Replaces a workbook by the folder of its sheets, a line for each cell.
fn unpack(workbook: &Path) -> Result<(), String> {
    let packed = workbook.with_extension("packed");
    fs::rename(workbook, &packed).map_err(|error| failed(workbook, &error))?;
    let script = "import sys, zipfile, pathlib\n\
                  for name in (book := zipfile.ZipFile(sys.argv[1])).namelist():\n    \
                      if name == 'docProps/core.xml': continue\n    \
                      to = pathlib.Path(sys.argv[2], name); to.parent.mkdir(parents=True, \
                  exist_ok=True)\n    to.write_bytes(book.read(name).replace(b'><', b'>\\n<'))\n";
    succeed(Command::new("python3").arg("-c").arg(script).arg(&packed).arg(workbook))
}

/// The number of lines that two files or folders do not have in common; they are written beside the
/// second.
fn differences(old: &Path, new: &Path) -> Result<usize, String> {
    let mut command = Command::new("diff");
    command.args(["--recursive", "--new-file", "--text", "--unified=0"]).arg(old).arg(new);
    let output = command.output().map_err(|error| format!("diff: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let is_change = |line: &&str| {
        (line.starts_with('+') && !line.starts_with("+++"))
            || (line.starts_with('-') && !line.starts_with("---"))
    };
    let lines = text.lines().filter(is_change).count();
    if lines > 0 {
        let path = PathBuf::from(format!("{}.diff", new.display()));
        fs::write(&path, &*output.stdout).map_err(|error| failed(&path, &error))?;
    }
    Ok(lines)
}

/// The message of a failure with a file.
fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
