//! Reads files that people write, up to a size.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Largest experiment file, script or job file that is read: more than people write, and little
/// enough to be kept with each run. What is larger was taken for one, as a device or a data file
/// may be.
pub const SOURCE_BYTES_MAX: u64 = 16 << 20;

/// Reads the text of a file, as [`read_bytes`] does.
///
/// # Errors
/// As [`read_bytes`], and when it is not text in UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String> {
    let bytes = read_bytes(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "not text in UTF-8"))
}

/// Reads a file of at most `bytes_max` bytes; of a larger one no more than that is read.
///
/// # Errors
/// When it cannot be read, is not a regular file, or is too large.
pub fn read_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let metadata = path.metadata()?;
    // Opening a named pipe waits for its other end, and reading a device may never end.
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "not a regular file; save its content to a file first",
        ));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("larger than the limit of {} MiB", bytes_max >> 20);
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}
