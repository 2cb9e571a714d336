//! Small files of the kernel, each of which holds one value.

use std::path::Path;
use std::str::FromStr;

/// The text without the blanks around it; `None` when there is no such file or nothing in it.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
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
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The choice in brackets: `always [madvise] never`.
pub(crate) fn selected(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(choice, _)| choice.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{flag, names, selected, text, value};

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
        assert_eq!((flag(write("on", "1\n")), flag(write("off", "0\n"))), (Some(true), Some(false)));
        assert_eq!((text(write("empty", "\n")), flag(folder.path().join("absent"))), (None, None));
        assert_eq!(names(folder.path()), ["empty", "odd", "off", "on", "size"]);
        assert!(names(&folder.path().join("absent")).is_empty());
    }

    #[test]
    fn finds_the_choice() {
        assert_eq!(selected("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(selected("none"), None);
    }
}
