//! Arguments, and the reading of files.

use crate::document::{self, PlanOf};
use clap::Parser;
use command::output::{self, Form};
use command::{Context, ExitCode, Failure, Tool};
use observations::statement::shown;
use plans::{FILE_BYTES_MAX, PlanError, Statement};
use queries::syntax;
use report::json::object;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Errors that are told one by one.
const ERRORS_MAX: usize = 10;

/// Explain plans in files: SQL Server's ShowPlan XML, EXPLAIN of PostgreSQL, MariaDB and MySQL;
/// needs no server
#[derive(Debug, Parser)]
#[command(name = "plan")]
pub struct Plan {
    /// Files with plans, or folders of them; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show the operators of so many statements, the dearest first
    #[arg(long, value_name = "N", default_value = "5")]
    limit: usize,
    /// Show constants of statements and conditions, which may be data of users
    #[arg(long)]
    literals: bool,
    #[command(flatten)]
    form: Form,
}

impl Tool for Plan {
    fn run(&self, _: &Context) -> Result<ExitCode, Failure> {
        let mut found = Found::default();
        for path in &self.files {
            if path.as_os_str() == "-" {
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().take(FILE_BYTES_MAX).read_to_end(&mut bytes);
                found.add("standard input", read.map(|_| bytes), true);
            } else if path.is_dir() {
                found.folder(path)?;
            } else {
                found.file(path, true);
            }
        }
        found.complain();
        if found.plans.is_empty() {
            return Err(Failure::usage("no plan was found"));
        }
        for one in &mut found.plans {
            for_show(&mut one.statement, self.literals);
        }
        let plans = &found.plans;
        output::show(self.form, || as_json(plans), || document::plans(plans, self.limit))?;
        Ok(if found.errors.is_empty() { ExitCode::Ok } else { ExitCode::Failed })
    }
}

/// What was read.
#[derive(Default)]
struct Found {
    plans: Vec<PlanOf>,
    errors: Vec<String>,
    /// Files of folders that hold something else.
    others: usize,
}

impl Found {
    /// All files of a folder and of those in it, by name; links to folders are not followed.
    fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let failed = |error| Failure::usage(format!("{}: {error}", folder.display()));
        let mut entries: Vec<PathBuf> = folder
            .read_dir()
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
            .map_err(failed)?;
        entries.sort();
        for path in entries {
            match path.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => self.folder(&path)?,
                _ => self.file(&path, false),
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, is_named: bool) {
        let bytes = experiment::read_bytes(path, FILE_BYTES_MAX);
        self.add(&path.display().to_string(), bytes, is_named);
    }

    /// What a file holds; something else is an error where the user named the file.
    fn add(&mut self, name: &str, bytes: std::io::Result<Vec<u8>>, is_named: bool) {
        let error = match bytes.map(|bytes| plans::read(&bytes)) {
            Ok(Ok(statements)) => {
                let file = name.to_owned();
                let damaged = statements.iter().filter_map(|one| one.damage.as_ref());
                self.errors.extend(damaged.map(|damage| format!("{name}: {damage}")));
                self.plans.extend(
                    statements
                        .into_iter()
                        .map(|statement| PlanOf { file: file.clone(), statement }),
                );
                return;
            }
            Ok(Err(PlanError::Unknown | PlanError::Encoding)) if !is_named => {
                self.others += 1;
                return;
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.errors.push(format!("{name}: {error}"));
    }

    fn complain(&self) {
        for error in self.errors.iter().take(ERRORS_MAX) {
            output::complain(&format!("error: {error}"));
        }
        if let Some(more) = self.errors.len().checked_sub(ERRORS_MAX).filter(|more| *more > 0) {
            output::complain(&format!("error: {more} more plans could not be read"));
        }
        if self.others > 0 {
            output::complain(&format!(
                "note: {} of the folders without a plan",
                files(self.others)
            ));
        }
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}

/// Texts in one line, without their constants unless they are wanted, and never with what may be a
/// password.
fn for_show(statement: &mut Statement, literals: bool) {
    let clean = |text: &mut String| *text = shown(text, syntax(statement.engine), literals);
    clean(&mut statement.text);
    if let Some(plan) = &mut statement.plan {
        plan.visit_texts(clean);
    }
}

/// The plans of files, in their order, for programs.
fn as_json(plans: &[PlanOf]) -> serde_json::Result<Value> {
    let plans: Vec<Value> = plans
        .iter()
        .map(|one| {
            let remarks = one.statement.plan.as_ref().map(plans::remarks);
            json!({ "file": one.file, "statement": one.statement, "remarks": remarks })
        })
        .collect();
    object("plans", &json!({ "plans": plans }), Value::Null)
}
