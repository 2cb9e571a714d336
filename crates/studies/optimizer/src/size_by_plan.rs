//! The number of rows from which on the plan of a query is parallel: found by explaining it on
//! copies of the first rows of the table dials, by bisection. Nothing is executed, and no copy
//! stays.

use crate::ask::{Asker, Column};
use crate::facts::{PARALLEL_ROWS, SERIAL_ROWS};
use crate::optimizer::Prefix;
use crate::template::Template;
use experiment::Configuration;
use observations::{Fact, sha256};
use probe::ProbeError;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Smaller copies are not made.
const ROWS_MIN: u64 = 100;

/// The search ends when a serial and a parallel plan are this part of the rows apart.
const PRECISION: u64 = 200;

/// Configurations of this process that were searched: the result follows from the data and the
/// settings, so that other blocks need not search again.
static SEARCHED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A search for the size of the table.
pub struct Search<'a> {
    /// How the engine shows the first rows of a table.
    pub prefix: &'a Prefix,
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The query.
    pub template: &'a Template,
    /// The share of rows that it selects.
    pub share: f64,
    /// Rows of the whole table, on which the plan is parallel.
    pub rows: u64,
    /// Tells a parallel plan from a serial one.
    pub is_parallel: &'a dyn Fn(&str) -> bool,
}

fn searched() -> MutexGuard<'static, BTreeSet<String>> {
    SEARCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Search<'_> {
    /// Finds the least rows with a parallel plan, to half a percent, once for a configuration.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn find(&self, asker: &mut Asker<'_>) -> Result<Vec<Fact>, ProbeError> {
        let key = sha256([format!("{:?}", self.configuration.settings)]);
        if searched().contains(&key) {
            return Ok(Vec::new());
        }
        let (mut serial, mut parallel) = (None, self.rows);
        while serial.is_none() && parallel / 2 >= ROWS_MIN {
            let half = parallel / 2;
            if self.is_parallel_at(asker, half)? { parallel = half } else { serial = Some(half) }
        }
        if let Some(most) = &mut serial {
            while parallel - *most > (parallel / PRECISION).max(1) {
                let middle = u64::midpoint(*most, parallel);
                if self.is_parallel_at(asker, middle)? { parallel = middle } else { *most = middle }
            }
        }
        searched().insert(key);
        let serial = serial.map(|rows| SERIAL_ROWS.record(rows as f64));
        Ok(std::iter::once(PARALLEL_ROWS.record(parallel as f64)).chain(serial).collect())
    }

    /// Explains the query on this number of rows.
    fn is_parallel_at(&self, asker: &mut Asker<'_>, rows: u64) -> Result<bool, ProbeError> {
        let rows_text = rows.to_string();
        let names = [("table", "dials"), ("key", "id"), ("column", "a"), ("rows", &rows_text)];
        asker.run_all(self.prefix.begin, &names)?;
        let mut column = Column::count(asker, &self.template.first)?;
        let position = (self.share * column.rows as f64).round() as u64;
        let bound = column.bound(asker, position)?;
        let reading = asker.reading(self.template, &self.template.query(&[&bound.value], ""))?;
        asker.run_all(self.prefix.end, &names)?;
        Ok((self.is_parallel)(&reading.plan))
    }
}
