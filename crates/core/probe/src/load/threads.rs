//! The threads of this process's part of a load.

use super::client::Client;
use super::outcome::Finished;
use super::plan::{LoadPart, LoadPlan, Workloads};
use crate::measure::Subject;
use crate::{ProbeError, TrialContext};
use observe::Clock;
use std::time::Duration;
use work::conductor::{Director, Lanes, conduct};

/// The load as the subject of a measurement.
pub fn subject<'a>(context: &TrialContext<'a>, plan: &LoadPlan) -> Subject<'a> {
    Subject {
        // Devices are watched where the target's files can be seen.
        storage: context.instance.space_bytes().map_or(&[], |_| context.storage),
        units: plan.units,
        duration_s: plan.duration_s,
        rate_unit: plan.rate_unit,
        rate_scale: 1.0,
    }
}

/// Runs the threads of this process's part of a load.
pub(crate) fn conducted(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    part: &LoadPart,
    clock: &Clock,
    director: &mut dyn Director,
    workload: &Workloads<'_>,
) -> Result<Vec<Finished>, ProbeError> {
    let lanes = Lanes {
        number: part.threads as usize,
        name: "load",
        warmup: Duration::from_secs_f64(plan.warmup_s),
    };
    conduct(lanes, director, |stage| Client::work(context, plan, (stage, clock), part, workload))
}
