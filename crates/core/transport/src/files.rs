//! Files that a connection string names: passwords, services, certificates, keys.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Most bytes of such a file: more than all certificates of a platform.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The content of such a file; of anything else than a regular file, and of a longer one, an error.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_file_and_metadata(path).map(|(bytes, _)| bytes)
}

/// Reads a file and its permissions.
pub fn read_file_and_metadata(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    // Does not wait for the other end of a named pipe.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it is larger than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    Ok((bytes, metadata))
}
