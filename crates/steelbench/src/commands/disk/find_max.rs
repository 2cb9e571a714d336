//! `--find-max`: which threads x queue depth saturate the storage.

use super::compose::{Request, compose};
use crate::args::Disk;
use crate::commands::parse_experiment;
use crate::commands::run::{Sitting, exit_code};
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use observations::RunEnd;
use std::collections::BTreeSet;

/// Queue depths of the coarse run.
const COARSE_DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];
/// Length of its trials.
const COARSE_DURATION: &str = "1 s";
const COARSE_WARMUP: &str = "250 ms";
/// Largest queue depth that a thread can have.
const DEPTH_MAX: u64 = 65_536;
/// The knee is looked for among no fewer levels.
const LEVELS_MIN: usize = 4;

/// A coarse run over everything, then a fine one around what it found.
pub fn find_max(
    arguments: &Disk,
    name: &str,
    sitting: impl Fn(&str) -> Sitting,
) -> Result<ExitCode, Failure> {
    let (coarse_name, measure) = (format!("{name}-coarse"), &arguments.measure);
    let coarse = Request {
        name: &coarse_name,
        threads: coarse_threads(),
        depths: COARSE_DEPTHS.to_vec(),
        duration: COARSE_DURATION,
        warmup: measure.warmup.as_deref().unwrap_or(COARSE_WARMUP),
        blocks: 1,
        ..Request::new(arguments, name)
    };
    let coarse_sitting = sitting(&coarse_name);
    let end = coarse_sitting.conduct(&parse_experiment(&compose(&coarse)?, super::COMPOSED)?)?;
    if end != RunEnd::Completed {
        return Ok(exit_code(&end, false, None));
    }
    let knees = analysis::knee(&coarse_sitting.recording()?);
    if knees.is_empty() {
        coarse_sitting.show()?;
        return Err(Failure::failed("the coarse run measured too little to see where the storage saturates"));
    }
    let (mut threads, mut depths) = (BTreeSet::new(), BTreeSet::new());
    for knee in &knees {
        let point = &knee.points[knee.knee.unwrap_or(knee.maximum)];
        output::complain(&format!(
            "Coarse: {}{} at {} threads x {}{}",
            knee.group,
            if knee.group.is_empty() { "knee" } else { ": knee" },
            point.threads,
            point.queue_depth,
            if knee.knee.is_some() { "" } else { ", the most that was tried" },
        ));
        let (around_threads, around_depths) = around(point.threads, point.queue_depth);
        threads.extend(around_threads);
        depths.extend(around_depths);
    }
    let fine = Request {
        question: format!("How many I/Os under way saturate {}?", super::shown(&arguments.paths)),
        threads: threads.into_iter().collect(),
        depths: depths.into_iter().collect(),
        ..Request::new(arguments, name)
    };
    let sitting = sitting(name);
    let end = sitting.conduct(&parse_experiment(&compose(&fine)?, super::COMPOSED)?)?;
    let failed = sitting.show()?;
    Ok(exit_code(&end, failed, None))
}

/// 1, 2, 4, ... and the number of processors.
fn coarse_threads() -> Vec<u32> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let doubling = std::iter::successors(Some(1_u32), |threads| threads.checked_mul(2));
    let mut threads: Vec<u32> = doubling.take_while(|threads| *threads < cores).collect();
    threads.push(cores);
    threads
}

/// Numbers of threads and queue depths around those of a knee: from a quarter of the I/Os under way to four
/// times as many.
fn around(threads: u64, depth: u64) -> (Vec<u32>, Vec<u32>) {
    let quarters = [1, 2, 3, 4, 6, 8, 16].map(|quarters| (depth * quarters / 4).clamp(1, DEPTH_MAX));
    let mut depths: BTreeSet<u64> = quarters.into();
    let (more, largest) = (LEVELS_MIN.saturating_sub(depths.len()), depths.last().copied().unwrap_or(1));
    depths.extend((1..=more as u64).map(|step| largest + step));
    // With a depth of 1 it takes fewer threads to have fewer I/Os under way.
    let fewer = (threads > 1 && depth < 4).then_some(threads / 2);
    let threads = fewer.into_iter().chain([threads]).map(|threads| threads as u32).collect();
    (threads, depths.into_iter().map(|depth| depth as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::{around, coarse_threads};

    #[test]
    fn the_fine_levels_lie_around_the_knee() {
        assert_eq!(around(2, 16), (vec![2], vec![4, 8, 12, 16, 24, 32, 64]));
        assert_eq!(around(1, 1), (vec![1], vec![1, 2, 4, 5]));
        assert_eq!(around(4, 1), (vec![2, 4], vec![1, 2, 4, 5]));
        assert_eq!(around(1, 65_536).1.last(), Some(&65_536));
    }

    #[test]
    fn the_coarse_threads_end_with_the_processors() {
        let threads = coarse_threads();
        assert_eq!(threads[0], 1);
        assert!(threads.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
