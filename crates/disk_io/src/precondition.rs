use crate::{
    Access, Arrivals, BlockSize, DiskError, Durability, Group, Load, Region, Stream, Weighted, run, steady,
};
use conductor::{Director, LOOK_EVERY, LoadProgress};
use std::io;
use std::time::Duration;

/// Size of the writes; sectors are larger on some drives.
const BLOCK: u32 = 8 << 10;

const DEPTH: u32 = 32;

/// A director that stops when it is told to.
struct Until<'a>(&'a (dyn Fn() -> bool + Sync));

impl Director for Until<'_> {
    fn go(&mut self) -> bool {
        true
    }

    fn look(&mut self, _: &LoadProgress) -> Option<Duration> {
        (!(self.0)()).then_some(LOOK_EVERY)
    }
}

/// What preconditioning came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Preconditioned {
    /// I/Os per second of each round.
    pub iops: Vec<f64>,
    /// Whether the last rounds were [`steady`].
    pub steady: bool,
}

/// Overwrites regions in random order (8 KiB, or the sector where that is larger, past the page
/// cache, 32 at once), round by round, until the rate of a solid state drive is [`steady`], or for so many
/// rounds at most. [`crate::fill`] them before.
///
/// # Errors
/// When a file cannot be written, or `stop` says so.
pub fn precondition(
    regions: &[Region],
    round: Duration,
    rounds_max: u32,
    compress_percent: u8,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Preconditioned, DiskError> {
    let block = block(regions)?;
    let mut iops = Vec::new();
    while (iops.len() as u32) < rounds_max && steady(&iops) != Some(true) {
        let load = overwrite(regions, block, round, compress_percent, iops.len() as u64);
        let outcome = run(&load, &mut Until(stop))?;
        for stream in outcome.streams {
            if let Some(failure) = stream.failures.into_iter().next() {
                let source = failure
                    .errno
                    .map_or_else(|| io::Error::other(failure.message), io::Error::from_raw_os_error);
                return Err(DiskError::File { path: failure.path, doing: "precondition it", source });
            }
            iops.push(stream.writes.latency.len() as f64 / outcome.elapsed_s);
        }
    }
    Ok(Preconditioned { steady: steady(&iops) == Some(true), iops })
}

/// The smallest block that all regions can do.
fn block(regions: &[Region]) -> Result<u32, DiskError> {
    let unit = |region: &Region| -> Result<u32, DiskError> {
        let file = std::fs::File::open(&region.path);
        let file = file.map_err(|error| crate::open::refused(&region.path, false, false, error))?;
        Ok(crate::open::direct_unit(&file) as u32)
    };
    regions.iter().map(unit).try_fold(BLOCK, |block, unit| Ok(block.max(unit?)))
}

fn overwrite(regions: &[Region], block: u32, round: Duration, compress_percent: u8, seed: u64) -> Load {
    let stream = Stream {
        name: "precondition".into(),
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
            queue_depth: DEPTH,
            batch: 1,
            streams: vec![Weighted { stream, weight: 1 }],
        }],
        backend: None,
        duration: Some(round),
        warmup: Duration::ZERO,
        interval: Duration::from_secs(1),
        seed,
    }
}
