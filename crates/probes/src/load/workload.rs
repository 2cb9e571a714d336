use crate::ProbeError;
use engines::{Request, Results};
use std::time::Duration;

/// The transactions of one connection, in order.
pub trait Workload: Send {
    /// The measurement begins: work that was done before does not count.
    fn begin(&mut self);
    /// Begins the next transaction and says of which of [`super::LoadPlan::kinds`] it is; `None`
    /// when this connection has done all its work, which it never has before
    /// [`Workload::begin`].
    fn start(&mut self) -> Option<usize>;
    /// What the transaction does next.
    ///
    /// # Errors
    /// When it cannot be told: a script divides by zero.
    fn step(&mut self) -> Result<Step<'_>, ProbeError>;
    /// Results that the last request asked for.
    ///
    /// # Errors
    /// When they are not what the transaction needs.
    fn results(&mut self, _results: &[Results]) -> Result<(), ProbeError> {
        Ok(())
    }
    /// What the transaction that has just ended did.
    fn done(&self) -> Amount {
        Amount { units: 1, transactions: 1 }
    }
    /// Begins the same transaction again, because the engine asked for it; false when it has been
    /// tried often enough and counts as failed.
    fn again(&mut self) -> bool;
}

/// Amount of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// Units of work: rows, transactions.
    pub units: u64,
    /// Transactions committed.
    pub transactions: u64,
}

/// A step of a transaction.
#[derive(Debug)]
pub enum Step<'a> {
    /// Ask the engine.
    Request(Request<'a>),
    /// Think.
    Sleep(Duration),
    /// The transaction is over.
    End,
}
