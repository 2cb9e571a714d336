//! What a cluster has in its directory, and the folder of its sockets: private, and with a path short
//! enough for a socket.

use super::account::Account;
use super::{at, failed};
use crate::EngineError;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

/// Names in the directory of a cluster.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The directory, marked as ours by its maker.
    pub(super) directory: PathBuf,
    /// The data directory of the server.
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
    /// Of the server.
    pub(super) pid: Option<i32>,
    /// Key and identifier of its System V shared memory.
    pub(super) shared_memory: Option<(i64, i32)>,
    /// It accepts connections.
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
    symlink(&short, &preferred).map_err(at(&preferred))?;
    let marker = short.join(MARKER);
    std::fs::write(&marker, layout.directory.as_os_str().as_bytes()).map_err(at(&marker))?;
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
    removed.map_err(at(path))
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
            Err(source) => return Err(at(&path)(source)),
        }
    }
    Err(failed(
        "making a folder for the server's socket",
        format!("no path below {} is short enough; set TMPDIR to a short one", below[0].display()),
    ))
}
