//! Backups of databases and their restore, by the documented syntax
//! (<https://learn.microsoft.com/sql/t-sql/statements/backup-transact-sql>): an option that it does
//! not have is refused. A restored database has the tables of the one that was backed up.

use crate::catalog::{Catalog, Made, error, literals, rows};
use crate::server::Answer;
use std::sync::Arc;

/// A file of a backup.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    name: Option<String>,
    database: String,
    /// The files of its set.
    set: Vec<String>,
    is_compressed: bool,
}

/// Bytes of every database.
const DATA_BYTES: i64 = 8 << 20;
/// Transfers are multiples of it, up to the most.
const TRANSFER_BYTES: [u64; 2] = [64 << 10, 4 << 20];

/// Answers statements about backups; `None`: this is not one.
pub fn answer(catalog: &mut Catalog, sql: &str) -> Option<Answer> {
    if sql.contains("msdb.dbo.backupset") {
        return Some(Ok(sizes(catalog, sql)));
    }
    if sql.starts_with("DBCC CHECKDB (") {
        let name = literals(sql).into_iter().next().unwrap_or_default();
        let known = catalog.databases.contains_key(&name);
        return Some(if known { Ok(Vec::new()) } else { Err(no_database(&name)) });
    }
    let rest = sql.strip_prefix("BACKUP DATABASE ");
    if let Some(rest) = rest.filter(|rest| !rest.contains("'NUL'")) {
        return Some(backup(catalog, rest));
    }
    let rest = sql.strip_prefix("RESTORE ")?;
    if let Some(disks) = rest.strip_prefix("LABELONLY FROM ") {
        return Some(label(catalog, disks));
    }
    if let Some(disks) = rest.strip_prefix("FILELISTONLY FROM ") {
        return Some(set(catalog, disks).map(|media| {
            let made = catalog.databases.get(&media.database);
            let files = made.map(files).unwrap_or_default();
            let row = |(name, path, kind): (String, String, &str)| {
                vec![Some(name), Some(path), Some(kind.to_owned())]
            };
            rows(&["LogicalName", "PhysicalName", "Type"], files.into_iter().map(row).collect())
        }));
    }
    rest.strip_prefix("DATABASE ").map(|rest| restore(catalog, rest))
}

fn no_database(name: &str) -> iridium_core::error::DbError {
    error(911, format!("Database '{name}' does not exist."))
}

fn syntax(near: &str) -> iridium_core::error::DbError {
    error(102, format!("Incorrect syntax near '{near}'."))
}

/// Splits at commas outside of texts and parentheses.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut is_text) = (Vec::new(), 0, 0, false);
    for (at, sign) in text.char_indices() {
        match sign {
            '\'' => is_text = !is_text,
            '(' if !is_text => depth += 1,
            ')' if !is_text => depth -= 1,
            ',' if !is_text && depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// The paths of `DISK = N'...'`, separated by commas.
fn disks(text: &str) -> Result<Vec<String>, iridium_core::error::DbError> {
    let path = |part: &&str| {
        let quoted = part.strip_prefix("DISK = N'").and_then(|rest| rest.strip_suffix('\''));
        quoted.map(|text| text.replace("''", "'")).ok_or_else(|| syntax(part))
    };
    parts(text).iter().map(path).collect()
}

/// The name in brackets at the beginning, and the rest.
fn bracketed(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((name.to_owned(), rest.trim_start()))
}

fn backup(catalog: &mut Catalog, rest: &str) -> Answer {
    let (database, rest) = bracketed(rest).ok_or_else(|| syntax(rest))?;
    let (to, options) = rest.split_once(" WITH ").unwrap_or((rest, ""));
    let set = disks(to.strip_prefix("TO ").ok_or_else(|| syntax(to))?)?;
    if !catalog.databases.contains_key(&database) {
        return Err(no_database(&database));
    }
    let (mut name, mut is_compressed, mut is_format) = (None, false, false);
    for option in parts(options).into_iter().filter(|part| !part.is_empty()) {
        let (word, value) = option.split_once(" = ").unwrap_or((option, ""));
        match word {
            "FORMAT" => is_format = true,
            "COPY_ONLY" | "CHECKSUM" | "INIT" | "NO_COMPRESSION" => {}
            "COMPRESSION" | "COMPRESSION (ALGORITHM" => is_compressed = true,
            "MEDIANAME" | "NAME" => name = literals(value).into_iter().next(),
            "MAXTRANSFERSIZE" => {
                let [unit, most] = TRANSFER_BYTES;
                let bytes = value.parse::<u64>().unwrap_or(0);
                if bytes == 0 || bytes % unit != 0 || bytes > most {
                    return Err(error(3031, format!("Option 'maxtransfersize' is {value}.")));
                }
            }
            "BUFFERCOUNT" if value.parse::<u32>().is_ok_and(|value| value > 0) => {}
            _ => return Err(syntax(option)),
        }
    }
    let is_there = set.iter().any(|path| catalog.media.contains_key(path));
    if is_there && !is_format {
        return Err(error(3132, "The media set has other families.".into()));
    }
    for path in &set {
        let (database, set, name) = (database.clone(), set.clone(), name.clone());
        catalog.media.insert(path.clone(), Media { name, database, set, is_compressed });
    }
    Ok(Vec::new())
}

/// The media of all files of a set.
fn set(catalog: &Catalog, text: &str) -> Result<Media, iridium_core::error::DbError> {
    let paths = disks(text)?;
    let media = paths.iter().map(|path| {
        catalog.media.get(path).ok_or_else(|| {
            let message = format!(
                "Cannot open backup device '{path}'. Operating system error 2(The system cannot \
                 find the file specified.)."
            );
            error(3201, message)
        })
    });
    let media: Vec<&Media> = media.collect::<Result<_, _>>()?;
    let first = media.first().copied().ok_or_else(|| syntax(text))?;
    let mut paths = paths.clone();
    let mut set = first.set.clone();
    paths.sort();
    set.sort();
    let is_whole = paths == set && media.iter().all(|media| media.set == first.set);
    if is_whole {
        return Ok(first.clone());
    }
    Err(error(3132, format!("The media set has {} media families.", set.len())))
}

/// A single file of a set is enough for its label.
fn label(catalog: &Catalog, text: &str) -> Answer {
    let paths = disks(text)?;
    let [path] = paths.as_slice() else { return Err(syntax(text)) };
    match catalog.media.get(path) {
        Some(media) => Ok(rows(&["MediaName"], vec![vec![media.name.clone()]])),
        None => set(catalog, text).map(|_| Vec::new()),
    }
}

/// Logical name, path and kind of the files of a database.
fn files(made: &Made) -> Vec<(String, String, &'static str)> {
    let kind = |number: i64| if number == 0 { "D" } else { "L" };
    let mut files: Vec<_> = made
        .files
        .iter()
        .map(|(number, name, path, ..)| (name.clone(), path.clone(), kind(*number)))
        .collect();
    for (text, suffix) in [("D", "mdf"), ("L", "ldf")] {
        if !files.iter().any(|(.., kind)| *kind == text) {
            let name = format!("steelbench_not_marked_yet_{suffix}");
            files.push((name.clone(), format!("/var/opt/mssql/data/{name}.{suffix}"), text));
        }
    }
    files
}

fn restore(catalog: &mut Catalog, rest: &str) -> Answer {
    let (name, rest) = bracketed(rest).ok_or_else(|| syntax(rest))?;
    let (from, options) = rest.split_once(" WITH ").ok_or_else(|| syntax(rest))?;
    let media = set(catalog, from.strip_prefix("FROM ").ok_or_else(|| syntax(from))?)?;
    if catalog.databases.contains_key(&name) {
        return Err(error(
            3159,
            format!("The tail of the log of '{name}' has not been backed up."),
        ));
    }
    let source = catalog.databases.get(&media.database).ok_or_else(|| no_database(&name))?;
    let mut left = files(source);
    for option in parts(options) {
        if let Some(rest) = option.strip_prefix("MOVE ") {
            let texts = literals(rest);
            let [logical, path] = texts.as_slice() else { return Err(syntax(option)) };
            let is_taken = left.iter().any(|(_, reserved, _)| reserved == path);
            let known = left.iter().position(|(name, ..)| name == logical);
            let Some(at) = known.filter(|_| !is_taken && rest.contains(" TO N'")) else {
                return Err(error(3234, format!("Logical file '{logical}' is not part of it.")));
            };
            left.remove(at);
        } else if !["CHECKSUM", "RECOVERY"].contains(&option) {
            return Err(syntax(option));
        }
    }
    if let Some((_, path, _)) = left.first() {
        return Err(error(1834, format!("The file '{path}' is used by another database.")));
    }
    let made = Made {
        tables: Arc::clone(&source.tables),
        properties: source.properties.clone(),
        options: source.options.clone(),
        files: Vec::new(),
    };
    catalog.databases.insert(name, made);
    Ok(Vec::new())
}

/// Bytes of the data and of the backup of a database, if there is one.
fn sizes(catalog: &Catalog, sql: &str) -> Vec<Option<iridium_core::QueryResult>> {
    let name = literals(sql).into_iter().next().unwrap_or_default();
    let media = catalog.media.values().find(|media| media.database == name);
    let row = |media: &Media| {
        let stored = if media.is_compressed { DATA_BYTES / 4 } else { DATA_BYTES };
        vec![Some(DATA_BYTES.to_string()), Some(stored.to_string())]
    };
    rows(&["data_bytes", "backup_bytes"], media.map(row).into_iter().collect())
}
