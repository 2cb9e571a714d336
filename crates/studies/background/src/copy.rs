//! Copying a file beside a load.

use crate::outcome::Outcome;
use engine::EngineError;
use observe::CpuUse;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use work::Cancel;

/// Bytes that are read and written at a time.
const CHUNK_BYTES: usize = 1 << 20;
const SOURCE: &str = "source";

/// Makes the file that is copied, of bytes that do not compress.
pub fn make_source(folder: &Path, bytes: u64, cancel: &Cancel) -> Result<(), EngineError> {
    let path = folder.join(SOURCE);
    let mut file = File::create(&path).map_err(EngineError::at(&path))?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bytes);
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut left = bytes;
    while left > 0 {
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        let length = left.min(CHUNK_BYTES as u64) as usize;
        random.fill_bytes(&mut chunk[..length]);
        file.write_all(&chunk[..length]).map_err(EngineError::at(&path))?;
        left -= length as u64;
    }
    file.sync_all().map_err(EngineError::at(&path))
}

/// Copies it, at no more than this many bytes a second, and syncs the copy.
pub fn run(folder: &Path, rate: Option<f64>, cancel: &Cancel) -> Result<Outcome, EngineError> {
    let (from, to) = (folder.join(SOURCE), folder.join("copy"));
    let (used, start) = (CpuUse::of_this_thread(), Instant::now());
    let mut source = File::open(&from).map_err(EngineError::at(&from))?;
    let mut target = File::create(&to).map_err(EngineError::at(&to))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut bytes = 0;
    loop {
        let length = source.read(&mut chunk).map_err(EngineError::at(&from))?;
        if length == 0 {
            break;
        }
        target.write_all(&chunk[..length]).map_err(EngineError::at(&to))?;
        bytes += length as u64;
        let due = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate));
        cancel.wait_until(start + due);
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
    }
    target.sync_all().map_err(EngineError::at(&to))?;
    Ok(Outcome { cpu_s: Some(used.seconds()), bytes: Some(bytes), backup: None })
}
