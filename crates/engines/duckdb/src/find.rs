//! The libduckdb that a trial runs on.

use super::library::{Library, Unusable};
use engine::lock;
use engine::{EngineError, Result};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

/// Names the library where the file does not.
const VARIABLE: &str = "STEELBENCH_DUCKDB_LIB";

/// Default name for the loader.
const NAME: &str = "libduckdb.so";

/// Releases before this one lack functions that are used.
const VERSION_MIN: (u32, u32) = (1, 2);

const INSTALL: &str = "install libduckdb 1.2 or later, for example by `npm pack \
                       @duckdb/node-bindings-linux-x64 && tar -xzf duckdb-node-*.tgz \
                       --strip-components=1 package/libduckdb.so`, and set its path in \
                       target.library or STEELBENCH_DUCKDB_LIB";

/// The libraries that were loaded, by the name that they were asked for with.
static LOADED: Mutex<BTreeMap<OsString, &'static Library>> = Mutex::new(BTreeMap::new());

/// Why a library cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LibraryError {
    /// The path leads nowhere.
    #[error("file {path} does not exist")]
    Missing {
        /// The path.
        path: String,
    },
    /// A directory, a pipe or a device.
    #[error("{path} is not a regular file")]
    Kind {
        /// The path.
        path: String,
    },
    /// The file ends before its segments.
    #[error("{path} is truncated: {bytes} bytes, at least {needed} expected")]
    CutOff {
        /// The path.
        path: String,
        /// The size.
        bytes: u64,
        /// The size that its header needs.
        needed: u64,
    },
    /// The loader refuses.
    #[error("{message}")]
    NotLoaded {
        /// The loader's message.
        message: String,
    },
    /// Another library.
    #[error("{name} is not DuckDB")]
    Foreign {
        /// The name.
        name: String,
    },
    /// A version without functions that are used.
    #[error("{name} is DuckDB {version}; 1.2 or later is required")]
    Old {
        /// The name.
        name: String,
        /// The version.
        version: String,
    },
    /// A build without a function that is used.
    #[error("{name} (DuckDB {version}) lacks the function {function}")]
    Lacks {
        /// The name.
        name: String,
        /// The version.
        version: String,
        /// The function.
        function: &'static str,
    },
}

/// Returns an objection to a library, found without loading it.
pub fn objection(text: &str) -> Option<String> {
    unloadable(OsStr::new(text)).map(|error| format!("{error}; {INSTALL}"))
}

/// Why a file is not even tried. The loader would wait at a pipe for ever, and of a file that is
/// cut off it would read what is not there, which kills the process (SIGBUS).
fn unloadable(name: &OsStr) -> Option<LibraryError> {
    let file = Path::new(name);
    if !name.as_bytes().contains(&b'/') {
        return None;
    }
    let path = file.display().to_string();
    let Ok(found) = file.metadata() else { return Some(LibraryError::Missing { path }) };
    if !found.is_file() {
        return Some(LibraryError::Kind { path });
    }
    let (bytes, needed) = (found.len(), bytes_needed(file).unwrap_or(0));
    (bytes < needed).then_some(LibraryError::CutOff { path, bytes, needed })
}

/// Bytes of a library by its header and the segments that this lists: elf(5). `None` if it is not a
/// 64-bit ELF file or cannot be read; the loader reports the reason.
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
/// When there is none, or it is not one that we can use: the message has the remedy.
pub fn library(text: Option<&str>) -> Result<(OsString, &'static Library)> {
    let (name, source) = match (text, std::env::var_os(VARIABLE).filter(|name| !name.is_empty())) {
        (Some(text), _) => (OsString::from(text), "target.library"),
        (None, Some(name)) => (name, VARIABLE),
        (None, None) => (
            OsString::from(NAME),
            "target.library and STEELBENCH_DUCKDB_LIB are not set; dynamic loader",
        ),
    };
    let mut loaded = lock(&LOADED);
    if let Some(known) = loaded.get(&name) {
        return Ok((name, *known));
    }
    let library = unloadable(&name).map_or_else(|| load(&name), Err).map_err(|error| {
        EngineError::failed("loading libduckdb", format!("{source}: {error}; {INSTALL}"))
    })?;
    let library: &'static Library = Box::leak(Box::new(library));
    loaded.insert(name.clone(), library);
    Ok((name, library))
}

fn load(file: &OsStr) -> Result<Library, LibraryError> {
    let name = file.to_string_lossy().into_owned();
    match Library::load(file) {
        Ok(library) if is_too_old(&library.version) => {
            Err(LibraryError::Old { name, version: library.version })
        }
        Ok(library) => Ok(library),
        Err(Unusable::NotLoaded(message)) => Err(LibraryError::NotLoaded { message }),
        Err(Unusable::Lacks { version: None, .. }) => Err(LibraryError::Foreign { name }),
        Err(Unusable::Lacks { version: Some(version), .. }) if is_too_old(&version) => {
            Err(LibraryError::Old { name, version })
        }
        Err(Unusable::Lacks { function, version: Some(version) }) => {
            Err(LibraryError::Lacks { name, version, function })
        }
    }
}

/// Returns whether a version is known to be too old.
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
