//! Small files of the kernel, each of which holds one value, a list or a choice.

use observations::Unread;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// No machine has more processors; a longer list is not one of the kernel.
const CPUS_MAX: u32 = 1 << 20;

/// The text without the blanks around it. It may hold arbitrary bytes, such as those of a device's
/// name.
fn read(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).trim().to_owned())
}

/// The text; `None` when there is no such file or nothing in it.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    read(path.as_ref()).ok().filter(|text| !text.is_empty())
}

/// The value.
pub(crate) fn value<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}

/// A value of 0 or 1.
pub(crate) fn flag(path: impl AsRef<Path>) -> Option<bool> {
    value::<u8>(path).map(|value| value != 0)
}

/// The names in a folder in their order; none when it is not there.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The choice in brackets: `always [madvise] never`.
pub(crate) fn selected(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(choice, _)| choice.to_owned())
}

/// The numbers in a list of the kernel: `0-3,8,10-11` (see cpuset(7), List format). `None` if it is
/// none.
pub fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > CPUS_MAX {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// A folder with the kernel's files in it, `/` or one made for a test, and what of it could not be
/// read.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    unread: RefCell<Vec<Unread>>,
}

impl Tree {
    /// The kernel's files in this folder.
    pub fn new(root: &Path) -> Self {
        Self { root: root.into(), unread: RefCell::default() }
    }

    /// The files that could not be read so far.
    pub fn unread(self) -> Vec<Unread> {
        self.unread.into_inner()
    }

    /// Returns whether a file or a folder exists.
    pub fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The text of a file. A file that cannot be read is noted.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        self.noted(path.as_ref(), true)
    }

    /// Reads a file that many machines lack; its absence is not noted.
    pub fn if_there(&self, path: impl AsRef<Path>) -> Option<String> {
        self.noted(path.as_ref(), false)
    }

    /// The names in a folder in their order; none when it is not there.
    pub fn names(&self, path: &str) -> Vec<String> {
        names(&self.root.join(path))
    }

    /// Numbers at the end of the names in a folder that begin so: `node0`, `node1`; ascending.
    pub fn numbered(&self, path: &str, prefix: &str) -> Vec<u32> {
        let mut numbers: Vec<u32> = self
            .names(path)
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn noted(&self, path: &Path, is_expected: bool) -> Option<String> {
        let why = match read(&self.root.join(path)) {
            Ok(text) if !text.is_empty() => return Some(text),
            Ok(_) if is_expected => "empty".to_owned(),
            Err(error) if error.kind() != io::ErrorKind::NotFound => error.to_string(),
            Err(_) if is_expected => "not there".to_owned(),
            _ => return None,
        };
        self.unread.borrow_mut().push(Unread { what: format!("/{}", path.display()), why });
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{flag, names, numbers, selected, text, value};

    #[test]
    fn reads_values() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        assert_eq!(value::<u64>(write("size", "4096\n")), Some(4096));
        assert_eq!(value::<u64>(write("odd", "none\n")), None);
        assert_eq!(
            (flag(write("on", "1\n")), flag(write("off", "0\n"))),
            (Some(true), Some(false))
        );
        assert_eq!((text(write("empty", "\n")), flag(folder.path().join("absent"))), (None, None));
        assert_eq!(names(folder.path()), ["empty", "odd", "off", "on", "size"]);
        assert!(names(&folder.path().join("absent")).is_empty());
    }

    #[test]
    fn finds_the_choice() {
        assert_eq!(selected("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(selected("none"), None);
    }

    #[test]
    fn reads_lists() {
        assert_eq!(numbers("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(numbers("0-2,5,7-8\n"), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(numbers(""), Some(Vec::new()));
        for wrong in ["3-1", "a", "0-4294967295", "1-", "-1"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
