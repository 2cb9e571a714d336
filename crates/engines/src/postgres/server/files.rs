//! The files of clusters: what a cluster has in its directory, the folder of its sockets, copies that share their
//! blocks where the file system can, their space and their place in the page cache.

use super::account::Account;
use crate::EngineError;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Names in the directory of a cluster.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The directory, marked as ours by its maker.
    pub(super) directory: PathBuf,
    pub(super) data: PathBuf,
    /// What the server says.
    pub(super) log: PathBuf,
    /// The folder of its sockets, or a link to it.
    pub(super) socket: PathBuf,
}

impl Layout {
    pub(super) fn of(directory: &Path) -> Self {
        let [data, log, socket] = ["data", "server.log", "socket"].map(|name| directory.join(name));
        Self { directory: directory.into(), data, log, socket }
    }
}

/// Name of the file with the settings of every server of ours, in the data directory.
pub(super) const BASELINE_FILE: &str = "steelbench.conf";

/// Name of the file with the settings of the experiment, in the data directory.
pub(super) const SETTINGS_FILE: &str = "steelbench.settings.conf";

/// What `postmaster.pid` says: process, start, port, shared memory, state
/// (<https://www.postgresql.org/docs/current/storage-file-layout.html>; lines as in `pidfile.h`).
#[derive(Debug, Clone, Default)]
pub(super) struct Postmaster {
    pub(super) pid: Option<i32>,
    /// Key and identifier of its System V shared memory.
    pub(super) shared_memory: Option<(i64, i32)>,
    pub(super) ready: bool,
}

impl Postmaster {
    /// Reads the file in a data directory; all absent without one.
    pub(super) fn of(data: &Path) -> Self {
        let text = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let line = |number: usize| lines.get(number - 1).copied().unwrap_or_default();
        let numbers: Vec<i64> = line(7).split_whitespace().flat_map(str::parse).collect();
        Self {
            pid: line(1).trim().parse().ok().filter(|pid| *pid > 1),
            shared_memory: match numbers[..] {
                [key, id] => i32::try_from(id).ok().map(|id| (key, id)),
                _ => None,
            },
            ready: line(8).trim() == "ready",
        }
    }
}

/// Bytes in the path of a socket on Linux: `sun_path` has 108, the last is zero (unix(7)).
const PATH_BYTES_MAX: usize = 107;

/// The longest name of a socket and its lock file, with the slash before it.
const NAME: &str = "/.s.PGSQL.65535.lock";

/// The file that marks a short folder as ours; it holds the directory of the cluster.
const MARKER: &str = ".steelbench-socket";

/// Makes the folder for the sockets of a cluster: in its directory where the path is short
/// enough, else below the folder for temporary files, with a link to it in the directory.
pub(super) fn make_socket_folder(layout: &Layout, account: &Account) -> Result<PathBuf, EngineError> {
    let preferred = layout.socket.clone();
    if fits(&preferred) {
        account.make_folder(&preferred)?;
        return Ok(preferred);
    }
    let short = short_folder()?;
    // Before anything else, so that it is found again.
    symlink(&short, &preferred).map_err(EngineError::at(&preferred))?;
    let marker = short.join(MARKER);
    std::fs::write(&marker, layout.directory.as_os_str().as_bytes()).map_err(EngineError::at(&marker))?;
    account.own(&short)?;
    account.can_enter(&short)?;
    Ok(short)
}

/// Removes the folder, also where it is elsewhere, if it is marked as this cluster's.
pub(super) fn remove_socket_folder(layout: &Layout) -> Result<(), EngineError> {
    let path = &layout.socket;
    let removed = match std::fs::read_link(path) {
        Ok(short) => {
            let owner = std::fs::read(short.join(MARKER)).unwrap_or_default();
            let is_ours = !owner.is_empty() && owner == layout.directory.as_os_str().as_bytes();
            let removed = if is_ours { std::fs::remove_dir_all(&short) } else { Ok(()) };
            removed.and_then(|()| std::fs::remove_file(path))
        }
        Err(_) if path.is_dir() => std::fs::remove_dir_all(path),
        Err(_) => Ok(()),
    };
    removed.map_err(EngineError::at(path))
}

fn fits(folder: &Path) -> bool {
    folder.as_os_str().len() + NAME.len() <= PATH_BYTES_MAX
}

fn short_folder() -> Result<PathBuf, EngineError> {
    let below = [std::env::temp_dir(), "/tmp".into()];
    let candidates = below.iter().flat_map(|parent| {
        let pid = std::process::id();
        (0..1000).map(move |number| parent.join(format!("steelbench-{pid}-{number}")))
    });
    for path in candidates.filter(|path| fits(path)) {
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(EngineError::at(&path)(source)),
        }
    }
    Err(EngineError::failed(
        "making a folder for the server's socket",
        format!("no path below {} is short enough; set TMPDIR to a short one", below[0].display()),
    ))
}

/// All files of a data directory, the log and tablespaces elsewhere included. Only the links that
/// PostgreSQL makes for these are followed.
pub(super) fn all(data: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let mut files = Vec::new();
    walk(data, &mut files)?;
    let tablespaces = data.join("pg_tblspc");
    let links = std::fs::read_dir(&tablespaces).map_err(EngineError::at(&tablespaces))?;
    let links = links.flatten().map(|entry| entry.path()).chain([data.join("pg_wal")]);
    for folder in links.filter(|path| path.is_symlink()).filter_map(|link| link.canonicalize().ok()) {
        walk(&folder, &mut files)?;
    }
    Ok(files)
}

/// Files come and go while a server runs: what is gone is left out.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), EngineError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(EngineError::at(folder))?,
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), files)?,
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// Syncs files and puts them out of the page cache.
pub(super) fn evict(files: &[PathBuf]) -> Result<(), EngineError> {
    for file in files {
        match File::open(file).and_then(|file| observe::page_cache::evict(&file)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(EngineError::at(file)(source));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Bytes that files have allocated.
pub(super) fn allocated_bytes(files: &[PathBuf]) -> u64 {
    // Blocks of 512 bytes, whatever the file system's are (stat(2)).
    files.iter().filter_map(|file| file.symlink_metadata().ok()).map(|found| found.blocks() * 512).sum()
}

/// Copies a folder with all it has to a new place and gives the copy to an account. Modes are kept;
/// files share their blocks with the original where the file system can, which the system's
/// `copy_file_range(2)` sees to.
pub fn clone_folder(from: &Path, to: &Path, owner: &Account) -> Result<(), EngineError> {
    std::fs::create_dir(to).map_err(EngineError::at(to))?;
    let mode = from.metadata().map_err(EngineError::at(from))?.permissions();
    std::fs::set_permissions(to, mode).map_err(EngineError::at(to))?;
    owner.own(to)?;
    for entry in std::fs::read_dir(from).map_err(EngineError::at(from))? {
        let entry = entry.map_err(EngineError::at(from))?;
        let (original, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(EngineError::at(&original))?;
        if kind.is_dir() {
            clone_folder(&original, &copy, owner)?;
        } else if kind.is_file() {
            std::fs::copy(&original, &copy).map_err(EngineError::at(&copy))?;
            owner.own(&copy)?;
        } else {
            let strange = io::Error::new(io::ErrorKind::InvalidData, "is neither a file nor a folder");
            return Err(EngineError::at(&original)(strange));
        }
    }
    Ok(())
}

/// Writes all that a file system holds back to its device, so that it does not do so later,
/// while something is measured.
pub(super) fn write_back(folder: &Path) -> Result<(), EngineError> {
    let file = File::open(folder).map_err(EngineError::at(folder))?;
    rustix::fs::syncfs(file).map_err(|error| EngineError::at(folder)(error.into()))
}
