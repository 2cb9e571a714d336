//! Paths of existing files and devices to put load on.

use crate::files::not_permitted;
use crate::settings::{Mix, pattern_settings};
use engine::Permits;
use engine::file_set::Origin;
use observations::{holds_secret, redacted};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A path that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoragePath {
    /// As it was given.
    pub path: String,
    /// The kind; `Created`: a directory, in which Steelbench creates files.
    pub kind: Origin,
    /// A short name for a volume or a stream, unlike those of the other paths.
    pub name: String,
}

/// Returns whether a name is reserved in streams: such a path name would change its stream's
/// meaning.
fn is_taken(name: &str) -> bool {
    Mix::from_name(name).is_some() || pattern_settings(name).is_some()
}

/// A path that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Experiment files are UTF-8.
    #[error("{}: path is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// The name would be recorded.
    #[error("{0}: path looks like a URL with a password; use a link without one")]
    Secret(String),
    /// The path does not exist, or is not accessible.
    #[error("{}: {source}; name a directory, an existing file or a block device", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A pipe, a socket or a terminal.
    #[error("{}: not a directory, file or block device", .0.display())]
    Kind(PathBuf),
}

impl StoragePath {
    /// Looks at the paths and finds a name for each.
    ///
    /// # Errors
    /// When one of them cannot be loaded.
    pub fn all(paths: &[PathBuf]) -> Result<Vec<Self>, PathError> {
        paths.iter().zip(names(paths)).map(|(path, name)| Self::named(path, name)).collect()
    }

    /// Checks one path.
    ///
    /// # Errors
    /// When it is not storage, its name is not UTF-8 (experiment files are), or the name seems to
    /// contain a password: results and reports show it.
    pub fn named(path: &Path, name: impl Into<String>) -> Result<Self, PathError> {
        let kind = kind(path)?;
        let text = path.to_str().ok_or_else(|| PathError::NotUtf8(path.into()))?;
        if holds_secret(text) {
            return Err(PathError::Secret(redacted(text)));
        }
        Ok(Self { path: text.into(), kind, name: name.into() })
    }

    /// Why nothing may be written to it; `None`: it may be, as far as that depends on what the user
    /// permits.
    pub fn refused(&self, permits: &Permits) -> Option<String> {
        not_permitted(Path::new(&self.path), self.kind, permits)
    }
}

fn kind(path: &Path) -> Result<Origin, PathError> {
    let metadata =
        path.metadata().map_err(|source| PathError::Missing { path: path.into(), source })?;
    match metadata.file_type() {
        kind if kind.is_dir() => Ok(Origin::Created),
        kind if kind.is_file() => Ok(Origin::Existing),
        kind if kind.is_block_device() => Ok(Origin::Device),
        _ => Err(PathError::Kind(path.into())),
    }
}

/// The last part of each path where that tells them apart, else more of it.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &Path, parts: usize| {
        // `.` and `..` say nothing, and what looks like a password is not said.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = PathBuf::from(redacted(&path.to_string_lossy()).replace('*', ""));
        let all = path.iter().map(|part| stream_name(&part.to_string_lossy()));
        let all: Vec<String> = all.filter(|part| !part.is_empty()).collect();
        all[all.len().saturating_sub(parts)..].join("-")
    };
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let named = (1..=path.iter().count() + 1).map(|parts| name(path, parts));
        let numbered = (1..=names.len() + 1).map(|number| format!("path-{number}"));
        let found = named
            .chain(numbered)
            .find(|name| !name.is_empty() && !is_taken(name) && !names.contains(name));
        names.extend(found);
    }
    names
}

/// A text as the name of a stream: without blanks and signs that mean something.
pub(super) fn stream_name(text: &str) -> String {
    let is_fit = |c: char| c.is_alphanumeric() || "-_".contains(c);
    text.replace(|c| !is_fit(c), "-").trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{StoragePath, kind, names};
    use std::path::{Path, PathBuf};

    fn named(paths: &[&str]) -> Vec<String> {
        names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!(named(&["/mnt/a1", "/mnt/b2"]), ["a1", "b2"]);
        assert_eq!(named(&["/x1/data", "/x2/data"]), ["data", "x2-data"]);
        assert_eq!(named(&["/x1/data", "/x1/data"]), ["data", "x1-data"]);
        assert_eq!(named(&["/mnt/log"]), ["mnt-log"]);
        assert_eq!(named(&["/log", "/"]), ["path-1", "path-2"]);
        assert_eq!(named(&["/mnt/my disk=1."]), ["my-disk-1"]);
        assert_eq!(named(&["/mnt/postgres:/u:PW@h"]), ["postgres--h"]);
    }

    #[test]
    fn what_is_no_storage_is_refused() {
        assert!(kind(Path::new("/no/such/thing")).is_err());
        assert!(kind(Path::new("/dev/null")).is_err());
        assert_eq!(StoragePath::all(&[]).unwrap(), []);
    }
}
