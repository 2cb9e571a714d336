//! The folder of a server's sockets: in its directory where the path is short enough, else below
//! the folder for temporary files.

use crate::account::Account;
use crate::files::Layout;
use crate::owner::Owner;
use engine::{EngineError, Result};
use observe::processes;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes in the path of a socket on Linux: `sun_path` has 108, the last is zero (unix(7)).
const PATH_BYTES_MAX: usize = 107;

/// The longest name of a socket and its lock file (PostgreSQL's), with the slash before it.
const NAME: &str = "/.s.PGSQL.65535.lock";

/// The file that marks a short folder as ours: the directory of the server, a zero byte, and the
/// process that made it.
const MARKER: &str = ".steelbench-socket";

/// The beginning of the names of short folders; the number of the process that made one follows.
const PREFIX: &str = "steelbench-";

/// The size of a marker is a path's and some numbers'.
const MARKER_BYTES_MAX: u64 = 8 << 10;

/// A folder without a marker is that of a killed process once it is as old as this.
const UNMARKED: Duration = Duration::from_secs(60);

/// Makes the folder for the sockets of a server: in its directory where the path is short
/// enough, else below the folder for temporary files, with a link to it in the directory.
pub(crate) fn make_socket_folder(layout: &Layout, account: &Account) -> Result<PathBuf> {
    remove_left(&temporary_folders(), account);
    let preferred = layout.socket.clone();
    if fits(&preferred) {
        account.make_folder(&preferred)?;
        return Ok(preferred);
    }
    let short = short_folder()?;
    // Before anything else, so that it is found again.
    symlink(&short, &preferred).map_err(EngineError::at(&preferred))?;
    let marker = short.join(MARKER);
    std::fs::write(&marker, Mark::ours().bytes(&layout.directory))
        .map_err(EngineError::at(&marker))?;
    account.chown(&short)?;
    account.can_enter(&short)?;
    Ok(short)
}

/// Removes the folder, also where it is elsewhere, if it is marked as this server's.
pub(crate) fn remove_socket_folder(layout: &Layout) -> Result<()> {
    let path = &layout.socket;
    let removed = match std::fs::read_link(path) {
        Ok(short) => {
            let marker = read_marker(&short).unwrap_or_default();
            let directory = marker.split(|byte| *byte == 0).next().unwrap_or_default();
            let is_ours =
                !directory.is_empty() && directory == layout.directory.as_os_str().as_bytes();
            let removed = if is_ours { remove(&short) } else { Ok(()) };
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

/// The folders for temporary files.
fn temporary_folders() -> Vec<PathBuf> {
    let mut folders = vec![std::env::temp_dir(), "/tmp".into()];
    folders.dedup();
    folders
}

fn short_folder() -> Result<PathBuf> {
    let below = temporary_folders();
    let candidates = below.iter().flat_map(|parent| {
        let pid = std::process::id();
        (0..1000).map(move |number| parent.join(format!("{PREFIX}{pid}-{number}")))
    });
    for path in candidates.filter(|path| fits(path)) {
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(EngineError::at(&path)(source)),
        }
    }
    Err(EngineError::failed(
        "creating a folder for the server's socket",
        format!(
            "every path below {} is too long for a socket; set TMPDIR to a shorter folder",
            below[0].display()
        ),
    ))
}

/// The maker of a short folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    owner: Owner,
    /// The namespace in which its number counts: containers may share a folder.
    namespace: Option<PathBuf>,
}

impl Mark {
    /// Returns this process.
    fn ours() -> Self {
        Self { owner: Owner::ours(), namespace: std::fs::read_link("/proc/self/ns/pid").ok() }
    }

    /// The content of the marker of a server's folder.
    fn bytes(&self, directory: &Path) -> Vec<u8> {
        let maker = serde_json::to_vec(self).unwrap_or_default();
        [directory.as_os_str().as_bytes(), b"\0", &maker].concat()
    }

    /// Returns whether it is certain that its process is gone.
    fn is_gone(&self) -> bool {
        self.namespace == Self::ours().namespace && !self.owner.is_alive()
    }
}

/// Removes the short folders of processes that are gone, with what their servers left there.
fn remove_left(parents: &[PathBuf], account: &Account) {
    let entries = parents.iter().filter_map(|parent| std::fs::read_dir(parent).ok());
    for path in entries.flatten().flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let numbers = name.strip_prefix(PREFIX).and_then(|numbers| numbers.split_once('-'));
        let Some((Ok(pid), Ok(_))) =
            numbers.map(|(pid, number)| (pid.parse::<i32>(), number.parse::<u32>()))
        else {
            continue;
        };
        if !is_of_user(&path, account) {
            continue;
        }
        let removed = match read_marker(&path) {
            Ok(marker) if is_of_gone_process(&marker, pid) => remove(&path),
            // Killed before it wrote the marker, or after it removed that.
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_abandoned(&path, pid) => {
                std::fs::remove_dir(&path)
            }
            _ => Ok(()),
        };
        // The next start tries again.
        drop(removed);
    }
}

/// Returns whether a folder, not a link, belongs to us or to the account.
fn is_of_user(path: &Path, account: &Account) -> bool {
    let uid = rustix::process::geteuid().as_raw();
    path.symlink_metadata()
        .is_ok_and(|found| found.is_dir() && [uid, account.uid()].contains(&found.uid()))
}

fn is_of_gone_process(marker: &[u8], pid: i32) -> bool {
    let maker = marker.iter().position(|byte| *byte == 0).map(|end| &marker[end + 1..]);
    let mark = maker.and_then(|maker| serde_json::from_slice::<Mark>(maker).ok());
    mark.is_some_and(|mark| mark.owner.pid == pid && mark.is_gone())
}

fn is_abandoned(path: &Path, pid: i32) -> bool {
    let modified = path.symlink_metadata().and_then(|found| found.modified()).ok();
    let age = modified.and_then(|modified| modified.elapsed().ok());
    !processes::is_alive(pid) && age.is_some_and(|age| age > UNMARKED)
}

/// Reads the marker, a regular file: another program may have put a pipe there.
fn read_marker(folder: &Path) -> io::Result<Vec<u8>> {
    let path = folder.join(MARKER);
    if !path.symlink_metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(MARKER_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Removes a short folder, its marker last: after a kill in between it is known as ours.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten().filter(|entry| entry.file_name() != MARKER) {
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    std::fs::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::{MARKER, Mark, UNMARKED, remove_left};
    use crate::account::Account;
    use crate::owner::Owner;
    use std::fs::File;
    use std::path::Path;
    use std::process::Command;
    use std::time::SystemTime;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_marked_folders_of_gone_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let account = Account::for_server(None, "nobody").unwrap();
        let live = std::process::id();
        let mut child = Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        let owner = |pid: u32, ticks: u64| -> Owner {
            let text = format!("{{\"pid\": {pid}, \"started_ticks\": {ticks}}}");
            serde_json::from_str(&text).unwrap()
        };
        let make = |name: &str, owner: Owner| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            let marker = Mark { owner, ..Mark::ours() }.bytes(Path::new("/srv/run"));
            std::fs::write(path.join(MARKER), marker).unwrap();
            std::fs::write(path.join(".s.PGSQL.5432"), "").unwrap();
        };
        make(&format!("steelbench-{gone}-0"), owner(gone, 1));
        // Another process has its number now.
        make(&format!("steelbench-{live}-1"), owner(live, 1));
        make(&format!("steelbench-{live}-2"), Owner::ours());
        // Another name, and another number than the marker's.
        make(&format!("steelbench-{gone}"), owner(gone, 1));
        make(&format!("steelbench-{gone}-9"), owner(live, 1));
        let namespace = Some("pid:[1]".into());
        let foreign = Mark { owner: owner(gone, 1), namespace }.bytes(Path::new("/srv/run"));
        make(&format!("steelbench-{gone}-3"), owner(gone, 1));
        let marker = folder.path().join(format!("steelbench-{gone}-3")).join(MARKER);
        std::fs::write(marker, foreign).unwrap();
        let old = SystemTime::now() - 2 * UNMARKED;
        for (number, is_old) in [(4, true), (5, false), (6, true)] {
            let path = folder.path().join(format!("steelbench-{gone}-{number}"));
            std::fs::create_dir(&path).unwrap();
            if number == 6 {
                let pipe = path.join(MARKER);
                assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
            }
            if is_old {
                File::open(&path).unwrap().set_modified(old).unwrap();
            }
        }
        remove_left(&[folder.path().to_path_buf()], &account);
        let mut kept = [
            format!("steelbench-{gone}"),
            format!("steelbench-{gone}-3"),
            format!("steelbench-{gone}-5"),
            format!("steelbench-{gone}-6"),
            format!("steelbench-{gone}-9"),
            format!("steelbench-{live}-2"),
        ];
        kept.sort();
        assert_eq!(names(folder.path()), kept);
    }
}
