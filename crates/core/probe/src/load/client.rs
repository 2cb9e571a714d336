//! The life of a load thread: connect, warm up, go, run transactions, flush, report.

use super::outcome::{ClientReport, Finished};
use super::plan::{Arrivals, LoadPart, LoadPlan, Start, Step, Workload, Workloads};
use crate::record::ThreadMark;
use crate::{ProbeError, TrialContext, data};
use engine::{Ability, Answer, ConnectionSet, EngineError};
use observe::{Clock, ThreadClock, ThreadTimes, ThreadUse};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use work::conductor::Stage;
use work::{Request, Statement};

/// Tries of a transaction that follow each other immediately.
const TRIES_AT_ONCE: u64 = 4;

/// Most nanoseconds of the first pause before another try, and of any.
const PAUSE_NS: u64 = 100_000;
const PAUSE_NS_MAX: u64 = 20_000_000;

/// The interval at which the load checks whether it has been divided.
const DIVIDED_EVERY: Duration = Duration::from_micros(100);

/// State of one connection of a thread. Times are in nanoseconds after "go".
struct Lane<'a> {
    workload: Box<dyn Workload + 'a>,
    state: State,
    /// Units of work that are left to do.
    left: u64,
    /// The transaction that has begun.
    started: Start,
    /// The intended time of its start, and the actual one.
    intended_ns: u64,
    start_ns: u64,
    /// When the connection had nothing to do any more.
    free_ns: u64,
    /// When its last request was sent.
    sent_ns: u64,
    /// The number of times that the transaction was tried.
    tries: u64,
    /// The number of times that the engine asked for a part of it to be repeated.
    retries: u32,
    /// It has failed: it is rolled back, then tried again or given up.
    rolling_back: bool,
    /// The error of its last request is a result: once it is rolled back, its next step ends it.
    has_result: bool,
}

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waiting for the next intended start.
    Due,
    /// Thinking within a transaction.
    Thinking,
    /// Waiting before a failed transaction is tried again.
    Pausing,
    /// Waiting for an answer.
    Asking,
    /// All work is done.
    Done,
}

impl<'a> Lane<'a> {
    /// A connection at the beginning of a part of the load.
    fn new(workload: Box<dyn Workload + 'a>) -> Self {
        Self {
            workload,
            state: State::Due,
            left: u64::MAX,
            started: Start::default(),
            intended_ns: 0,
            start_ns: 0,
            free_ns: 0,
            sent_ns: 0,
            tries: 0,
            retries: 0,
            rolling_back: false,
            has_result: false,
        }
    }
}

/// A thread with its connections.
pub struct Client<'a> {
    context: &'a TrialContext<'a>,
    stage: &'a Stage<'a>,
    plan: &'a LoadPlan,
    part: &'a LoadPart,
    /// Number of its first connection.
    first: u32,
    connection_set: Box<dyn ConnectionSet>,
    lanes: Vec<Lane<'a>>,
    /// `None`: a transaction starts as soon as the one before has ended (closed loop).
    arrivals: Option<Arrivals<'a>>,
    /// Connections that wait for a time, the earliest first.
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    /// Connections that are not done.
    active: usize,
    /// "Go" on the clock; all other times count from here.
    go_ns: u64,
    /// No transaction begins after this.
    deadline_ns: u64,
    /// True during the measurement.
    measuring: bool,
    clock: Clock,
    thread: ThreadClock,
    /// The times at "go".
    go_times: ThreadTimes,
    report: ClientReport,
    /// Of the pauses before repeated tries.
    random: Xoshiro256PlusPlus,
}

impl<'a> Client<'a> {
    /// Runs one of the threads; returns its report and its connections, still open.
    pub fn work<'w: 'a>(
        context: &'a TrialContext<'a>,
        plan: &'a LoadPlan,
        (stage, clock): (&'a Stage<'a>, &Clock),
        part: &'a LoadPart,
        workload: &Workloads<'w>,
    ) -> Result<Finished, ProbeError> {
        let connections = part.of_thread(stage.lane as u32);
        let before_ns = clock.now_ns();
        let mut connection_set = context.instance.connect(connections.len() as u32)?;
        for index in 0..connections.len() {
            for sql in &plan.session {
                data::run(context, connection_set.as_mut(), index, Statement::Text(sql))?;
            }
        }
        let connect_ns = clock.now_ns() - before_ns;
        let first = connections.start;
        // Scripted sessions have a clock each; real ones share one, so that their times compare.
        let scripted = connection_set.clock();
        let clock = if scripted.is_virtual() { scripted } else { clock.clone() };
        let mut client = Self {
            context,
            stage,
            plan,
            part,
            first,
            connection_set,
            lanes: connections.map(|connection| Lane::new(workload(connection))).collect(),
            arrivals: None,
            timers: BinaryHeap::new(),
            active: 0,
            go_ns: 0,
            deadline_ns: u64::MAX,
            measuring: false,
            clock,
            thread: ThreadClock::of_this_thread(),
            go_times: ThreadTimes::default(),
            report: ClientReport::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(plan.seed ^ u64::from(first)),
        };
        stage.together()?; // connected
        client.warm_up()?;
        let before_go = client.thread.usage();
        stage.together()?; // go
        client.measure(before_go)?;
        let waited_from = client.thread.read();
        stage.together()?; // everybody's transactions are done
        client.flush(waited_from, part.threads)?;
        client.report.connect_ns = connect_ns;
        Ok((client.report, client.connection_set))
    }

    /// Runs transactions for the warm-up time; nothing of it is measured but the series.
    fn warm_up(&mut self) -> Result<(), ProbeError> {
        self.report = ClientReport::with_room(0, self.plan);
        // Not the starts that are measured.
        self.arrivals = self.arrivals(!self.plan.seed, &self.part.turns.warmup);
        self.go_ns = self.clock.now_ns();
        self.deadline_ns = (self.plan.warmup_s * 1e9) as u64;
        self.run()?;
        self.connection_set.publish()?;
        let warmup_units_by_interval = std::mem::take(&mut self.report.units_by_interval);
        self.report = ClientReport::with_room(4096, self.plan).with_each(self.plan);
        self.report.warmup_units_by_interval = warmup_units_by_interval;
        Ok(())
    }

    /// The measurement, from "go" (after the barrier) until these connections' work is done.
    fn measure(&mut self, before_go: ThreadUse) -> Result<(), ProbeError> {
        if let Some(latency) = &self.report.latency {
            self.stage.live().latencies.get_or_init(|| vec![latency.reader()]);
        }
        self.connection_set.begin();
        for (connection, lane) in (self.first..).zip(&mut self.lanes) {
            (lane.left, lane.free_ns) = (self.plan.share(connection), 0);
            lane.workload.begin();
        }
        self.arrivals = self.arrivals(self.plan.seed, &self.part.turns.measurement);
        (self.measuring, self.go_times) = (true, before_go.times);
        self.deadline_ns = self.plan.duration_s.map_or(u64::MAX, |seconds| (seconds * 1e9) as u64);
        self.go_ns = self.clock.now_ns();
        self.report.start_ns = self.go_ns;
        let result = self.run();
        self.report.done_ns = self.clock.now_ns();
        self.report.end_ns = self.report.done_ns;
        self.report.used = self.thread.usage().since(before_go);
        result
    }

    fn arrivals(&self, seed: u64, taken: &'a AtomicU64) -> Option<Arrivals<'a>> {
        let arrivals = Arrivals::new(self.plan.rate?, seed, taken);
        let connections = self.plan.connections;
        Some(if self.clock.is_virtual() {
            arrivals.dealt(self.first, connections)
        } else {
            arrivals.part(self.part.connections.clone(), connections)
        })
    }

    /// Runs transactions until every connection is done.
    fn run(&mut self) -> Result<(), ProbeError> {
        self.timers.clear();
        self.active = self.lanes.len();
        for connection in 0..self.lanes.len() {
            if self.start(connection, 0) {
                self.step(connection)?;
            }
        }
        let mut answers = Vec::with_capacity(self.lanes.len());
        while self.active > 0 {
            self.check()?;
            let due_ns = self.timers.peek().map(|Reverse((due_ns, _))| *due_ns);
            self.wait(due_ns.map(|due_ns| due_ns.saturating_sub(self.now_ns())), &mut answers)?;
            let now_ns = self.now_ns();
            for answer in answers.drain(..) {
                self.answered(answer, now_ns)?;
            }
            if due_ns.is_some() {
                self.wake()?;
            }
        }
        Ok(())
    }

    /// Checks whether to continue.
    #[inline]
    fn check(&self) -> Result<(), EngineError> {
        if self.context.cancel.is_cancelled() || self.stage.is_stopped() {
            return Err(EngineError::Cancelled);
        }
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns() - self.go_ns
    }

    /// Waits for answers. In an embedded engine's thread, waiting for the next intended start is a
    /// wait of its session; a server sees that by itself.
    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<(), EngineError> {
        let arrival = self.context.target.abilities.contains(&Ability::Embedded)
            && self.measuring
            && most_ns.is_some();
        if !arrival || self.lanes.iter().any(|lane| lane.state == State::Asking) {
            return self.connection_set.wait(most_ns, answers);
        }
        let (before, start_ns) = (self.thread.read(), self.clock.now_ns());
        self.connection_set.wait(most_ns, answers)?;
        let waited_ns = self.clock.now_ns() - start_ns;
        let is_pausing = self.lanes.iter().any(|lane| lane.state == State::Pausing);
        let report = &mut self.report;
        let wait = if is_pausing { &mut report.pauses } else { &mut report.arrival };
        wait.add(waited_ns, self.thread.read().since(before));
        Ok(())
    }

    /// Notes the end of a part of the measurement: of the transaction before, the whole time is in
    /// the part in which it began.
    fn mark_parts(&mut self) {
        let Some(divisions) = self.plan.divisions.as_ref().filter(|_| self.measuring) else {
            return;
        };
        let ended = divisions.done() as usize;
        if self.report.marks.len() < ended {
            let times = self.thread.read().since(self.go_times);
            let (arrival, pauses) = (self.report.arrival, self.report.pauses);
            let mark = ThreadMark { at_ns: self.now_ns(), times, arrival, pauses };
            self.report.marks.resize(ended, mark);
        }
    }

    /// Ends a part of the measurement after a transaction of the only connection, which pauses
    /// while the engine's waits are read. Returns when it is free again.
    fn divide(&mut self, end_ns: u64) -> u64 {
        let divisions = self.plan.divisions.as_ref().filter(|_| self.plan.divides);
        let Some(divisions) = divisions.filter(|_| self.measuring) else { return end_ns };
        let before = self.thread.read();
        let count = divisions.want();
        self.stage.call();
        while divisions.done() < count && !self.stage.is_stopped() {
            std::thread::sleep(DIVIDED_EVERY);
        }
        let free_ns = self.now_ns();
        if self.context.target.abilities.contains(&Ability::Embedded) {
            let used = self.thread.read().since(before);
            self.report.arrival.add(free_ns.saturating_sub(end_ns), used);
        }
        free_ns
    }

    /// Begins the next transaction of a connection, if there is one; true when it is due now.
    fn start(&mut self, connection: usize, now_ns: u64) -> bool {
        self.mark_parts();
        let lane = &mut self.lanes[connection];
        let record = &mut self.report;
        let due_ns = self.arrivals.as_mut().map(|arrivals| {
            loop {
                let (before, due_ns) = arrivals.take();
                if self.measuring {
                    lane.left = self.plan.left_after(before);
                }
                let hopeless =
                    self.plan.limit_ns.is_some_and(|limit_ns| due_ns + limit_ns < now_ns);
                if !hopeless || lane.left == 0 || due_ns >= self.deadline_ns {
                    break due_ns;
                }
                record.counts.skipped += 1;
                record.record_each(due_ns, None, None);
            }
        });
        let (clock, go_ns) = (&self.clock, self.go_ns);
        let due_ns = due_ns.or_else(|| {
            let due_ns = lane.workload.due_ns(clock.now_ns())?;
            Some(due_ns.saturating_sub(go_ns))
        });
        // A measurement does all that was due in its time, a warm-up leaves it.
        let next_ns = due_ns.filter(|due_ns| self.measuring || *due_ns > now_ns).unwrap_or(now_ns);
        if lane.left == 0 || next_ns >= self.deadline_ns {
            lane.state = State::Done;
            self.active -= 1;
            return false;
        }
        lane.started = lane.workload.start(lane.left);
        lane.left -= lane.started.units;
        (lane.tries, lane.retries, lane.rolling_back) = (1, 0, false);
        let start_ns = self.clock.now_ns() - self.go_ns;
        let record = &mut self.report;
        record.counts.generator_ns += start_ns.saturating_sub(lane.free_ns);
        lane.start_ns = start_ns;
        lane.intended_ns = due_ns.unwrap_or(start_ns);
        if let Some(due_ns) = due_ns {
            record.intend(due_ns, start_ns);
        }
        match due_ns {
            Some(due_ns) if due_ns > start_ns => {
                lane.state = State::Due;
                self.timers.push(Reverse((due_ns, connection)));
                false
            }
            _ => true,
        }
    }

    /// Resumes the connections whose time has come.
    fn wake(&mut self) -> Result<(), ProbeError> {
        let now_ns = self.now_ns();
        while let Some(Reverse((due_ns, connection))) = self.timers.peek().copied() {
            if due_ns > now_ns {
                break;
            }
            self.timers.pop();
            let lane = &mut self.lanes[connection];
            if lane.state == State::Due {
                lane.start_ns = now_ns;
                self.report.send(now_ns - due_ns);
            }
            self.step(connection)?;
        }
        Ok(())
    }

    /// Continues a connection's work until it has to wait for something.
    fn step(&mut self, connection: usize) -> Result<(), ProbeError> {
        loop {
            let lane = &mut self.lanes[connection];
            match lane.workload.step()? {
                Step::Request(request) => {
                    lane.state = State::Asking;
                    if !self.report.statements.is_empty() {
                        lane.sent_ns = self.clock.now_ns() - self.go_ns;
                    }
                    return Ok(self.connection_set.send(connection, &request)?);
                }
                Step::Sleep(time) => {
                    lane.state = State::Thinking;
                    let until_ns = self.clock.now_ns() - self.go_ns + time.as_nanos() as u64;
                    self.timers.push(Reverse((until_ns, connection)));
                    return Ok(());
                }
                Step::End => {
                    // A transaction can be over without a single request.
                    self.check()?;
                    if !self.end(connection, true) {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn answered(&mut self, answer: Answer, now_ns: u64) -> Result<(), ProbeError> {
        let connection = answer.connection;
        let lane = &mut self.lanes[connection];
        lane.free_ns = now_ns;
        match answer.result {
            Ok(_) if lane.rolling_back => self.rolled_back(connection),
            Ok(done) => {
                lane.retries += done.retries;
                let took_ns = now_ns.saturating_sub(lane.sent_ns);
                if let Some(statement) = self.report.statements.get_mut(lane.workload.statement()) {
                    statement.succeeded(took_ns, done.retries);
                }
                if !done.results.is_empty() {
                    lane.workload.results(&done.results)?;
                }
                self.step(connection)
            }
            Err(EngineError::Retry { cause, .. }) if !lane.rolling_back => {
                lane.rolling_back = true;
                lane.workload.failed(cause);
                Ok(self.connection_set.send(connection, &Request::ROLLBACK)?)
            }
            Err(error) if !lane.rolling_back && lane.workload.is_result(&error) => {
                self.roll_back_result(connection, now_ns)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Rolls a transaction back whose last request ended with an error that is a result: its
    /// statement counts with the time that it took.
    fn roll_back_result(&mut self, connection: usize, now_ns: u64) -> Result<(), ProbeError> {
        let lane = &mut self.lanes[connection];
        (lane.rolling_back, lane.has_result) = (true, true);
        let took_ns = now_ns.saturating_sub(lane.sent_ns);
        if let Some(statement) = self.report.statements.get_mut(lane.workload.statement()) {
            statement.succeeded(took_ns, 0);
        }
        Ok(self.connection_set.send(connection, &Request::ROLLBACK)?)
    }

    /// A failed transaction is tried again, or given up.
    fn rolled_back(&mut self, connection: usize) -> Result<(), ProbeError> {
        let lane = &mut self.lanes[connection];
        lane.rolling_back = false;
        if std::mem::take(&mut lane.has_result) {
            return self.step(connection);
        }
        let again = lane.tries < self.plan.tries_max;
        if let Some(statement) = self.report.statements.get_mut(lane.workload.statement()) {
            statement.failed(again);
        }
        if again {
            (lane.tries, lane.retries) = (lane.tries + 1, lane.retries + 1);
            lane.workload.restart();
            let pause_ns = pause_ns(lane.tries, &mut self.random);
            if pause_ns > 0 {
                lane.state = State::Pausing;
                let until_ns = self.clock.now_ns() - self.go_ns + pause_ns;
                self.timers.push(Reverse((until_ns, connection)));
                return Ok(());
            }
        } else if !self.end(connection, false) {
            return Ok(());
        }
        self.step(connection)
    }

    /// Records a transaction that has ended now, and begins the next one; true when that is due
    /// now.
    fn end(&mut self, connection: usize, committed: bool) -> bool {
        let end_ns = self.clock.now_ns() - self.go_ns;
        let lane = &mut self.lanes[connection];
        lane.free_ns = end_ns;
        let record = &mut self.report;
        if committed {
            record.transaction(lane.started, [lane.intended_ns, lane.start_ns, end_ns]);
            if self.measuring {
                self.stage.live().done.add(lane.started.units);
            }
        } else {
            record.counts.errors += 1;
            record.record_each(lane.intended_ns, None, Some(lane.started.kind));
        }
        record.counts.retries += u64::from(lane.retries);
        let free_ns = self.divide(end_ns);
        self.lanes[connection].free_ns = free_ns;
        self.start(connection, free_ns)
    }

    /// Once every connection is done: does this thread's share of the work left over.
    /// `waited_from` is the reading before the wait for the others.
    fn flush(&mut self, waited_from: ThreadTimes, threads: u32) -> Result<(), EngineError> {
        self.check()?;
        let after_wait = self.thread.read();
        let now_ns = self.clock.now_ns();
        if !self.clock.is_virtual() {
            let waited_ns = now_ns - self.report.done_ns;
            self.report.others.add(waited_ns, after_wait.since(waited_from));
        }
        let result = self.connection_set.flush(self.stage.lane as u32, threads);
        let used = self.thread.read().since(waited_from);
        self.report.used.times.cpu_ns += used.cpu_ns;
        self.report.used.times.run_delay_ns += used.run_delay_ns;
        if !self.clock.is_virtual() {
            self.report.end_ns = self.clock.now_ns();
        }
        self.connection_set.end();
        result.and_then(|()| self.connection_set.publish())
    }
}

/// The pause before a try of a transaction, counted from 1: none before the first ones, then one of
/// random length, up to twice as long each time. Without it, sessions that ask again immediately
/// can take the CPU from the one that holds the lock, until all their tries are used up.
fn pause_ns(tries: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
    let Some(doublings) = tries.checked_sub(TRIES_AT_ONCE + 1) else { return 0 };
    let most_ns = (PAUSE_NS << doublings.min(16)).min(PAUSE_NS_MAX);
    random.random_range(most_ns / 2..=most_ns)
}

#[cfg(test)]
mod tests {
    use super::{PAUSE_NS, PAUSE_NS_MAX, TRIES_AT_ONCE, pause_ns};
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn pauses_begin_after_some_tries_and_grow_up_to_a_limit() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut pause = |tries| pause_ns(tries, &mut random);
        assert!((1..=TRIES_AT_ONCE).all(|tries| pause(tries) == 0));
        let mut most_ns = PAUSE_NS;
        for tries in TRIES_AT_ONCE + 1..2_000 {
            let pause_ns = pause(tries);
            assert!((most_ns / 2..=most_ns).contains(&pause_ns), "{tries}: {pause_ns}");
            most_ns = (2 * most_ns).min(PAUSE_NS_MAX);
        }
    }
}
