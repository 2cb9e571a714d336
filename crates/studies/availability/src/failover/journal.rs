//! The writes of a client, and their fate.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A write. It is in the journal before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// When it was sent first, in nanoseconds of the trial.
    pub sent_ns: u64,
    /// When the server acknowledged it; `None`: it never did.
    pub acknowledged_ns: Option<u64>,
}

/// The writes of a client; the number of a write is its position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Journal {
    /// All writes, in the order in which they were sent.
    pub entries: Vec<Entry>,
}

/// A time without an acknowledged write, in nanoseconds of the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The last acknowledgement before it.
    pub from_ns: u64,
    /// The first acknowledgement after it, or the end of the trial.
    pub to_ns: u64,
    /// The trial ended without an acknowledgement after it.
    pub is_open: bool,
}

impl Gap {
    /// The length in seconds.
    pub fn seconds(self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / 1e9
    }
}

/// The fate of writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Acknowledged.
    pub acknowledged: u64,
    /// Acknowledged, and absent.
    pub lost: u64,
    /// Present more than once.
    pub duplicates: u64,
    /// Never acknowledged.
    pub unknown: u64,
    /// Never acknowledged, and present.
    pub unknown_present: u64,
    /// Rows that are no write of the journal.
    pub unexpected: u64,
}

impl Journal {
    /// Notes a write that is about to be sent. Returns its number.
    pub fn add(&mut self, now_ns: u64) -> usize {
        self.entries.push(Entry { sent_ns: now_ns, acknowledged_ns: None });
        self.entries.len() - 1
    }

    /// Notes the acknowledgement of a write.
    pub fn acknowledge(&mut self, number: usize, now_ns: u64) {
        self.entries[number].acknowledged_ns = Some(now_ns);
    }

    /// Returns the longest time without an acknowledgement that overlaps an incident; other stalls
    /// are not of the fault. `None` without an acknowledgement before the incident was over.
    pub fn gap(&self, incident: RangeInclusive<u64>, end_ns: u64) -> Option<Gap> {
        let acknowledged = self.entries.iter().filter_map(|entry| entry.acknowledged_ns);
        let acknowledged: Vec<u64> = acknowledged.collect();
        let closed = acknowledged.windows(2).map(|pair| Gap {
            from_ns: pair[0],
            to_ns: pair[1],
            is_open: false,
        });
        // A client may end after the load.
        let open = acknowledged.last().map(|last| Gap {
            from_ns: *last,
            to_ns: end_ns.max(*last),
            is_open: true,
        });
        closed
            .chain(open)
            .filter(|gap| gap.from_ns <= *incident.end() && gap.to_ns >= *incident.start())
            .max_by_key(|gap| gap.to_ns - gap.from_ns)
    }

    /// Compares the journal with the rows that the server has: how often it has each number.
    pub fn judge(&self, rows: &BTreeMap<u64, u64>) -> Verdict {
        let mut verdict = Verdict::default();
        for (number, entry) in (0..).zip(&self.entries) {
            let count = rows.get(&number).copied().unwrap_or(0);
            verdict.duplicates += u64::from(count > 1);
            if entry.acknowledged_ns.is_some() {
                verdict.acknowledged += 1;
                verdict.lost += u64::from(count == 0);
            } else {
                verdict.unknown += 1;
                verdict.unknown_present += u64::from(count > 0);
            }
        }
        let known = self.entries.len() as u64;
        verdict.unexpected = rows.range(known..).map(|(_, count)| count).sum();
        verdict
    }
}

impl Verdict {
    /// Adds the writes of another client.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            acknowledged: self.acknowledged + other.acknowledged,
            lost: self.lost + other.lost,
            duplicates: self.duplicates + other.duplicates,
            unknown: self.unknown + other.unknown,
            unknown_present: self.unknown_present + other.unknown_present,
            unexpected: self.unexpected + other.unexpected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gap, Journal, Verdict};
    use std::collections::BTreeMap;

    /// Writes at these times, acknowledged 1 ns later or never.
    fn journal(writes: &[(u64, bool)]) -> Journal {
        let mut journal = Journal::default();
        for (sent_ns, is_acknowledged) in writes {
            let number = journal.add(*sent_ns);
            if *is_acknowledged {
                journal.acknowledge(number, sent_ns + 1);
            }
        }
        journal
    }

    #[test]
    fn lost_duplicate_and_unknown_writes_are_counted() {
        let journal =
            journal(&[(0, true), (1, true), (2, false), (3, false), (4, true), (5, true)]);
        // 1 is lost, 3 was committed without an acknowledgement, 4 twice; 9 was never sent.
        let rows = BTreeMap::from([(0, 1), (3, 1), (4, 2), (5, 1), (9, 1)]);
        let expected = Verdict {
            acknowledged: 4,
            lost: 1,
            duplicates: 1,
            unknown: 2,
            unknown_present: 1,
            unexpected: 1,
        };
        assert_eq!(journal.judge(&rows), expected);
        let twice = expected.plus(expected);
        assert_eq!((twice.acknowledged, twice.lost, twice.unexpected), (8, 2, 2));
        // Nothing arrived, and nothing was written.
        assert_eq!(journal.judge(&BTreeMap::new()).lost, 4);
        assert_eq!(Journal::default().judge(&BTreeMap::new()), Verdict::default());
    }

    #[test]
    fn the_gap_is_the_longest_that_overlaps_the_incident() {
        let writes = journal(&[(0, true), (10, true), (12, false), (50, true), (60, true)]);
        let gap = |from_ns, to_ns, is_open| Some(Gap { from_ns, to_ns, is_open });
        assert_eq!(writes.gap(12..=40, 70), gap(11, 51, false));
        // A stall after the incident is longer.
        assert_eq!(writes.gap(12..=40, 500), gap(11, 51, false));
        // A client whose writes never succeeded again.
        assert_eq!(writes.gap(62..=90, 500), gap(61, 500, true));
        // Its last acknowledgement came after the end.
        assert_eq!(writes.gap(12..=40, 20), gap(11, 51, false));
        assert_eq!(journal(&[(0, false)]).gap(1..=5, 9), None);
        let gap = Gap { from_ns: 1_000_000_000, to_ns: 2_500_000_000, is_open: false };
        assert!((gap.seconds() - 1.5).abs() < 1e-9);
    }
}
