//! From streams and files to what the I/O engine runs.

use super::streams::StreamPlan;
use crate::{ProbeError, TrialContext};
use disk_io::{Backend, Group, Load, Region, Stream, Weighted};
use engines::{EngineError, FileSet};
use std::time::Duration;

/// The load of a trial. Streams with a share form one group with the threads of `[workload]`; each of the others has
/// a group of its own.
pub fn load(context: &TrialContext<'_>, streams: &[StreamPlan], set: &FileSet) -> Result<Load, ProbeError> {
    let configuration = context.configuration;
    let count = |path| configuration.integer(path).unwrap_or(1) as u32;
    let compress_percent = (configuration.number("target.compress").unwrap_or(0.0) * 100.0).round() as u8;
    let mut shared = Group {
        threads: count("workload.threads"),
        queue_depth: count("workload.queue_depth"),
        batch: count("workload.batch"),
        streams: Vec::new(),
    };
    let mut groups = Vec::new();
    for plan in streams {
        let stream = stream(plan, set, compress_percent)?;
        match plan.share() {
            Some(weight) => shared.streams.push(Weighted { stream, weight }),
            None => groups.push(Group {
                threads: plan.threads(),
                queue_depth: plan.queue_depth(),
                batch: plan.batch(),
                streams: vec![Weighted { stream, weight: 1 }],
            }),
        }
    }
    if !shared.streams.is_empty() {
        groups.push(shared);
    }
    let seconds = |path| configuration.number(path).map(Duration::from_secs_f64);
    Ok(Load {
        groups,
        backend: match configuration.text("workload.io_engine") {
            "io_uring" => Some(Backend::IoUring),
            "pread" => Some(Backend::Blocking),
            _ => None,
        },
        duration: seconds("workload.duration"),
        warmup: seconds("workload.warmup").unwrap_or_default(),
        interval: seconds("observe.interval").unwrap_or(Duration::from_secs(1)),
        seed: context.seed,
    })
}

fn stream(plan: &StreamPlan, set: &FileSet, compress_percent: u8) -> Result<Stream, ProbeError> {
    let unfit = |message: String| EngineError::Engine { doing: format!("stream {}", plan.name), message };
    let role = plan.role();
    let of_role = set.of(role).count();
    let chosen =
        set.of(role).enumerate().filter(|(number, _)| plan.file().is_none_or(|only| only == *number));
    let mut regions = Vec::new();
    for (_, file) in chosen {
        if let Some(reason) = file.forbidden.as_ref().filter(|_| plan.read_percent() < 100) {
            return Err(unfit(reason.clone()).into());
        }
        let length = file.size.checked_sub(set.offset).filter(|length| *length > 0).ok_or_else(|| {
            let path = file.path.display();
            unfit(format!(
                "{path} has {} bytes: nothing is left behind target.offset = {}",
                file.size, set.offset
            ))
        })?;
        let length = plan.working_set().map_or(length, |most| length.min(most));
        regions.push(Region { path: file.path.clone(), start: set.offset, length });
    }
    if regions.is_empty() {
        return Err(unfit(format!(
            "there are {of_role} {role} files, none with the number that `file` gives"
        ))
        .into());
    }
    Ok(Stream {
        name: plan.name.clone(),
        regions,
        access: plan.pattern().access,
        read_percent: plan.read_percent(),
        block: plan.block(),
        align: plan.align(),
        direct: plan.direct(),
        durability: plan.durability(),
        arrivals: plan.arrivals(),
        compress_percent,
        bytes: plan.bytes(),
    })
}
