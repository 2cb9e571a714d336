use std::fmt;
use std::path::{Path, PathBuf};

/// A block device or a partition of one, by the kernel's number for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    major: u32,
    minor: u32,
}

impl fmt::Display for Device {
    /// `8:0`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl Device {
    pub(super) fn of_number(number: u64) -> Self {
        Self { major: libc::major(number), minor: libc::minor(number) }
    }

    /// Whether the number stands for no device: file systems in memory, on a network or over several devices.
    pub(super) fn is_none(self) -> bool {
        self.major == 0
    }

    /// The device that the kernel describes in this folder.
    pub fn described(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join("dev")).ok()?;
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The device itself, or the disk that this is a partition of.
    #[must_use]
    pub fn whole(self) -> Self {
        if !self.is_partition() {
            return self;
        }
        let disk = self.folder().canonicalize().ok().and_then(|folder| Self::described(folder.parent()?));
        disk.unwrap_or(self)
    }

    /// Whether this is a part of a disk.
    pub fn is_partition(self) -> bool {
        self.folder().join("partition").exists()
    }

    /// Its name: `vda`, `loop3`; its number where the kernel does not describe it.
    pub fn name(self) -> String {
        let folder = self.folder().canonicalize().ok();
        let name = folder.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        // A slash in a device's name is an exclamation mark in the names of folders.
        name.map_or_else(|| self.to_string(), |name| name.replace('!', "/"))
    }

    /// The folder in which the kernel describes it.
    pub(crate) fn folder(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{self}"))
    }
}
