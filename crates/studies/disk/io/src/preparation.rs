//! Preconditioning of a solid-state drive: filling it, then overwriting it until it is steady.

use crate::data::{Buffers, Kind};
use crate::shared::{direct_unit, refused};
use crate::{Access, Arrivals, BlockSize, DiskError, Durability, Group, Load, Region, Stream, run};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Duration;
use work::conductor::{Director, LOOK_EVERY, LoadError, LoadProgress};

/// Bytes of one write.
const FILL_BLOCK: u32 = 4 << 20;

/// Writes a whole region once, from its beginning to its end, and makes it durable. A file that is
/// too short is made longer. `compress_percent` of the data can be removed by a compressor.
///
/// # Errors
/// When the file cannot be written (no space: `ENOSPC`), or `stop` returns true.
pub fn fill(
    region: &Region,
    direct: bool,
    compress_percent: u8,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), DiskError> {
    let path = &region.path;
    let failed = |doing| move |source| DiskError::File { path: path.clone(), doing, source };
    let open = |direct: bool| {
        let flags = libc::O_NOFOLLOW | if direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new().write(true).custom_flags(flags).open(path);
        file.map_err(|error| refused(path, direct, true, error))
    };
    let buffered = open(false)?;
    let end = region.start + region.length;
    let metadata = buffered.metadata().map_err(failed("reading the size"))?;
    if metadata.is_file() && metadata.len() < end {
        buffered.set_len(end).map_err(failed("extending the file"))?;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(region.start);
    let kind = Kind { bytes: FILL_BLOCK, compress_percent: Some(compress_percent) };
    let buffers = Buffers::new(1, &[kind], &mut random).map_err(failed("filling"))?;
    let (address, _) = buffers.get(0, 0);
    let mut write = |file: &File, from: u64, end: u64| {
        for at in (from..end).step_by(FILL_BLOCK as usize) {
            if stop() {
                return Err(DiskError::from(LoadError::Stopped));
            }
            buffers.stamp(0, 0, &mut random);
            let length = (end - at).min(u64::from(FILL_BLOCK)) as usize;
            // SAFETY: the buffer has room for a block, and nothing writes to it during the call.
            let contents = unsafe { std::slice::from_raw_parts(address, length) };
            file.write_all_at(contents, at).map_err(failed("filling"))?;
        }
        Ok(())
    };
    let mut at = region.start;
    if direct {
        let file = open(true)?;
        let unit = direct_unit(path, &file);
        // A rest that is not a whole sector, or a beginning within one, goes through memory.
        if at.is_multiple_of(unit) {
            write(&file, at, end - end % unit)?;
            at = at.max(end - end % unit);
        }
    }
    write(&buffered, at, end)?;
    buffered.sync_all().map_err(failed("syncing after filling"))
}

/// Size of the writes; sectors are larger on some drives.
const OVERWRITE_BLOCK: u32 = 8 << 10;

const OVERWRITE_DEPTH: u32 = 32;

/// A director that stops when the closure returns true.
struct Until<'a>(&'a (dyn Fn() -> bool + Sync));

impl Director for Until<'_> {
    fn go(&mut self) -> bool {
        true
    }

    fn look(&mut self, _: &LoadProgress) -> Option<Duration> {
        (!(self.0)()).then_some(LOOK_EVERY)
    }
}

/// Result of preconditioning.
#[derive(Debug, Clone, PartialEq)]
pub struct Preconditioning {
    /// I/Os per second of each round.
    pub iops: Vec<f64>,
    /// True if the last rounds were [`steady`].
    pub steady: bool,
}

/// Overwrites regions in random order, round by round, until the rate of a solid state drive is
/// [`steady`], or for this many rounds at most. Blocks have 8 KiB, or a sector where that is
/// larger; I/O bypasses the page cache, 32 in flight. [`fill`] the regions before.
///
/// # Errors
/// When a file cannot be written, or `stop` returns true.
pub fn precondition(
    regions: &[Region],
    round: Duration,
    rounds_max: u32,
    compress_percent: u8,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Preconditioning, DiskError> {
    let block = block(regions)?;
    let mut iops = Vec::new();
    while (iops.len() as u32) < rounds_max && steady(&iops) != Some(true) {
        let load = overwrite(regions, block, round, compress_percent, iops.len() as u64);
        let outcome = run(&load, &mut Until(stop))?;
        for stream in outcome.streams {
            if let Some(failure) = stream.failures.into_iter().next() {
                let source = failure.errno.map_or_else(
                    || io::Error::other(failure.message),
                    io::Error::from_raw_os_error,
                );
                return Err(DiskError::File {
                    path: failure.path,
                    doing: "preconditioning",
                    source,
                });
            }
            iops.push(stream.writes.latency.len() as f64 / outcome.elapsed_s);
        }
    }
    Ok(Preconditioning { steady: steady(&iops) == Some(true), iops })
}

/// The smallest block that all regions can do.
fn block(regions: &[Region]) -> Result<u32, DiskError> {
    regions.iter().try_fold(OVERWRITE_BLOCK, |block, Region { path, .. }| {
        let file = File::open(path).map_err(|error| refused(path, false, false, error))?;
        Ok(block.max(direct_unit(path, &file) as u32))
    })
}

fn overwrite(
    regions: &[Region],
    block: u32,
    round: Duration,
    compress_percent: u8,
    seed: u64,
) -> Load {
    let stream = Stream {
        name: "precondition".into(),
        weight: 1,
        regions: regions.to_vec(),
        access: Access::Random,
        read_percent: 0,
        block: BlockSize { min: block, max: block },
        align: None,
        direct: true,
        durability: Durability::Never,
        arrivals: Arrivals::Closed,
        compress_percent,
        bytes: None,
    };
    Load {
        groups: vec![Group {
            threads: 1,
            queue_depth: OVERWRITE_DEPTH,
            batch: 1,
            streams: vec![stream],
        }],
        backend: None,
        duration: Some(round),
        warmup: Duration::ZERO,
        interval: Duration::from_secs(1),
        seed,
    }
}

/// Rounds over which steadiness is judged.
pub const STEADY_ROUNDS: usize = 5;

/// Largest less smallest rate of the window, at most this share of their mean.
const RANGE_MAX: f64 = 0.20;

/// Change of the fitted line over the window, at most this share of the mean.
const SLOPE_MAX: f64 = 0.10;

/// Returns whether a drive has settled, by the IOPS of its rounds; `None` for fewer than
/// [`STEADY_ROUNDS`].
///
/// The steady state of the SNIA Solid State Storage Performance Test Specification (Enterprise,
/// version 1.1, 2.1.24), over the last five rounds:
///
/// - The largest and the smallest rate differ by at most 20 % of the mean.
/// - The least-squares line changes by at most 10 % of the mean from the first to the last round.
pub fn steady(rates: &[f64]) -> Option<bool> {
    let window = rates.last_chunk::<STEADY_ROUNDS>()?;
    let mean = window.iter().sum::<f64>() / STEADY_ROUNDS as f64;
    let (least, most) =
        window.iter().fold((f64::MAX, f64::MIN), |(a, b), rate| (a.min(*rate), b.max(*rate)));
    let middle = (STEADY_ROUNDS - 1) as f64 / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (round, rate) in window.iter().enumerate() {
        products += (round as f64 - middle) * (rate - mean);
        squares += (round as f64 - middle).powi(2);
    }
    let change = products / squares * (STEADY_ROUNDS - 1) as f64;
    Some(most - least <= RANGE_MAX * mean && change.abs() <= SLOPE_MAX * mean)
}

#[cfg(test)]
mod tests {
    use super::steady;

    #[test]
    fn agrees_with_series_worked_by_hand() {
        assert_eq!(steady(&[100.0; 4]), None);
        assert_eq!(steady(&[100.0; 5]), Some(true));
        // Mean 100, range 20, slope 0 (deviations 0 -10 10 0 0: products 0 + 10 + 0 + 0 + 0 over 10
        // = 1, times 4 rounds: 4 %).
        assert_eq!(steady(&[100.0, 90.0, 110.0, 100.0, 100.0]), Some(true));
        // One more than 20 % of range.
        assert_eq!(steady(&[100.0, 89.0, 111.0, 100.0, 100.0]), Some(false));
        // A line of 2.4 a round: 9.6 % over the window; of 2.6: 10.4 %, although the range is
        // small.
        assert_eq!(steady(&[95.2, 97.6, 100.0, 102.4, 104.8]), Some(true));
        assert_eq!(steady(&[94.8, 97.4, 100.0, 102.6, 105.2]), Some(false));
        // Falling as well as rising.
        assert_eq!(steady(&[105.2, 102.6, 100.0, 97.4, 94.8]), Some(false));
        // Only the last five count.
        assert_eq!(steady(&[900.0, 400.0, 100.0, 100.0, 100.0, 100.0, 100.0]), Some(true));
        assert_eq!(steady(&[100.0, 100.0, 100.0, 100.0, 100.0, 900.0]), Some(false));
    }
}
