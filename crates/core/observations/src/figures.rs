//! Recordings without figures that nothing can have measured.

use crate::range::{figure, has, is_amount};
use crate::{DeviceUse, Observations, Recording, Series, TrialRecord, TrialStatus, WaitSource};

/// An amount that others are divided by; 0 where it was not measured.
fn divisor(value: &mut f64) {
    *value = figure(*value).max(0.0);
}

/// An amount; 0 where it was not measured.
fn amount(value: &mut f64) {
    *value = if is_amount(*value) { *value } else { 0.0 };
}

impl Recording {
    /// Returns the recording without figures that nothing can have measured.
    #[must_use]
    pub fn in_range(mut self) -> Self {
        self.trials.iter_mut().chain(&mut self.checks).for_each(TrialRecord::limit_figures);
        self
    }
}

impl TrialRecord {
    fn limit_figures(&mut self) {
        amount(&mut self.wall_s);
        self.hooks.iter_mut().for_each(|hook| amount(&mut hook.elapsed_s));
        let is_done = self.status == TrialStatus::Done;
        if let Some(observations) = &mut self.observations {
            observations.limit_figures();
            // A trial that was done has reached no limit.
            observations.timeout_s.take_if(|_| is_done);
        }
    }
}

impl Observations {
    fn limit_figures(&mut self) {
        divisor(&mut self.elapsed_s);
        divisor(&mut self.time.session_s);
        self.timeout_s.iter_mut().for_each(divisor);
        for response in &mut self.responses {
            response.value = figure(response.value);
            divisor(&mut response.resolution);
            response.percentile.iter_mut().for_each(|known| divisor(&mut known.percent));
        }
        self.facts.iter_mut().for_each(|fact| fact.value = figure(fact.value));
        self.facts.retain(|fact| !fact.value.is_nan());
        for plan in &mut self.plans {
            for estimate in [&mut plan.estimated_rows, &mut plan.estimated_cost] {
                *estimate = estimate.map(figure).filter(|value| !value.is_nan());
            }
        }
        self.waits.retain(|wait| is_amount(wait.resource_s) && is_amount(wait.signal_s));
        self.waits.iter_mut().for_each(|wait| wait.source.limit_figures());
        self.operations.retain(|operation| is_amount(operation.wall_s));
        self.devices.retain(DeviceUse::is_in_range);
        self.series.iter_mut().for_each(Series::limit_figures);
        self.profile.take_if(|profile| !profile.has_rate());
        if let Some(profile) = &mut self.profile {
            divisor(&mut profile.elapsed_s);
            amount(&mut profile.profiler_cpu_s);
        }
        let (time, load, machine) = (&mut self.time, &mut self.load, &mut self.machine);
        let mut amounts = vec![&mut time.cpu_s, &mut load.client_share, &mut load.run_delay_share];
        amounts.extend([&mut machine.busy_s, &mut machine.own_s, &mut machine.steal_s]);
        amounts.push(&mut machine.iowait_s);
        amounts.extend(time.cpu_user_s.iter_mut().chain(&mut time.sampled_running_s));
        amounts.extend(load.schedule_s.iter_mut().chain(&mut load.free_until_s));
        for statement in &mut self.statements {
            amounts.extend([&mut statement.wall_s, &mut statement.wall_s_max]);
        }
        amounts.into_iter().for_each(amount);
    }
}

impl DeviceUse {
    fn is_in_range(&self) -> bool {
        let times = [self.read_s, self.write_s, self.flush_s, self.busy_s, self.queue_s];
        times.into_iter().all(is_amount) && has(self.elapsed_s) && self.elapsed_s >= 0.0
    }
}

impl WaitSource {
    fn limit_figures(&mut self) {
        if let Self::Sampled { hz, .. } = self {
            divisor(hz);
        }
        if let Self::Sampled { error_s, .. } | Self::Server { error_s, .. } = self {
            error_s.iter_mut().for_each(amount);
        }
    }
}

impl Series {
    fn limit_figures(&mut self) {
        divisor(&mut self.interval_s);
        self.start_s = Some(figure(self.start_s)).filter(|start| !start.is_nan()).unwrap_or(0.0);
        self.values.iter_mut().for_each(|value| *value = figure(*value));
    }
}
