//! Copies of folders that share their blocks where the file system can.

use super::account::Account;
use super::file_error;
use crate::EngineError;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Copies a folder with all it has to a new place and gives the copy to an account. Modes are
/// kept; files share their blocks with the original (reflink) where the file system can.
pub(super) fn clone_folder(from: &Path, to: &Path, owner: &Account) -> Result<(), EngineError> {
    let mut cloner = Cloner { owner, shares_blocks: true };
    cloner.folder(from, to)
}

/// Writes all that a file system holds back to its device, so that it does not do so later,
/// while something is measured.
pub(super) fn write_back(folder: &Path) -> Result<(), EngineError> {
    let file = File::open(folder).map_err(|source| file_error(folder, source))?;
    // SAFETY: the descriptor is open.
    let rc = unsafe { libc::syncfs(file.as_raw_fd()) };
    if rc == 0 { Ok(()) } else { Err(file_error(folder, io::Error::last_os_error())) }
}

struct Cloner<'a> {
    owner: &'a Account,
    /// Until the file system refuses.
    shares_blocks: bool,
}

impl Cloner<'_> {
    fn folder(&mut self, from: &Path, to: &Path) -> Result<(), EngineError> {
        std::fs::create_dir(to).map_err(|source| file_error(to, source))?;
        let mode = from.metadata().map_err(|source| file_error(from, source))?.permissions();
        std::fs::set_permissions(to, mode).map_err(|source| file_error(to, source))?;
        self.owner.own(to)?;
        for entry in std::fs::read_dir(from).map_err(|source| file_error(from, source))? {
            let entry = entry.map_err(|source| file_error(from, source))?;
            let kind = entry.file_type().map_err(|source| file_error(&entry.path(), source))?;
            let copy = to.join(entry.file_name());
            if kind.is_dir() {
                self.folder(&entry.path(), &copy)?;
            } else if kind.is_file() {
                self.file(&entry.path(), &copy)?;
                self.owner.own(&copy)?;
            } else {
                let strange = io::Error::new(io::ErrorKind::InvalidData, "is neither a file nor a folder");
                return Err(file_error(&entry.path(), strange));
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path) -> Result<(), EngineError> {
        self.shares_blocks = self.shares_blocks && share_blocks(from, to).is_ok();
        if !self.shares_blocks {
            std::fs::copy(from, to).map_err(|source| file_error(to, source))?;
        }
        Ok(())
    }
}

fn share_blocks(from: &Path, to: &Path) -> io::Result<()> {
    let source = File::open(from)?;
    let mode = source.metadata()?.permissions().mode();
    let target = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    // SAFETY: both descriptors are open.
    let rc = unsafe { libc::ioctl(target.as_raw_fd(), libc::FICLONE, source.as_raw_fd()) };
    if rc == 0 {
        target.set_permissions(source.metadata()?.permissions())
    } else {
        Err(io::Error::last_os_error())
    }
}
