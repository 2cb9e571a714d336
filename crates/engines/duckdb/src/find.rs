//! Which libduckdb a trial runs on.

use super::library::{Library, Unusable};
use engine::EngineError;
use engine::lock;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

/// Names the library where the file does not.
const VARIABLE: &str = "STEELBENCH_DUCKDB_LIB";

/// What the loader is asked for otherwise.
const NAME: &str = "libduckdb.so";

/// Releases before this one lack functions that are used.
const VERSION_MIN: (u32, u32) = (1, 2);

const INSTALL: &str = "install libduckdb 1.2 or later (libduckdb-linux-*.zip of DuckDB's \
                       releases, or the npm package @duckdb/node-bindings-linux-x64, which holds \
                       it) and give its path in target.library or STEELBENCH_DUCKDB_LIB";

/// The libraries that were loaded, by the name that they were asked for with.
static LOADED: Mutex<BTreeMap<OsString, &'static Library>> = Mutex::new(BTreeMap::new());

/// What can be said against a library without loading it.
pub fn objection(wanted: &str) -> Option<String> {
    unloadable(OsStr::new(wanted)).map(|message| format!("{message}; {INSTALL}"))
}

/// Why a file is not even tried. The loader would wait at a pipe for ever, and of a file that is
/// cut off it would read what is not there, which kills the process (SIGBUS).
fn unloadable(name: &OsStr) -> Option<String> {
    let path = Path::new(name);
    if !name.as_bytes().contains(&b'/') {
        return None;
    }
    let shown = path.display();
    let Ok(found) = path.metadata() else { return Some(format!("there is no file {shown}")) };
    if !found.is_file() {
        return Some(format!("{shown} is no regular file"));
    }
    let (bytes, needed) = (found.len(), bytes_needed(path).unwrap_or(0));
    (bytes < needed)
        .then(|| format!("{shown} is cut off: it has {bytes} of at least {needed} bytes"))
}

/// Bytes of a library by its header and the segments that this lists: elf(5). `None` where it is no
/// ELF file of 64 bits or cannot be read, of which the loader tells more.
fn bytes_needed(path: &Path) -> Option<u64> {
    let file = File::open(path).ok()?;
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).ok()?;
    let number = |bytes: &[u8], at: usize, length: usize| {
        bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    header.starts_with(b"\x7fELF\x02\x01").then_some(())?;
    let (segments, size, count) =
        (number(&header, 32, 8), number(&header, 54, 2), number(&header, 56, 2));
    let mut needed = segments.checked_add(size * count)?;
    for segment in 0..count {
        let mut entry = [0; 56];
        if file.read_exact_at(&mut entry, segments + segment * size).is_err() {
            break;
        }
        let is_loaded = number(&entry, 0, 4) == 1;
        let end = number(&entry, 8, 8).saturating_add(number(&entry, 32, 8));
        needed = needed.max(if is_loaded { end } else { 0 });
    }
    Some(needed)
}

/// The library that a configuration wants, or that is found without it, and the name that it was
/// loaded by.
///
/// # Errors
/// When there is none, or it is not one that we can use: says what was tried and what to do.
pub fn library(wanted: Option<&str>) -> Result<(OsString, &'static Library), EngineError> {
    let (name, source) = match (wanted, std::env::var_os(VARIABLE).filter(|name| !name.is_empty()))
    {
        (Some(wanted), _) => (OsString::from(wanted), "target.library"),
        (None, Some(name)) => (name, VARIABLE),
        (None, None) => (
            OsString::from(NAME),
            "target.library and STEELBENCH_DUCKDB_LIB are not set; the loader",
        ),
    };
    let mut loaded = lock(&LOADED);
    if let Some(known) = loaded.get(&name) {
        return Ok((name, *known));
    }
    let library = unloadable(&name).map_or_else(|| load(&name), Err).map_err(|message| {
        EngineError::failed("loading libduckdb", format!("{source}: {message}; {INSTALL}"))
    })?;
    let library: &'static Library = Box::leak(Box::new(library));
    loaded.insert(name.clone(), library);
    Ok((name, library))
}

fn load(name: &OsStr) -> Result<Library, String> {
    let shown = name.to_string_lossy();
    let library = Library::load(name).map_err(|error| match error {
        Unusable::NotLoaded(words) => words,
        Unusable::Lacks { version: None, .. } => format!("{shown} is not DuckDB"),
        Unusable::Lacks { version: Some(version), .. } if is_too_old(&version) => {
            too_old(&shown, &version)
        }
        Unusable::Lacks { function, version: Some(version) } => {
            format!("{shown} (DuckDB {version}) lacks the function {function}")
        }
    })?;
    if is_too_old(&library.version) { Err(too_old(&shown, &library.version)) } else { Ok(library) }
}

fn too_old(shown: &str, version: &str) -> String {
    format!("{shown} is DuckDB {version}, which is too old")
}

/// Whether a version is known to be before the first that we can use.
fn is_too_old(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
    let version = numbers.next().flatten().zip(numbers.next().flatten());
    version.is_some_and(|version| version < VERSION_MIN)
}

#[cfg(test)]
mod tests {
    use super::is_too_old;

    #[test]
    fn versions_before_1_2_are_too_old() {
        for (version, expected) in [
            ("0.10.3", true),
            ("1.1.3", true),
            ("1.2.0", false),
            ("1.10.0-dev7", false),
            ("2.0.0", false),
            ("", false),
        ] {
            assert_eq!(is_too_old(version), expected, "{version}");
        }
    }
}
