//! Tables of one's own: a database file that a dump and SQL make once, and that trials copy.

use super::confinement::fix_settings;
use super::library::{Connection, failed};
use super::target::Target;
use engine::setup::{Setup, Unset, first_bytes, substituted};
use engine::{EngineError, Result, cache};
use experiment::NamedFile;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use work::sql::{Kind, Syntax, tokens};

/// The offset of the sign in the first bytes of a database file.
///
/// <https://duckdb.org/docs/stable/internals/storage>
const MAGIC_AT: usize = 8;
const MAGIC: &[u8] = b"DUCK";

/// Returns the file that a setup makes with the settings of a target, made now unless it is in our
/// cache.
pub fn template(setup: &Setup, target: &Target) -> Result<PathBuf> {
    let identity = format!(
        "DuckDB {}\n{}{}{}",
        target.library.version,
        target.settings.shaping(),
        setup.identity(),
        named_in_sql(setup)
    );
    cache::file("duckdb", "setup-", &identity, |path| {
        make(setup, target, path)?;
        setup.verify_unchanged()
    })
}

fn make(setup: &Setup, target: &Target, path: &Path) -> Result<()> {
    let dump = setup.dump.as_deref();
    let database = dump.filter(|dump| {
        first_bytes(&dump.place()).get(MAGIC_AT..).is_some_and(|rest| rest.starts_with(MAGIC))
    });
    if let Some(dump) = database {
        let copied = File::open(dump.place())
            .and_then(|mut from| std::io::copy(&mut from, &mut File::create(path)?));
        copied.map_err(EngineError::at(&dump.place()))?;
    }
    let connection = target.connect_to(&target.open_at(path)?)?;
    if target.is_confined() {
        fix_settings(&connection)?;
    }
    if let Some(dump) = dump
        && database.is_none()
    {
        run(&connection, dump, None, target)?;
    }
    for file in &setup.sql {
        run(&connection, file, Some(&setup.variables), target)?;
    }
    connection.run("CHECKPOINT").map_err(failed("finishing the tables of target.setup"))
}

/// Runs the statements of a file, which finds other files beside itself unless it is confined.
fn run(
    connection: &Connection,
    file: &NamedFile,
    variables: Option<&[(String, String)]>,
    target: &Target,
) -> Result<()> {
    let place = file.place();
    let sql = fs::read_to_string(&place).map_err(EngineError::at(&place))?;
    let sql = match variables {
        Some(variables) => substituted(&sql, variables, Syntax::Postgres, Unset::Stays)
            .map_err(|error| EngineError::failed(&file.path, error))?,
        None => sql,
    };
    let doing = || format!("running {}", file.path);
    if target.is_confined() {
        return connection.run(&sql).map_err(failed(doing()));
    }
    let folder = super::dialect::literal(&folder_of(file).to_string_lossy());
    connection.run(&format!("SET file_search_path = {folder}")).map_err(failed(doing()))?;
    connection.run(&sql).map_err(failed(doing()))?;
    connection.run("RESET file_search_path").map_err(failed(doing()))
}

fn folder_of(file: &NamedFile) -> PathBuf {
    let place = file.place();
    place
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
        .to_owned()
}

/// The data files that literals of the SQL name, as in `read_parquet('orders.parquet')`, with size
/// and time of change: other content is another database. Of a pattern, all files of its folder.
fn named_in_sql(setup: &Setup) -> String {
    let mut found = String::new();
    for file in setup.sql.iter().chain(setup.dump.as_ref()) {
        let place = file.place();
        // A database file has no SQL.
        let Ok(sql) = fs::read_to_string(&place) else { continue };
        let literals = tokens(&sql, Syntax::Postgres).filter(|token| token.kind == Kind::Literal);
        for literal in literals {
            let path = folder_of(file).join(literal.text.trim_matches('\''));
            let is_pattern = literal.text.contains(['*', '?', '[']);
            let files = if is_pattern {
                let folder = path.parent().and_then(|folder| folder.read_dir().ok());
                let mut files: Vec<PathBuf> =
                    folder.into_iter().flatten().flatten().map(|folder| folder.path()).collect();
                files.sort();
                files
            } else {
                vec![path]
            };
            for (path, of) in files.iter().filter_map(|file| Some((file, file.metadata().ok()?))) {
                if of.is_file() {
                    let (bytes, seconds, nanos) = (of.len(), of.mtime(), of.mtime_nsec());
                    // Writing to a string cannot fail.
                    let _ = writeln!(found, "{} {bytes} {seconds}.{nanos}", path.display());
                }
            }
        }
    }
    found
}
