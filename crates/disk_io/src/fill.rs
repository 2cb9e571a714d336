use crate::data::{Buffers, Kind};
use crate::open::{direct_unit, refused};
use crate::{DiskError, Region};
use conductor::LoadError;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// Bytes of one write.
const BLOCK: u32 = 4 << 20;

/// Writes a whole region once, from its beginning to its end, and makes it durable. A file that is
/// too short is made longer. `compress_percent` of the data can be removed by a compressor.
///
/// # Errors
/// When the file cannot be written (no space: `ENOSPC`), or `stop` says so.
pub fn fill(
    region: &Region,
    direct: bool,
    compress_percent: u8,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), DiskError> {
    let path = &region.path;
    let failed = |doing| move |source| DiskError::File { path: path.clone(), doing, source };
    let open = |direct: bool| {
        let flags = if direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new().write(true).custom_flags(flags).open(path);
        file.map_err(|error| refused(path, direct, true, error))
    };
    let buffered = open(false)?;
    let end = region.start + region.length;
    let metadata = buffered.metadata().map_err(failed("find its size"))?;
    if metadata.is_file() && metadata.len() < end {
        buffered.set_len(end).map_err(failed("make it longer"))?;
    }
    let mut at = region.start;
    if direct {
        let file = open(true)?;
        let unit = direct_unit(&file);
        // A rest that is no whole sector, or a beginning within one, goes through memory.
        let direct_end = if at.is_multiple_of(unit) { end - end % unit } else { at };
        at = write_all(&file, at, direct_end, compress_percent, stop).map_err(|error| error.of(region))?;
    }
    write_all(&buffered, at, end, compress_percent, stop).map_err(|error| error.of(region))?;
    buffered.sync_all().map_err(failed("make durable what fills it"))
}

enum Broken {
    Stopped,
    Failed(io::Error),
}

impl Broken {
    fn of(self, region: &Region) -> DiskError {
        match self {
            Self::Stopped => LoadError::Stopped.into(),
            Self::Failed(source) => DiskError::File { path: region.path.clone(), doing: "fill it", source },
        }
    }
}

/// Writes from one offset up to another; returns the latter.
fn write_all(
    file: &File,
    from: u64,
    end: u64,
    compress_percent: u8,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<u64, Broken> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(from);
    let kind = Kind { bytes: BLOCK, compress_percent: Some(compress_percent) };
    let buffers = Buffers::new(1, &[kind], &mut random).map_err(Broken::Failed)?;
    let (address, _) = buffers.get(0, 0);
    let mut at = from;
    while at < end {
        if stop() {
            return Err(Broken::Stopped);
        }
        let length = (end - at).min(u64::from(BLOCK)) as u32;
        buffers.stamp(0, 0, &mut random);
        // SAFETY: the buffer has room for a block, and nobody writes to it meanwhile.
        let contents = unsafe { std::slice::from_raw_parts(address, length as usize) };
        file.write_all_at(contents, at).map_err(Broken::Failed)?;
        at += u64::from(length);
    }
    Ok(end.max(from))
}
