//! What one load thread does: connect, warm up, go, run transactions, flush, report.

use super::recorder::{ClientReport, ThreadRecord, Times};
use super::shared::Shared;
use super::{Arrivals, LoadPlan, Workload};
use engines::{EngineError, Session};
use observe::{Clock, ThreadClock, ThreadTimes, involuntary_switches};

/// One thread with its connection.
pub struct Client<'a, W> {
    shared: &'a Shared<'a>,
    plan: &'a LoadPlan,
    index: u32,
    session: Box<dyn Session>,
    workload: W,
    clock: Clock,
    thread: ThreadClock,
    report: ClientReport,
}

impl<'a, W: Workload> Client<'a, W> {
    /// Connects.
    pub fn connect(
        shared: &'a Shared<'a>,
        plan: &'a LoadPlan,
        index: u32,
        workload: W,
    ) -> Result<Self, EngineError> {
        let session = shared.instance.connect()?;
        // Scripted sessions have a clock each; real ones share one, so that their times compare.
        let own = session.clock();
        let clock = if own.is_virtual() { own } else { shared.clock.clone() };
        let thread = ThreadClock::of_this_thread();
        let report = ClientReport::default();
        Ok(Self { shared, plan, index, session, workload, clock, thread, report })
    }

    /// Runs transactions for the warm-up time; nothing of it is measured but the series.
    pub fn warm_up(&mut self) -> Result<(), EngineError> {
        let warmup_ns = (self.plan.warmup_s * 1e9) as u64;
        let start_ns = self.clock.now_ns();
        let mut record = ThreadRecord::with_room(0);
        while self.clock.now_ns() - start_ns < warmup_ns {
            let Some(transaction) = self.workload.next() else { break };
            self.shared.check()?;
            let done = self.session.transaction(&transaction)?;
            let end_ns = self.clock.now_ns() - start_ns;
            let times = Times { intended_ns: end_ns, start_ns: end_ns, end_ns };
            record.transaction(times, done.units, done.retries, self.plan.interval_ns());
        }
        self.report.warmup_units_by_interval = record.units_by_interval;
        Ok(())
    }

    /// The measured part, from "go" (after the barrier) until this connection's work is done.
    pub fn measure(&mut self, before_go: ThreadTimes) -> Result<(), EngineError> {
        self.report.record = ThreadRecord::with_room(4096);
        self.session.begin();
        self.workload.begin();
        let mut arrivals = Arrivals::new(
            self.plan.rate,
            self.plan.connections,
            self.plan.seed.wrapping_add(u64::from(self.index)),
        );
        let go_ns = self.clock.now_ns();
        self.report.start_ns = go_ns;
        let preempted_before = involuntary_switches();
        let result = self.run(&mut arrivals, go_ns);
        self.report.done_ns = self.clock.now_ns();
        self.report.end_ns = self.report.done_ns;
        self.report.times = self.thread.read().since(before_go);
        self.report.preemptions = involuntary_switches() - preempted_before;
        result
    }

    fn run(&mut self, arrivals: &mut Arrivals, go_ns: u64) -> Result<(), EngineError> {
        let interval_ns = self.plan.interval_ns();
        let deadline_ns = self.plan.duration_s.map_or(u64::MAX, |seconds| (seconds * 1e9) as u64);
        let mut free_ns = 0;
        loop {
            let intended = arrivals.next_ns();
            if intended.unwrap_or(free_ns) >= deadline_ns {
                return Ok(());
            }
            let Some(transaction) = self.workload.next() else { return Ok(()) };
            self.shared.check()?;
            let record = &mut self.report.record;
            let mut start_ns = self.clock.now_ns() - go_ns;
            record.generator_ns += start_ns.saturating_sub(free_ns);
            if let Some(intended_ns) = intended {
                record.sends_intended += 1;
                if intended_ns > start_ns {
                    let before = self.thread.read();
                    self.clock.wait_until_ns(go_ns + intended_ns);
                    let woken_ns = self.clock.now_ns() - go_ns;
                    self.report.arrival.add(woken_ns - start_ns, self.thread.read().since(before));
                    record.send(woken_ns - intended_ns.min(woken_ns));
                    start_ns = woken_ns;
                }
            }
            let done = self.session.transaction(&transaction)?;
            free_ns = self.clock.now_ns() - go_ns;
            let times = Times { intended_ns: intended.unwrap_or(start_ns), start_ns, end_ns: free_ns };
            record.transaction(times, done.units, done.retries, interval_ns);
            self.shared.live[self.index as usize].add(done.units);
        }
    }

    /// Once every connection is done: does this connection's share of the work left over.
    /// `waited_from` is the reading before the wait for the others.
    pub fn flush(&mut self, waited_from: ThreadTimes) -> Result<(), EngineError> {
        let after_wait = self.thread.read();
        let now_ns = self.clock.now_ns();
        if !self.clock.is_virtual() {
            let waited_ns = now_ns - self.report.done_ns;
            self.report.others.add(waited_ns, after_wait.since(waited_from));
        }
        let result = self.session.flush(self.index, self.plan.connections);
        let used = self.thread.read().since(waited_from);
        self.report.times.cpu_ns += used.cpu_ns;
        self.report.times.run_delay_ns += used.run_delay_ns;
        if !self.clock.is_virtual() {
            self.report.end_ns = self.clock.now_ns();
        }
        self.session.end();
        result
    }

    /// The thread's CPU and run-queue time so far.
    pub fn thread_times(&self) -> ThreadTimes {
        self.thread.read()
    }

    /// What this thread saw.
    pub fn into_report(self) -> ClientReport {
        self.report
    }
}
