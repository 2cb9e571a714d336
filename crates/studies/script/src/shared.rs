//! State that the connections of a load share: the sequence of new keys, and counters.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The shared state of the connections that run a mix.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub sequence: Sequence,
    /// By the position of the counter.
    pub counters: Vec<Counter>,
}

/// Numbers from 0 on, each handed out once.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    next: AtomicU64,
    /// All numbers below have ended.
    ended_below: AtomicU64,
    /// Numbers that have ended before a lower one.
    ahead: Mutex<BTreeSet<u64>>,
}

impl Sequence {
    /// Returns the number below which the transactions of all numbers have ended.
    pub fn ended_below(&self) -> u64 {
        self.ended_below.load(Ordering::Acquire)
    }

    /// Ends the transaction that took the number.
    fn end(&self, number: u64) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.insert(number);
        let mut below = self.ended_below();
        while ahead.remove(&below) {
            below += 1;
        }
        self.ended_below.store(below, Ordering::Release);
    }
}

/// Numbers that a connection has taken in its transaction. A repeated transaction takes the same
/// ones.
#[derive(Debug, Default)]
pub(super) struct DrawnNumbers {
    numbers: Vec<u64>,
    used: usize,
}

impl DrawnNumbers {
    /// The next number of the transaction.
    pub fn next(&mut self, sequence: &Sequence) -> u64 {
        if self.used == self.numbers.len() {
            self.numbers.push(sequence.next.fetch_add(1, Ordering::Relaxed));
        }
        self.used += 1;
        self.numbers[self.used - 1]
    }

    /// The transaction begins again.
    pub fn repeat(&mut self) {
        self.used = 0;
    }

    /// The transaction was committed or given up.
    pub fn end(&mut self, sequence: &Sequence) {
        self.numbers.drain(..).for_each(|number| sequence.end(number));
        self.used = 0;
    }
}

/// Sums of a counter over committed transactions.
#[derive(Debug, Default)]
pub(super) struct Counter {
    ever: AtomicI64,
    measured: AtomicI64,
}

impl Counter {
    pub fn add(&self, amount: i64, is_measured: bool) {
        self.ever.fetch_add(amount, Ordering::Relaxed);
        if is_measured {
            self.measured.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// Returns the sum of the whole trial.
    pub fn ever(&self) -> i64 {
        self.ever.load(Ordering::Relaxed)
    }

    /// Returns the sum of the measurement, without the warm-up.
    pub fn measured(&self) -> i64 {
        self.measured.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::{DrawnNumbers, Sequence};

    #[test]
    fn numbers_end_in_any_order_and_count_when_all_below_have_ended() {
        let sequence = Sequence::default();
        let [mut first, mut second] = [DrawnNumbers::default(), DrawnNumbers::default()];
        assert_eq!(
            [first.next(&sequence), second.next(&sequence), second.next(&sequence)],
            [0, 1, 2]
        );
        second.repeat();
        assert_eq!([second.next(&sequence), second.next(&sequence)], [1, 2]);
        second.end(&sequence);
        assert_eq!(sequence.ended_below(), 0);
        first.end(&sequence);
        assert_eq!(sequence.ended_below(), 3);
        assert_eq!(second.next(&sequence), 3);
    }
}
