use std::fmt;
use std::path::PathBuf;

/// The files and devices of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// All of them, data files first.
    pub files: Vec<TargetFile>,
    /// Bytes left out at the beginning of each.
    pub offset: u64,
    /// What readers of the figures must know: pre-conditioning that did not become steady.
    pub notes: Vec<String>,
}

/// A file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFile {
    /// What it stands for.
    pub role: Role,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that it has.
    pub size: u64,
    /// Whose it is.
    pub origin: Origin,
    /// Why nothing may be written to it; `None`: it may be.
    pub forbidden: Option<String>,
}

/// What a file stands for in a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Data.
    Data,
    /// The log.
    Log,
    /// Where a backup is written.
    Backup,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// We created it and remove it.
    Created,
    /// A file that was there before.
    Existing,
    /// A block device.
    Device,
}

impl FileSet {
    /// The files of a role, in the order of the settings.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &TargetFile> {
        self.files.iter().filter(move |file| file.role == role)
    }
}

impl Role {
    /// Names in the experiment file.
    pub const NAMES: &'static [&'static str] = &["data", "log", "backup"];

    /// The role with this name; data for any other.
    pub fn from_name(name: &str) -> Self {
        match name {
            "log" => Self::Log,
            "backup" => Self::Backup,
            _ => Self::Data,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Data => "data",
            Self::Log => "log",
            Self::Backup => "backup",
        })
    }
}
