//! What the paths on the command line are.

use crate::exit_code::Failure;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A path with what it is and a name for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// As it was given.
    pub path: PathBuf,
    /// What it is.
    pub kind: PlaceKind,
    /// A short name, unlike those of the others: of a volume, or a stream.
    pub name: String,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// Files of ours go there.
    Directory,
    /// A file that was there before.
    File,
    /// A block device.
    Device,
}

/// Names that streams of their own sort have: no place is called so, because a stream of that name would do
/// what is known by it.
const TAKEN: [&str; 8] =
    ["oltp", "oltp-data", "log", "checkpoint", "scan", "backup", "backup-read", "backup-write"];

/// Looks at the paths and finds a name for each.
pub fn look_at(paths: &[PathBuf]) -> Result<Vec<Place>, Failure> {
    let kinds: Vec<PlaceKind> = paths.iter().map(|path| kind(path)).collect::<Result<_, _>>()?;
    let names = names(paths);
    let places = paths.iter().zip(kinds).zip(names);
    Ok(places.map(|((path, kind), name)| Place { path: path.clone(), kind, name }).collect())
}

/// What a path is.
pub fn kind(path: &Path) -> Result<PlaceKind, Failure> {
    let shown = path.display();
    let metadata = path.metadata().map_err(|error| {
        Failure::usage(format!("{shown}: {error}; name a directory, an existing file or a block device"))
    })?;
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => Ok(PlaceKind::Directory),
        () if kind.is_file() => Ok(PlaceKind::File),
        () if kind.is_block_device() => Ok(PlaceKind::Device),
        () => Err(Failure::usage(format!("{shown}: neither a directory nor a file nor a block device"))),
    }
}

/// The last part of each path where that tells them apart, else more of it.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &Path, parts: usize| {
        // `.` and `..` say nothing.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let all: Vec<String> = path.iter().map(|part| plain(&part.to_string_lossy())).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        all[all.len().saturating_sub(parts)..].join("-")
    };
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let free =
            |name: &String| !name.is_empty() && !TAKEN.contains(&name.as_str()) && !names.contains(name);
        let found = (1..=path.iter().count() + 1).map(|parts| name(path, parts)).find(free);
        let numbered = || (1..=names.len() + 1).map(|number| format!("path-{number}")).find(free);
        names.extend(found.or_else(numbered));
    }
    names
}

/// What a name of a stream can have: no blanks, no signs that mean something.
pub fn plain(text: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    text.chars().map(kept).collect::<String>().trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{kind, look_at, names};
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
    }

    #[test]
    fn what_is_no_storage_is_refused() {
        assert!(kind(Path::new("/no/such/thing")).is_err());
        assert!(kind(Path::new("/dev/null")).is_err());
        assert_eq!(look_at(&[]).unwrap(), []);
    }
}
