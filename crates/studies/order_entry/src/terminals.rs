//! The transactions of one connection: its terminals, their decks and their clocks.

use crate::counts::{Counts, Total};
use crate::input::{Customer, Inputs, Terminal};
use crate::kind::{Deck, Kind};
use crate::procedures::{Language, procedure};
use crate::random::generator;
use crate::statements::QUERIES;
use crate::transaction::{Move, Transaction};
use engine::{Results, RetryCause};
use observations::ScriptStatement;
use probe::ProbeError;
use probe::load::{Start, Step, Workload};
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{SystemTime, UNIX_EPOCH};
use work::{Parameter, Request, Statement, Values};

/// Statements that begin and end transactions; each kind has its own among the recorded ones.
const ENDS: [&str; 3] = ["BEGIN", "COMMIT", "ROLLBACK"];

/// The purpose of the first connection's generator; tables have smaller ones.
const CONNECTIONS: u64 = 1 << 60;

/// Thinking takes at most this many times its mean (clause 5.2.5.4).
const THINKING_MAX: f64 = 10.0;

/// The statements as they are recorded: those of the transactions, then how each kind begins and
/// ends; or the call of each kind's procedure.
pub fn recorded(procedures: Option<Language>) -> Vec<ScriptStatement> {
    let record = |kind: Kind, text: &str| ScriptStatement::new(kind.profile().name, text);
    if procedures.is_some() {
        return Kind::ALL.map(|kind| record(kind, &format!("CALL {}", procedure(kind)))).into();
    }
    let queries = QUERIES.iter().map(|query| record(query.kind, &query.plain_text()));
    let ends = Kind::ALL.iter().flat_map(|kind| ENDS.iter().map(move |end| record(*kind, end)));
    queries.chain(ends).collect()
}

/// A terminal that keys in its next transaction, or waits for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_ns: u64,
    terminal: usize,
    /// Position in [`Kind::ALL`].
    kind: usize,
}

/// A load as its connections need it.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Draws the values of transactions.
    pub inputs: Inputs,
    /// Terminals of all connections.
    pub terminals: u32,
    /// Connections.
    pub connections: u32,
    /// The language of the procedures that are the transactions; `None`: the client has their
    /// logic.
    pub procedures: Option<Language>,
    /// Keying and thinking times as a multiple of the specified ones; 0: terminals never wait.
    pub pace: f64,
    /// Seed of the trial.
    pub seed: u64,
    /// Adds up what connections count.
    pub total: Total,
}

/// The terminals that a connection serves. Terminals are data: thousands of them cost a connection
/// the memory of their next times.
pub(crate) struct Terminals {
    plan: Plan,
    first: u32,
    /// Terminals of this connection.
    number: usize,
    /// With waiting times: when each terminal's next transaction is due.
    due: BinaryHeap<Reverse<Due>>,
    /// The one that is due next or runs.
    now: Option<Due>,
    is_running: bool,
    /// Without waiting times: the terminal that comes next.
    next: usize,
    deck: Deck,
    random: Xoshiro256PlusPlus,
    transaction: Option<Transaction>,
    /// The call of a procedure; empty before it is sent.
    call: String,
    /// Position of the last statement among the recorded ones.
    statement: usize,
    counts: Counts,
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.plan.total.add(&self.counts);
    }
}

impl Terminals {
    /// The terminals of a connection: with n connections, every n-th terminal.
    pub fn new(plan: Plan, connection: u32) -> Self {
        let first = connection % plan.terminals;
        let number = (plan.terminals - first).div_ceil(plan.connections) as usize;
        Self {
            random: generator(plan.seed, CONNECTIONS + u64::from(connection)),
            due: BinaryHeap::with_capacity(number),
            plan,
            first,
            number,
            now: None,
            is_running: false,
            next: 0,
            deck: Deck::default(),
            transaction: None,
            call: String::new(),
            statement: 0,
            counts: Counts::default(),
        }
    }

    /// Schedules a terminal whose last transaction, of this kind, was answered at this time.
    fn schedule(&mut self, terminal: usize, last: Kind, answered_ns: u64) {
        let kind = self.deck.draw(&mut self.random);
        // The inverse of the exponential distribution; 1 - u is never 0.
        let thinking = -(1.0 - self.random.random::<f64>()).ln();
        let wait_s =
            last.profile().thinking_s * thinking.min(THINKING_MAX) + kind.profile().keying_s;
        let at_ns = answered_ns + (wait_s * self.plan.pace * 1e9) as u64;
        self.due.push(Reverse(Due { at_ns, terminal, kind: kind as usize }));
    }

    /// Calls the procedure of the transaction, then ends it.
    fn call(&mut self, language: Language) -> Step<'_> {
        let Some(transaction) = self.transaction.as_ref().filter(|_| self.call.is_empty()) else {
            self.count();
            return Step::End;
        };
        language.call(&transaction.input, &transaction.time, &mut self.call);
        self.statement = transaction.input.kind as usize;
        let statement = Statement::Text(&self.call);
        Step::Request(Request::Execute { statement, parameters: &[], results: false })
    }

    /// Counts a transaction that has been done.
    fn count(&mut self) {
        let Some(Transaction { input, skipped, .. }) = &self.transaction else { return };
        let counts = &mut self.counts;
        counts.done[input.kind as usize] += 1;
        counts.by_name += u64::from(matches!(input.customer, Customer::LastName(_)));
        counts.skipped += skipped;
        match input.kind {
            Kind::NewOrder => {
                let rolled_back = u64::from(input.rolls_back(self.plan.inputs.size));
                counts.rolled_back += rolled_back;
                counts.committed_ever += 1 - rolled_back;
                counts.lines += input.lines.len() as u64;
                counts.remote_lines += input.remote_lines() as u64;
            }
            Kind::Payment => {
                counts.remote_payments += u64::from(input.customer_of[0] != input.warehouse);
            }
            _ => {}
        }
    }
}

impl Workload for Terminals {
    fn begin(&mut self) {
        self.counts.begin();
    }

    fn due_ns(&mut self, now_ns: u64) -> Option<u64> {
        self.counts.terminals.note(now_ns);
        if self.plan.pace == 0.0 {
            return None;
        }
        match self.now.take() {
            Some(last) if self.is_running => {
                let kind = Kind::ALL[last.kind];
                // A delivery is queued, so that its terminal is answered immediately.
                let answered_ns = if kind == Kind::Delivery { last.at_ns } else { now_ns };
                self.schedule(last.terminal, kind, answered_ns);
            }
            Some(waiting) => self.due.push(Reverse(waiting)),
            None => {
                // As if each had been answered now.
                for terminal in 0..self.number {
                    let last = self.deck.draw(&mut self.random);
                    self.schedule(terminal, last, now_ns);
                }
            }
        }
        self.is_running = false;
        self.now = self.due.pop().map(|Reverse(due)| due);
        self.now.map(|due| due.at_ns)
    }

    fn start(&mut self, _: u64) -> Start {
        self.is_running = true;
        let (place, kind) = if let Some(due) = self.now {
            (due.terminal, Kind::ALL[due.kind])
        } else {
            let place = self.next;
            self.next = (place + 1) % self.number;
            (place, self.deck.draw(&mut self.random))
        };
        let terminal = self.first + place as u32 * self.plan.connections;
        let inputs = self.plan.inputs;
        let terminal = Terminal::new(terminal, inputs.size);
        let input = inputs.draw(kind, terminal, &mut self.random);
        self.transaction = Some(Transaction::new(input, time_now()));
        self.call.clear();
        Start { kind: kind as usize, units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if let Some(language) = self.plan.procedures {
            return Ok(self.call(language));
        }
        let advanced = self.transaction.as_mut().map(Transaction::advance).transpose();
        let step = advanced.map_err(ProbeError::study)?.unwrap_or(Move::End);
        if step == Move::End {
            self.count();
        }
        let Some(transaction) = self.transaction.as_ref().filter(|_| step != Move::End) else {
            return Ok(Step::End);
        };
        let kind = transaction.input.kind as usize;
        let end = |place: usize| QUERIES.len() + kind * ENDS.len() + place;
        let none: &[Parameter] = &[];
        let (statement, place, parameters, results) = match step {
            Move::Begin => (Statement::Begin, end(0), none, false),
            Move::BeginReading => (Statement::Text(ENDS[0]), end(0), none, false),
            Move::Commit => (Statement::Commit, end(1), none, false),
            Move::Rollback | Move::End => (Statement::Rollback, end(2), none, false),
            Move::Ask(query) => {
                let position = query.position();
                let parameters = transaction.parameters.as_slice();
                (Statement::Operation(position), position, parameters, QUERIES[position].reads)
            }
        };
        self.statement = place;
        Ok(Step::Request(Request::Execute { statement, parameters, results }))
    }

    fn results(&mut self, results: &[Results]) -> Result<(), ProbeError> {
        if let (Some(transaction), Some(results)) = (&mut self.transaction, results.last()) {
            transaction.answer(results);
        }
        Ok(())
    }

    fn failed(&mut self, cause: RetryCause) {
        if let Some(transaction) = &self.transaction {
            self.counts.repeat(transaction.input.kind, cause);
        }
    }

    fn restart(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.restart();
            self.call.clear();
        }
    }

    fn statement(&self) -> usize {
        self.statement
    }
}

/// The time as engines read it.
fn time_now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut text = String::new();
    // Writing to memory cannot fail.
    let _ = Values::Timestamps(vec![since.as_secs() as i64]).write(0, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::{Plan, Terminals, Workload as _};
    use crate::counts::Total;
    use crate::input::Inputs;
    use crate::kind::{CARDS, NEW_ORDERS_MAX};
    use crate::random::Constants;
    use crate::size::Size;

    fn plan(terminals: u32, connections: u32, pace: f64) -> Plan {
        let size = Size { warehouses: i64::from(terminals) / 10, reduced_by: 100 };
        let inputs = Inputs { size, constants: Constants::from_seed(5) };
        let (procedures, total) = (None, Total::default());
        Plan { inputs, terminals, connections, procedures, pace, seed: 1, total }
    }

    #[test]
    fn every_terminal_has_one_connection() {
        for (terminals, connections) in [(10, 1), (10, 3), (10, 10), (20, 7)] {
            let plan = plan(terminals, connections, 0.0);
            let mut served: Vec<u32> = (0..connections)
                .map(|connection| Terminals::new(plan.clone(), connection))
                .flat_map(|terminal| {
                    let numbers = 0..terminal.number as u32;
                    numbers.map(|at| terminal.first + at * connections).collect::<Vec<_>>()
                })
                .collect();
            served.sort_unstable();
            assert_eq!(served, (0..terminals).collect::<Vec<_>>());
        }
    }

    /// Simulated hours of a system that answers immediately: new orders a minute and warehouse come
    /// near the bound of decks, 12.6, and never above 12.86.
    #[test]
    fn terminals_that_never_wait_come_near_the_bound() {
        let (mut terminals, minutes) = (Terminals::new(plan(100, 1, 1.0), 0), 600);
        let (mut now_ns, mut first_ns, mut new_orders) = (0, 0, 0_u64);
        let hour_ns = 3_600_000_000_000;
        while now_ns < hour_ns + minutes * 60_000_000_000 {
            let due_ns = terminals.due_ns(now_ns).unwrap();
            assert!(due_ns >= now_ns, "an immediate answer leaves nothing overdue");
            // A transaction that is due again is the same.
            assert_eq!(terminals.due_ns(now_ns), Some(due_ns));
            now_ns = due_ns;
            let started = terminals.start(1);
            if now_ns > hour_ns {
                first_ns = if first_ns == 0 { now_ns } else { first_ns };
                new_orders += u64::from(started.kind == 0);
            }
        }
        let rate = new_orders as f64 * 60e9 / (now_ns - first_ns) as f64 / 10.0;
        assert!(rate < NEW_ORDERS_MAX, "{rate}");
        assert!((rate - 12.605).abs() < 0.15, "{rate}");
    }

    #[test]
    fn a_closed_loop_has_the_exact_mix_of_decks() {
        let mut terminals = Terminals::new(plan(10, 1, 0.0), 0);
        assert_eq!(terminals.due_ns(0), None);
        let mut counts = [0; 5];
        (0..40 * CARDS).for_each(|_| counts[terminals.start(1).kind] += 1);
        assert_eq!(counts, [400, 400, 40, 40, 40]);
    }
}
