//! A server's counters at a moment, and their differences.

use super::client::{Client, Error};
use super::delta::delta;
use super::views::{self, COUNTERS, CounterView};
use crate::WAIT_TYPES;
use engine::view::ViewRows;
use engine::{Row, Rows, View, WaitType};
use observations::{
    CounterColumn, CounterReadings, CounterRow, CounterTable, CounterUnit, Wait, WaitClass, order,
};
use std::collections::BTreeMap;
use std::time::Instant;

/// A server's counters at a moment.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The time.
    pub at: Instant,
    /// When the server started.
    pub started: ViewRows,
    /// The waits.
    pub waits: ViewRows,
    /// The further counters, in the order of [`COUNTERS`].
    pub counters: Vec<ViewRows>,
}

/// Counts between two readings.
#[derive(Debug, Default, PartialEq)]
pub struct Counts {
    /// The waits; benign ones are of class idle.
    pub waits: Vec<Wait>,
    /// The further counters.
    pub counters: Vec<CounterTable>,
    /// Limits of the observation, one sentence each.
    pub lost: Vec<String>,
    /// True if there was no meaningful difference of the waits.
    pub waits_unknown: bool,
}

impl Reading {
    /// Reads all; `waits`: where the waits are.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn read(client: &mut Client, waits: &View) -> Result<Self, Error> {
        let started = client.view(&views::STARTED)?;
        let answer = client.view(waits)?;
        let at = Instant::now();
        let counters = COUNTERS
            .iter()
            .map(|counters| client.view(&counters.view))
            .collect::<Result<_, _>>()?;
        Ok(Self { at, started, waits: answer, counters })
    }

    /// The rows of this reading and of `after`, view by view, where both have them.
    pub fn pairs(&self, after: &Self, waits: &View) -> Vec<CounterReadings> {
        let views = [&views::STARTED, waits]
            .into_iter()
            .chain(COUNTERS.iter().map(|counters| &counters.view));
        let answers = |reading: &Self| {
            let first = [&reading.started, &reading.waits].into_iter();
            first.chain(&reading.counters).cloned().collect::<Vec<ViewRows>>()
        };
        let pairs = answers(self).into_iter().zip(answers(after));
        views
            .zip(pairs)
            .filter_map(|(view, pair)| {
                let (began, ended) = (pair.0.ok()?, pair.1.ok()?);
                let (source, columns) = (view.name.to_owned(), ended.columns().to_vec());
                let [began, ended] =
                    [began, ended].map(|rows| rows.iter().map(Row::values).collect());
                Some(CounterReadings { source, columns, began, ended })
            })
            .collect()
    }

    /// Returns the counts from this reading to `after`.
    pub fn until(&self, after: &Self) -> Counts {
        let mut counted = Counts::default();
        if let Err(why) = &self.started {
            counted.lost.push(format!("Server restarts: {why}."));
        }
        counted.waits_unknown = true;
        match (&self.waits, &after.waits) {
            (Ok(before), Ok(now)) => match delta([&self.started, &after.started], [before, now]) {
                Ok(delta) => {
                    counted.lost.extend(delta.doubtful);
                    counted.waits_unknown = false;
                    counted.waits = delta.waits.into_iter().map(without_benign).collect();
                }
                Err(error) => counted.lost.push(format!("Waits of this interval: {error}.")),
            },
            (Err(why), _) | (_, Err(why)) => {
                counted.lost.push(format!("Server-wide waits: {why}."));
            }
        }
        for (view, (before, now)) in COUNTERS.iter().zip(self.counters.iter().zip(&after.counters))
        {
            match (before, now) {
                (Ok(before), Ok(now)) => match table(view, before, now) {
                    Some(table) => counted.counters.push(table),
                    None => {
                        counted.lost.push(format!(
                            "{} of this interval: the counters were reset during it.",
                            view.title
                        ));
                    }
                },
                (Err(why), _) | (_, Err(why)) => {
                    counted.lost.push(format!("{}: {why}.", view.title));
                }
            }
        }
        counted
    }
}

/// Waits of background tasks are of class idle, which the table leaves out and sums up.
pub(crate) fn without_benign(mut wait: Wait) -> Wait {
    if WaitType::is_benign(WAIT_TYPES, &wait.wait_type, &[]) {
        wait.class = WaitClass::Idle;
    }
    wait
}

/// Returns the increase of counters; `None` when one fell.
fn table(view: &CounterView, before: &Rows, now: &Rows) -> Option<CounterTable> {
    let read: Vec<(&str, &str)> = view
        .headings
        .iter()
        .copied()
        .filter(|(column, _)| now.columns().iter().any(|known| known == column))
        .collect();
    let values =
        |row: Row| read.iter().map(|(column, _)| row.parse::<f64>(*column)).collect::<Vec<_>>();
    let old: BTreeMap<String, Vec<Option<f64>>> =
        before.iter().map(|row| (row.text("name"), values(row))).collect();
    let mut rows = Vec::new();
    for row in now.iter() {
        let name = row.text("name");
        let mut rise = values(row);
        for (at, (column, _)) in
            read.iter().enumerate().filter(|(_, (column, _))| !column.starts_with("now_"))
        {
            let then = old.get(&name).and_then(|values| values[at]).unwrap_or(0.0);
            rise[at] = rise[at].map(|value| value - then);
            if rise[at].is_some_and(|value| value < 0.0) {
                return None;
            }
            if column.ends_with("_ms") {
                rise[at] = rise[at].map(|value| value / 1e3);
            }
        }
        if rise.iter().flatten().any(|value| *value > 0.0) {
            let quotients = view.quotients.iter().map(|(_, above, below)| {
                let of = |name: &str| rise[read.iter().position(|(column, _)| *column == name)?];
                Some(of(above)? / of(below).filter(|below| *below > 0.0)?)
            });
            let quotients: Vec<Option<f64>> = quotients.collect();
            rows.push(CounterRow { name, values: rise.into_iter().chain(quotients).collect() });
        }
    }
    let first = |row: &CounterRow| row.values.first().copied().flatten().unwrap_or(0.0);
    order::sort(&mut rows, &|a, b| first(b).total_cmp(&first(a)).then_with(|| a.name.cmp(&b.name)));
    let columns = read.iter().map(|(column, heading)| (*heading, unit(column)));
    let quotients = view.quotients.iter().map(|(heading, above, _)| (*heading, unit(above)));
    let columns = columns.chain(quotients);
    let columns = columns.map(|(heading, unit)| CounterColumn { heading: heading.into(), unit });
    Some(CounterTable {
        title: view.title.into(),
        source: view.view.name.into(),
        rows_are: view.rows_are.into(),
        columns: columns.collect(),
        rows,
    })
}

fn unit(column: &str) -> CounterUnit {
    match column.rsplit('_').next() {
        Some("ms") => CounterUnit::Seconds,
        Some("bytes") => CounterUnit::Bytes,
        _ => CounterUnit::Count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::view::NotShown;
    use observations::WaitSource;
    use testing::rows::rows;

    fn reading(started: &str, waits: &str) -> Reading {
        let waits = rows(&format!("wait_type | waits | wait_ms | signal_ms\n{waits}"));
        let counters =
            COUNTERS.iter().map(|view| Err(NotShown::new(view.view.name, "not asked"))).collect();
        Reading {
            at: Instant::now(),
            started: Ok(rows(&format!("started\n{started}"))),
            waits: Ok(waits),
            counters,
        }
    }

    #[test]
    fn waits_are_differences_and_benign_ones_stand_apart() {
        let before =
            reading("A", "PAGELATCH_UP | 10 | 1000 | 100\nLAZYWRITER_SLEEP | 5 | 5000 | 1");
        let after = reading(
            "A",
            "PAGELATCH_UP | 30 | 5000 | 350\nLAZYWRITER_SLEEP | 15 | 15000 | 2\nWRITELOG | 2 | 8 \
             | 1",
        );
        let counted = before.until(&after);
        let waits: Vec<_> =
            counted.waits.iter().map(|wait| (&*wait.wait_type, wait.class, wait.count)).collect();
        assert_eq!(
            waits,
            [
                ("LAZYWRITER_SLEEP", WaitClass::Idle, Some(10)),
                ("PAGELATCH_UP", WaitClass::Latch, Some(20)),
                ("WRITELOG", WaitClass::Log, Some(2)),
            ]
        );
        let latch = &counted.waits[1];
        assert_eq!(
            (latch.resource_s, latch.signal_s, &latch.source),
            (3.75, 0.25, &WaitSource::Counted)
        );
        assert_eq!(
            counted.lost.len(),
            COUNTERS.len(),
            "what was not read is said: {:?}",
            counted.lost
        );
        assert!(counted.lost[0].starts_with("Latch classes: sys.dm_os_latch_stats: "));
    }

    #[test]
    fn a_reset_or_a_restart_claims_nothing() {
        let before = reading("A", "WRITELOG | 10 | 1000 | 100");
        let reset = before.until(&reading("A", "WRITELOG | 9 | 1000 | 100"));
        assert!(
            reset.waits.is_empty() && reset.lost[0].contains("were reset between the snapshots"),
            "{reset:?}"
        );
        let restarted = before.until(&reading("B", "WRITELOG | 90 | 9000 | 100"));
        assert!(
            restarted.waits.is_empty() && restarted.lost[0].contains("was restarted"),
            "{restarted:?}"
        );
    }

    #[test]
    fn counters_rise_in_their_units_and_averages_are_of_the_interval() {
        let [_, files, schedulers, _] = COUNTERS;
        let head =
            "name | read_stall_ms | reads | read_bytes | write_stall_ms | writes | written_bytes";
        let before = rows(&format!(
            "{head}\nshop, ROWS 1 | 100 | 10 | 8192 | 0 | 0 | 0\nmaster, LOG 2 | 1|1|1|1|1|1"
        ));
        let after = rows(&format!(
            "{head}\nshop, ROWS 1 | 4100 | 1010 | 16384 | 0 | 0 | 0\nmaster, LOG 2 | \
             1|1|1|1|1|1\nnew | 5 | 0 | 0 | 0 | 0 | 0"
        ));
        let table = table(&files, &before, &after).unwrap();
        assert_eq!(table.rows.len(), 2, "a file without I/O is left out");
        let shop = &table.rows[0];
        assert_eq!(shop.name, "shop, ROWS 1");
        assert_eq!(shop.values[..3], [Some(4.0), Some(1000.0), Some(8192.0)]);
        assert_eq!(shop.values[6..], [Some(0.004), None], "no average of no writes");
        assert_eq!(
            table.columns[6],
            CounterColumn { heading: "Each read".into(), unit: CounterUnit::Seconds }
        );
        assert_eq!(table.columns[2].unit, CounterUnit::Bytes);
        assert_eq!(super::table(&files, &after, &before), None, "a counter that falls was reset");

        // An older server has no processor time of schedulers; states are absolute, not
        // differences.
        let now = rows(
            "name | switches | yields | now_runnable | now_queued | now_io\ns | 50 | 9 | 3 | 0 | 0",
        );
        let before = rows(
            "name | switches | yields | now_runnable | now_queued | now_io\ns | 20 | 9 | 7 | 0 | 0",
        );
        let table = super::table(&schedulers, &before, &now).unwrap();
        let headings: Vec<&str> =
            table.columns.iter().map(|column| column.heading.as_str()).collect();
        assert_eq!(headings, ["Switches", "Yields", "Runnable now", "Queued now", "I/O now"]);
        assert_eq!(table.rows[0].values[..3], [Some(30.0), Some(0.0), Some(3.0)]);
    }
}
