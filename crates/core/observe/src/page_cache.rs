//! The operating system's page cache: what of a file is in it, and putting it there or out of it.
//!
//! All of it works on open files. A process that closes a file loses all its POSIX locks on that
//! file, even locks taken through another descriptor (fcntl(2)). So code with a live SQLite
//! database keeps a handle of its own for this.

use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr;

/// Makes a file durable and drops its pages from the page cache.
///
/// Pages that a process has mapped stay; [`resident_bytes`] shows the result.
///
/// # Errors
/// When the file cannot be synced.
pub fn evict(file: &File) -> io::Result<()> {
    // Dirty pages cannot be dropped.
    file.sync_all()?;
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Reads a whole file, so that it is in the page cache.
///
/// # Errors
/// When the file cannot be read.
pub fn load(file: &File) -> io::Result<()> {
    let mut buffer = vec![0_u8; 1 << 20];
    let mut offset = 0;
    loop {
        match file.read_at(&mut buffer, offset)? {
            0 => return Ok(()),
            read => offset += read as u64,
        }
    }
}

/// Bytes of a file that are in the page cache, in whole pages but not beyond the file's end.
///
/// # Errors
/// When the file cannot be mapped, or is a device.
pub fn resident_bytes(file: &File) -> io::Result<u64> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the kernel does not report this for devices",
        ));
    }
    let length = metadata.len() as usize;
    if length == 0 {
        return Ok(0);
    }
    // SAFETY: a constant of the system.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    let mut pages = vec![0_u8; length.div_ceil(page_bytes)];
    // SAFETY: the mapping is only asked about, never read, and unmapped below; `pages` has one
    // byte for each page of it.
    let rc = unsafe {
        let file = file.as_raw_fd();
        let map = libc::mmap(ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file, 0);
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let rc = libc::mincore(map, length, pages.as_mut_ptr());
        libc::munmap(map, length);
        rc
    };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    let resident = pages.iter().filter(|page| **page & 1 == 1).count();
    Ok((resident * page_bytes).min(length) as u64)
}

#[cfg(test)]
mod tests {
    use super::{evict, load, resident_bytes};
    use std::fs::File;

    #[test]
    fn a_file_goes_out_of_the_cache_and_back_in() {
        let length = 3_000_001_u64;
        // Beside the sources: the folder for temporary files may be memory, which cannot be
        // evicted.
        let folder = tempfile::tempdir_in(".").unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, vec![7_u8; length as usize]).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), length);
        let volume = ("here".to_owned(), folder.path().to_path_buf());
        if crate::environment::capture(&[volume]).volumes[0].file_system.as_deref() == Some("tmpfs")
        {
            println!("SKIPPED: the sources are on tmpfs, whose files cannot leave the page cache");
            return;
        }
        evict(&file).unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), 0);
        load(&file).unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), length);
    }

    #[test]
    fn an_empty_file_has_nothing_resident() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("empty")).unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), 0);
    }
}
