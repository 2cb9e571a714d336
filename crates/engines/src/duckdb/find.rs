//! Which libduckdb a trial runs on.

use super::library::{Library, Unusable};
use crate::EngineError;
use crate::lock;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Mutex;

/// Names the library where the file does not.
const VARIABLE: &str = "STEELBENCH_DUCKDB_LIB";

/// What the loader is asked for otherwise.
const NAME: &str = "libduckdb.so";

/// Releases before this one lack functions that are used.
const VERSION_MIN: (u32, u32) = (1, 2);

const INSTALL: &str = "install libduckdb 1.2 or later (libduckdb-linux-*.zip of DuckDB's releases, or the npm package \
                       @duckdb/node-bindings-linux-x64, which holds it) and give its path in target.library or \
                       STEELBENCH_DUCKDB_LIB";

/// The libraries that were loaded, by the name that they were asked for with.
static LOADED: Mutex<BTreeMap<OsString, &'static Library>> = Mutex::new(BTreeMap::new());

/// What can be said against a library without loading it.
pub fn objection(wanted: &str) -> Option<String> {
    let path = Path::new(wanted);
    let is_name = !wanted.contains('/');
    (!is_name && !path.is_file()).then(|| format!("there is no file {}; {INSTALL}", path.display()))
}

/// The library that a configuration wants, or that is found without it, and the name that it was loaded by.
///
/// # Errors
/// When there is none, or it is not one that we can use: says what was tried and what to do.
pub fn library(wanted: Option<&str>) -> Result<(OsString, &'static Library), EngineError> {
    let (name, source) = match (wanted, std::env::var_os(VARIABLE).filter(|name| !name.is_empty())) {
        (Some(wanted), _) => (OsString::from(wanted), "target.library"),
        (None, Some(name)) => (name, VARIABLE),
        (None, None) => {
            (OsString::from(NAME), "target.library and STEELBENCH_DUCKDB_LIB are not set; the loader")
        }
    };
    let mut loaded = lock(&LOADED);
    if let Some(known) = loaded.get(&name) {
        return Ok((name, *known));
    }
    let library = load(&name).map_err(|message| {
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
        Unusable::Lacks { version: Some(version), .. } if is_too_old(&version) => too_old(&shown, &version),
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
