//! What is known of SQL Server: its wait types, the waits between two readings of its cumulative counters, and what
//! kind of page a session waits for. It cannot be a target yet: an `Engine` here, and its line in [`crate::all`], make
//! it one.

mod wait_types;

pub use wait_types::{BENIGN_VERSION, WAIT_TYPES, class};

use observations::{Wait, WaitSource};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// Pages that one page-free-space (PFS) page describes.
const PFS_INTERVAL: u32 = 8_088;
/// Pages that one allocation map (GAM, SGAM, DCM, BCM) describes: 63,904 extents of 8 pages.
const MAP_INTERVAL: u32 = 511_232;
/// The database of temporary objects.
const TEMPDB: u16 = 2;

/// A page as wait statistics name it: `database:file:page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageId {
    /// Database number; 2 is tempdb.
    pub database: u16,
    /// File number within the database.
    pub file: u16,
    /// Page number within the file.
    pub page: u32,
}

/// What a page is for.
#[derive(Debug, PartialEq, Eq)]
pub struct PageKind {
    /// The name printed: `PFS`, `GAM`, ...
    pub name: &'static str,
    /// Whether sessions meet here only to allocate or free pages.
    pub is_allocation: bool,
    /// The first page of this kind in a file, and the interval of the others with their place in it.
    first: u32,
    others: Option<(u32, u32)>,
}

/// The intervals of PFS and maps share a factor, so that from page 516,855,552 (3.9 TB) on a few numbers fit both
/// rules: PFS comes first.
static KINDS: [PageKind; 6] = [
    kind("file header", false, 0, None),
    // Which pages are allocated and how full they are.
    kind("PFS", true, 1, Some((PFS_INTERVAL, 0))),
    // Which extents are free, and which hold pages of several objects.
    kind("GAM", true, 2, Some((MAP_INTERVAL, 0))),
    kind("SGAM", true, 3, Some((MAP_INTERVAL, 1))),
    // What changed since a full backup, and what was changed with minimal logging.
    kind("DCM", false, 6, Some((MAP_INTERVAL, 6))),
    kind("BCM", false, 7, Some((MAP_INTERVAL, 7))),
];
/// Of the first file only.
static BOOT: PageKind = kind("boot", false, 9, None);
static DATA: PageKind = kind("data or index", false, 0, None);

const fn kind(name: &'static str, is_allocation: bool, first: u32, others: Option<(u32, u32)>) -> PageKind {
    PageKind { name, is_allocation, first, others }
}

impl PageKind {
    fn fits(&self, page: u32) -> bool {
        page == self.first
            || self.others.is_some_and(|(interval, at)| page >= interval && page % interval == at)
    }
}

impl PageId {
    /// What the page is for.
    pub fn kind(self) -> &'static PageKind {
        if (self.file, self.page) == (1, BOOT.first) {
            return &BOOT;
        }
        KINDS.iter().find(|kind| kind.fits(self.page)).unwrap_or(&DATA)
    }

    /// Whether the page belongs to tempdb.
    pub fn is_tempdb(self) -> bool {
        self.database == TEMPDB
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.database, self.file, self.page)
    }
}

/// A text that names no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no page: expected database:file:page, such as 5:1:1520544")]
pub struct NotAPage(String);

impl FromStr for PageId {
    type Err = NotAPage;

    /// Reads `5:1:1520544`, `PAGE: 5:1:1520544` and `5:1:1520544 (detail)`, as the different views print it.
    fn from_str(text: &str) -> Result<Self, NotAPage> {
        let rest = text.trim();
        let id = rest.strip_prefix("PAGE:").unwrap_or(rest).split_whitespace().next().unwrap_or_default();
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let read = |[database, file, page]: [&str; 3]| {
            Some(Self {
                database: database.parse().ok()?,
                file: file.parse().ok()?,
                page: page.parse().ok()?,
            })
        };
        let parts: Vec<&str> = id.split(':').filter(is_number).collect();
        let all = parts.len() == id.split(':').count();
        <[&str; 3]>::try_from(parts)
            .ok()
            .filter(|_| all)
            .and_then(read)
            .ok_or_else(|| NotAPage(text.to_owned()))
    }
}

/// Cumulative counters of a server at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// When the server (or its statistics) started, in any form that stays the same while it runs.
    pub started: String,
    /// Counter units in a second: 1,000 for ms, 10^12 for ps.
    pub units_per_second: u64,
    /// Wait type to counters.
    pub counters: BTreeMap<String, Counters>,
}

/// Counters of one wait type since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Waits that ended.
    pub count: u64,
    /// Time of them, signal wait included.
    pub wait: u64,
    /// The signal part.
    pub signal: u64,
}

/// What was waited for between two snapshots.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    /// Wait types that changed.
    pub waits: Vec<Wait>,
    /// Wait types whose counters contradict each other, and how: shown, not hidden.
    pub doubtful: Vec<String>,
}

/// Two snapshots that have no meaningful difference, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; measure again")]
pub struct SnapshotError(String);

impl Snapshot {
    /// What was waited for from `self` to `after`. A wait type that is new in `after` started at 0.
    ///
    /// # Errors
    /// When a counter decreased, a wait type vanished, or the server was restarted.
    pub fn delta(&self, after: &Self) -> Result<Delta, SnapshotError> {
        if self.started != after.started {
            let times = (&self.started, &after.started);
            let error =
                format!("the server was restarted between the snapshots ({}, then {})", times.0, times.1);
            return Err(SnapshotError(error));
        }
        let (before, now) = (self.units_per_second, after.units_per_second);
        if before != now {
            let error = format!("the snapshots count time in different units ({before} and {now} a second)");
            return Err(SnapshotError(error));
        }
        let mut delta = Delta { waits: Vec::new(), doubtful: Vec::new() };
        // A wait type that vanished has fallen to 0.
        let types: BTreeSet<&String> = self.counters.keys().chain(after.counters.keys()).collect();
        for wait_type in types {
            let at =
                |counters: &BTreeMap<String, Counters>| counters.get(wait_type).copied().unwrap_or_default();
            let (start, end) = (at(&self.counters), at(&after.counters));
            let change = Counters {
                count: increase(wait_type, "count", start.count, end.count)?,
                wait: increase(wait_type, "wait time", start.wait, end.wait)?,
                signal: increase(wait_type, "signal time", start.signal, end.signal)?,
            };
            if change == Counters::default() {
                continue;
            }
            delta.doubtful.extend(contradiction(wait_type, change));
            let seconds = |units: u64| units as f64 / self.units_per_second as f64;
            let signal = change.signal.min(change.wait);
            let (resource_s, signal_s) = (seconds(change.wait - signal), seconds(signal));
            let (class, count) = (class(wait_type), Some(change.count));
            let (wait_type, source) = (wait_type.clone(), WaitSource::Counted);
            delta.waits.push(Wait { wait_type, class, count, resource_s, signal_s, source });
        }
        Ok(delta)
    }
}

fn increase(wait_type: &str, counter: &str, before: u64, after: u64) -> Result<u64, SnapshotError> {
    after.checked_sub(before).ok_or_else(|| {
        SnapshotError(format!(
            "the wait statistics were reset between the snapshots: {wait_type} {counter} fell from {before} \
             to {after}; discard this interval"
        ))
    })
}

/// What a server's own counters should never say.
fn contradiction(wait_type: &str, change: Counters) -> Option<String> {
    if change.signal > change.wait {
        Some(format!("{wait_type}: more signal wait than wait; all of it is taken as signal wait"))
    } else if change.count == 0 && change.wait > 0 {
        Some(format!("{wait_type}: time but no waits; it has no averages"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observations::WaitClass;

    fn kind(page: u32) -> &'static str {
        PageId { database: 5, file: 1, page }.kind().name
    }

    /// Study S1d: 13 sessions waited on these two pages.
    #[test]
    fn published_hot_pages_are_pfs() {
        for text in ["5:1:1520544", "5:1:1544808", "PAGE: 5:1:1520544"] {
            let page: PageId = text.parse().unwrap();
            assert_eq!((page.database, page.file), (5, 1));
            assert_eq!(page.kind().name, "PFS", "{text}");
            assert!(page.kind().is_allocation && !page.is_tempdb());
        }
        assert_eq!("5:1:1520544".parse::<PageId>().unwrap().to_string(), "5:1:1520544");
        assert_eq!(1_520_544 / PFS_INTERVAL, 188);
    }

    #[test]
    fn follows_the_documented_intervals() {
        for (page, expected) in [
            (0, "file header"),
            (1, "PFS"),
            (2, "GAM"),
            (3, "SGAM"),
            (6, "DCM"),
            (7, "BCM"),
            (8, "data or index"),
            (9, "boot"),
            (8_088, "PFS"),
            (8_089, "data or index"),
            (511_232, "GAM"),
            (511_233, "SGAM"),
            (511_235, "data or index"),
            (511_238, "DCM"),
            (511_239, "BCM"),
            (1_022_464, "GAM"),
            (1_022_465, "SGAM"),
            (516_855_552, "PFS"),
        ] {
            assert_eq!(kind(page), expected, "page {page}");
        }
        assert_eq!(PageId { database: 5, file: 3, page: 9 }.kind().name, "data or index");
        assert!("2:1:1".parse::<PageId>().unwrap().is_tempdb());
    }

    #[test]
    fn rejects_what_is_no_page() {
        for text in [
            "",
            "5:1",
            "5:1:2:3",
            "5:1:x",
            "5:-1:2",
            "70000:1:1",
            "5:1:99999999999",
            "KEY: 5:1",
            "+5:1:1",
            "::",
        ] {
            assert!(text.parse::<PageId>().is_err(), "{text}");
        }
    }

    fn snapshot(counters: &[(&str, u64, u64, u64)]) -> Snapshot {
        let counters = counters
            .iter()
            .map(|(name, count, wait, signal)| {
                ((*name).to_owned(), Counters { count: *count, wait: *wait, signal: *signal })
            })
            .collect();
        Snapshot { started: "2026-01-01".into(), units_per_second: 1000, counters }
    }

    #[test]
    fn subtracts_and_starts_new_types_at_zero() {
        let before = snapshot(&[("WRITELOG", 10, 5000, 1000), ("LATCH_EX", 3, 30, 0)]);
        let after =
            snapshot(&[("WRITELOG", 14, 7500, 1500), ("LATCH_EX", 3, 30, 0), ("PAGELATCH_UP", 2, 40, 1)]);
        let delta = before.delta(&after).unwrap();
        let names: Vec<_> = delta.waits.iter().map(|w| (w.wait_type.as_str(), w.count)).collect();
        assert_eq!(names, [("PAGELATCH_UP", Some(2)), ("WRITELOG", Some(4))]);
        assert_eq!((delta.waits[1].resource_s, delta.waits[1].signal_s), (2.0, 0.5));
        assert_eq!(delta.waits[1].class, WaitClass::Log);
        assert!(delta.doubtful.is_empty());
    }

    #[test]
    fn a_counter_that_falls_or_vanishes_is_a_reset() {
        let before = snapshot(&[("WRITELOG", 10, 5000, 1000)]);
        for after in [
            snapshot(&[("WRITELOG", 9, 5000, 1000)]),
            snapshot(&[("WRITELOG", 10, 4999, 1000)]),
            snapshot(&[("WRITELOG", 10, 5000, 999)]),
            snapshot(&[]),
        ] {
            let error = before.delta(&after).unwrap_err();
            assert!(error.to_string().contains("were reset between the snapshots: WRITELOG "), "{error}");
        }
        let restarted = Snapshot { started: "2026-01-02".into(), ..before.clone() };
        let error = before.delta(&restarted).unwrap_err();
        assert!(
            error.to_string().contains("was restarted between the snapshots (2026-01-01, then 2026-01-02)")
        );
        let picoseconds = Snapshot { units_per_second: 1_000_000_000_000, ..before.clone() };
        let error = before.delta(&picoseconds).unwrap_err();
        assert!(error.to_string().contains("different units (1000 and 1000000000000 a second)"), "{error}");
    }

    #[test]
    fn contradictions_are_told_and_keep_the_identity() {
        let delta = snapshot(&[]).delta(&snapshot(&[("A", 0, 7, 0), ("B", 1, 5, 6)])).unwrap();
        assert_eq!(delta.doubtful.len(), 2);
        assert_eq!((delta.waits[1].resource_s, delta.waits[1].signal_s), (0.0, 0.005));
    }
}
