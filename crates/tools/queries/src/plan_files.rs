//! Plans as the engine wrote them, a file each: `12.sqlplan`, `12-2.json`.
//!
//! The folder has a list of the files that Steelbench wrote there. Only files on it that still have
//! their content are replaced or removed.

use crate::plan_texts::without_secrets;
use command_line::Failure;
use command_line::files::{Replace, replace_file};
use inspection::statements::Snapshot;
use report::json::object;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use work::sql::Syntax;
use work::sql::statement::number;

/// Name of the list.
const LIST: &str = "steelbench-plans.json";
/// Kind of the list.
const KIND: &str = "plan_files";

/// A file of the list.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    /// The name in the folder.
    name: String,
    /// The number of its content.
    content: i64,
}

/// A plan to write.
struct PlanFile {
    name: String,
    text: String,
}

/// The name of the file of each plan, by the numbers of its statement and of itself, from 1.
pub(crate) type PlanFileNames = BTreeMap<(usize, usize), String>;

/// The folder beside a workbook: `NAME-plans`.
pub(crate) fn folder_beside(workbook: &Path) -> PathBuf {
    let name = workbook.file_stem().unwrap_or_default().to_string_lossy();
    workbook.with_file_name(format!("{name}-plans"))
}

/// Writes the plans whose engine's text is known.
///
/// # Errors
/// When a file there was not written by Steelbench, or one cannot be written.
pub fn write(
    folder: &Path,
    snapshot: &Snapshot,
    syntax: Syntax,
    literals: bool,
) -> Result<PlanFileNames, Failure> {
    let (mut names, mut files) = (PlanFileNames::new(), Vec::new());
    for (statement, entry) in (1..).zip(&snapshot.statements) {
        for (plan, found) in (1..).zip(&entry.plans) {
            let Some(text) = &found.text else { continue };
            let number = if plan == 1 { String::new() } else { format!("-{plan}") };
            let name = format!("{statement}{number}.{}", text.extension);
            files.push(PlanFile {
                name: name.clone(),
                text: without_secrets(text, syntax, literals),
            });
            names.insert((statement, plan), name);
        }
    }
    if files.is_empty() && !folder.exists() {
        return Ok(names);
    }
    replace(folder, &files)?;
    Ok(names)
}

fn replace(folder: &Path, files: &[PlanFile]) -> Result<(), Failure> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        Failure::failed(format!("cannot write {}: {why}", path.display()))
    };
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(failed(folder, &error));
        }
        _ if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) => {
            return Err(failed(folder, &"it exists and is not a folder"));
        }
        _ => {}
    }
    let listed = listed(&folder.join(LIST))?;
    if files.is_empty() && listed.is_empty() {
        return Ok(());
    }
    let is_ours = |name: &str| {
        let content = fs::read_to_string(folder.join(name)).ok().map(|text| number(&text));
        listed.iter().any(|file| file.name == name && Some(file.content) == content)
    };
    for PlanFile { name, .. } in files {
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok() && !is_ours(name) {
            let why = "file exists and was not written by Steelbench; remove it or choose another \
                       folder with --plan-files";
            return Err(failed(&path, &why));
        }
    }
    let new: Vec<Entry> = files
        .iter()
        .map(|file| Entry { name: file.name.clone(), content: number(&file.text) })
        .collect();
    // Until all is written, both the previous files and the new ones are ours.
    write_list(folder, &[listed.as_slice(), &new].concat())?;
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    for Entry { name, .. } in &listed {
        let is_plain =
            Path::new(name).file_name().is_some_and(|file_name| file_name == name.as_str());
        if is_plain && !names.contains(name.as_str()) && is_ours(name) {
            fs::remove_file(folder.join(name))
                .map_err(|error| failed(&folder.join(name), &error))?;
        }
    }
    for PlanFile { name, text } in files {
        replace_file(&folder.join(name), Replace::Any, |writer| writer.write_all(text.as_bytes()))?;
    }
    write_list(folder, &new)
}

/// The files that Steelbench has written to a folder.
fn listed(path: &Path) -> Result<Vec<Entry>, Failure> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?,
    };
    let list: Value = serde_json::from_str(&text).unwrap_or_default();
    let files = serde_json::from_value(list["files"].clone());
    files.ok().filter(|_| list["kind"] == KIND).ok_or_else(|| {
        Failure::failed(format!("{}: not a list of plans by Steelbench", path.display()))
    })
}

fn write_list(folder: &Path, files: &[Entry]) -> Result<(), Failure> {
    let list = serde_json::json!({ "files": files });
    let list = object(KIND, &list, Value::Null).map_err(Failure::failed)?;
    replace_file(&folder.join(LIST), Replace::Ours, |writer| writeln!(writer, "{list}"))
}
