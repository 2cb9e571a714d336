use observations::Unread;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

/// A folder with the kernel's files in it, `/` or one made for a test, and what of it could not be read.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    unread: RefCell<Vec<Unread>>,
}

impl Tree {
    pub fn new(root: &Path) -> Self {
        Self { root: root.into(), unread: RefCell::default() }
    }

    pub fn unread(self) -> Vec<Unread> {
        self.unread.into_inner()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The text of a file without the blanks around it. A file that cannot be read is noted.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        self.note(path.as_ref(), self.read(path.as_ref()), true)
    }

    /// The same of a file that many machines do not have: that alone is not noted.
    pub fn if_there(&self, path: impl AsRef<Path>) -> Option<String> {
        self.note(path.as_ref(), self.read(path.as_ref()), false)
    }

    /// The names in a folder in their order; none when it is not there.
    pub fn names(&self, path: &str) -> Vec<String> {
        crate::sysfs::names(&self.root.join(path))
    }

    /// Numbers at the end of the names in a folder that begin so: `node0`, `node1`; ascending.
    pub fn numbered(&self, path: &str, prefix: &str) -> Vec<u32> {
        let names = self.names(path);
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    // A file of the kernel may hold bytes of others, such as the name of a device.
    fn read(&self, path: &Path) -> io::Result<String> {
        let bytes = std::fs::read(self.root.join(path))?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn note(&self, path: &Path, read: io::Result<String>, is_expected: bool) -> Option<String> {
        let why = match read {
            Ok(text) if !text.is_empty() => return Some(text),
            Ok(_) => "empty".to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "not there".to_owned(),
            Err(error) => error.to_string(),
        };
        if is_expected || (why != "not there" && why != "empty") {
            self.unread.borrow_mut().push(Unread { what: format!("/{}", path.display()), why });
        }
        None
    }
}
