//! The blocks of a plan on the agents of a run: each agent is a machine.

use crate::error::AgentError;
use crate::fleet::{Fleet, Task};
use crate::machine_effects::verdict;
use crate::message::{BlockOrder, Word};
use engine::lock;
use observations::{Event, Recording};
use runner::{BlockPart, Machine, MachineError, MachineReport, Machines, ReportContent};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// An order that its agent does not work on is given again after this time.
const ORDER_EVERY: Duration = Duration::from_secs(2);
/// Interval at which processes that were started here are looked at.
const REVIVE_EVERY: Duration = Duration::from_millis(200);

fn missing(error: AgentError) -> MachineError {
    MachineError { attempt: "waiting for machines".into(), source: error.into() }
}

impl Machines for Fleet {
    fn present(&self, at_least: usize) -> Result<Vec<Machine>, MachineError> {
        let mut tasks = lock(&self.tasks);
        if tasks.revived.is_none_or(|revived| revived.elapsed() >= REVIVE_EVERY) {
            tasks.revived = Some(Instant::now());
            // The private broker is started again below.
            let _ = self.strike_ended();
            self.revive().map_err(missing)?;
        }
        let members = self.shared.lock();
        let machines: Vec<Machine> = members
            .agents
            .values()
            .map(|agent| Machine {
                name: agent.hello.name.clone(),
                is_free: !agent.busy && !tasks.working.contains_key(&agent.hello.name),
            })
            .collect();
        if machines.len() >= at_least {
            tasks.short = None;
            return Ok(machines);
        }
        let since = *tasks.short.get_or_insert_with(Instant::now);
        if since.elapsed() > self.shared.demand.within {
            return Err(missing(self.missing(&members, machines.len(), at_least)));
        }
        Ok(machines)
    }

    fn start(&self, machine: &str, part: &BlockPart) -> Result<(), MachineError> {
        let unsent = |error: AgentError| MachineError {
            attempt: format!("giving work to machine {machine}"),
            source: error.into(),
        };
        let bundle = self.bundle().map_err(unsent)?;
        let trial = self.trials.fetch_add(1, Ordering::Relaxed) + 1;
        let mut members = self.shared.lock();
        // One that has just been lost is reported as such.
        let Some(member) = members.named(machine) else { return Ok(()) };
        (member.trial, member.recorded, member.busy) = (trial, 0, true);
        member.is_recording = false;
        member.reports.clear();
        let order = BlockOrder {
            trial,
            bundle,
            plan: self.plan.clone(),
            blocks: part.blocks.clone(),
            configurations: part.configurations.clone(),
        };
        let id = member.hello.id.clone();
        self.say(&id, &Word::Block(Box::new(order.clone()))).map_err(unsent)?;
        drop(members);
        let task = Task { id, order, ordered: Instant::now() };
        lock(&self.tasks).working.insert(machine.to_owned(), task);
        Ok(())
    }

    fn next(&self, at_most: Duration) -> Option<MachineReport> {
        let until = Instant::now() + at_most;
        loop {
            if let Some(report) = self.report() {
                return Some(report);
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return None;
            }
            self.shared.wait(rest);
        }
    }

    fn accept(&self, report: &MachineReport) {
        let mut tasks = lock(&self.tasks);
        let Some(task) = tasks.working.get(&report.machine) else { return };
        let mut members = self.shared.lock();
        if let Some(member) = members.agents.get_mut(&task.id) {
            (member.recorded, member.is_recording) = (report.number, false);
        }
        let accept = Word::Accept { trial: task.order.trial, number: report.number };
        let _ = self.say(&task.id, &accept);
        if matches!(report.content, ReportContent::Ended(_)) {
            tasks.working.remove(&report.machine);
        }
    }

    fn judge_check(&self, recorded: &Recording) -> Vec<Event> {
        verdict(recorded).into_iter().map(Event::from).collect()
    }

    fn stop(&self) {
        let mut tasks = lock(&self.tasks);
        for task in std::mem::take(&mut tasks.working).into_values() {
            let _ = self.say(&task.id, &Word::End(task.order.trial));
        }
        self.sender.flush();
    }
}

impl Fleet {
    /// A report that there is now.
    fn report(&self) -> Option<MachineReport> {
        let mut tasks = lock(&self.tasks);
        let mut members = self.shared.lock();
        let lost = tasks.working.iter().find(|(_, task)| {
            members.agents.get(&task.id).is_none_or(|agent| agent.trial != task.order.trial)
        });
        if let Some(machine) = lost.map(|(machine, _)| machine.clone()) {
            tasks.working.remove(&machine);
            return Some(MachineReport { machine, number: 0, content: ReportContent::Lost });
        }
        for (machine, task) in &mut tasks.working {
            let Some(member) = members.agents.get_mut(&task.id) else { continue };
            if let Some((number, content)) = member.reports.pop_front() {
                member.is_recording = true;
                return Some(MachineReport { machine: machine.clone(), number, content });
            }
            if !member.busy && task.ordered.elapsed() >= ORDER_EVERY {
                // The order was lost on its way, or the thread could not be started.
                task.ordered = Instant::now();
                let _ = self.say(&task.id, &Word::Block(Box::new(task.order.clone())));
            }
        }
        None
    }
}
