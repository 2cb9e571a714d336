//! The folder of a server's sockets: private, and with a path short enough for a socket.

use super::account::Account;
use super::layout::Layout;
use super::{failed, file_error};
use crate::EngineError;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

/// Bytes in the path of a socket on Linux: `sun_path` has 108, the last is zero (unix(7)).
const PATH_BYTES_MAX: usize = 107;

/// The longest name of a socket and its lock file, with the slash before it.
const NAME: &str = "/.s.PGSQL.65535.lock";

/// The file that marks a short folder as ours; it holds the directory of the cluster.
const MARKER: &str = ".steelbench-socket";

/// Makes the folder for the sockets of a cluster: in its directory where the path is short
/// enough, else below the folder for temporary files, with a link to it in the directory.
pub(super) fn create(layout: &Layout, account: &Account) -> Result<PathBuf, EngineError> {
    let preferred = layout.socket();
    if fits(&preferred) {
        private_folder(&preferred).map_err(|source| file_error(&preferred, source))?;
        account.own(&preferred)?;
        return Ok(preferred);
    }
    let short = short_folder()?;
    // Before anything else, so that it is found again.
    symlink(&short, &preferred).map_err(|source| file_error(&preferred, source))?;
    let marker = short.join(MARKER);
    std::fs::write(&marker, layout.directory.as_os_str().as_bytes())
        .map_err(|source| file_error(&marker, source))?;
    account.own(&short)?;
    account.can_enter(&short)?;
    Ok(short)
}

/// Removes the folder, also where it is elsewhere, if it is marked as this cluster's.
pub(super) fn remove(layout: &Layout) -> io::Result<()> {
    let path = layout.socket();
    match std::fs::read_link(&path) {
        Ok(short) => {
            let owner = std::fs::read(short.join(MARKER)).unwrap_or_default();
            if !owner.is_empty() && owner == layout.directory.as_os_str().as_bytes() {
                std::fs::remove_dir_all(&short)?;
            }
            std::fs::remove_file(&path)
        }
        Err(_) if path.is_dir() => std::fs::remove_dir_all(&path),
        Err(_) => Ok(()),
    }
}

fn fits(folder: &Path) -> bool {
    folder.as_os_str().len() + NAME.len() <= PATH_BYTES_MAX
}

fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

fn short_folder() -> Result<PathBuf, EngineError> {
    let below = [std::env::temp_dir(), "/tmp".into()];
    let candidates = below.iter().flat_map(|parent| {
        let pid = std::process::id();
        (0..1000).map(move |number| parent.join(format!("steelbench-{pid}-{number}")))
    });
    for path in candidates.filter(|path| fits(path)) {
        match private_folder(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(file_error(&path, source)),
        }
    }
    Err(failed(
        "making a folder for the server's socket",
        format!("no path below {} is short enough; set TMPDIR to a short one", below[0].display()),
    ))
}
