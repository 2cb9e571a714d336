//! Amplification of a host's small random I/Os by an array of disks.
//!
//! Counts of I/Os by level: P. Chen, E. Lee, G. Gibson, R. Katz, D. Patterson, "RAID:
//! High-Performance, Reliable Secondary Storage", ACM Computing Surveys 26 (1994), section 3. A
//! small write of a parity array reads old data and old parity and writes both.

use serde::Serialize;

/// A level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Raid {
    /// Stripes without redundancy, or single disks.
    #[serde(rename = "0")]
    Stripes,
    /// Mirrored pairs, striped: RAID 1 and 10.
    #[serde(rename = "10")]
    Mirrors,
    /// One parity disk's worth a group.
    #[serde(rename = "5")]
    Parity,
    /// Two parity disks' worth a group.
    #[serde(rename = "6")]
    DoubleParity,
}

/// Disk I/Os a host I/O makes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PerHostIo {
    /// Disk reads of a host read.
    pub reads_of_read: f64,
    /// Disk reads of a host write.
    pub reads_of_write: f64,
    /// Disk writes of a host write.
    pub writes_of_write: f64,
}

/// The figures of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Disks of a group that is protected together, where the file does not say it: 8 and 10 are
    /// common for parity.
    pub usual_group: u64,
    /// Fewest disks of a group.
    pub smallest_group: u64,
    /// Disks' worth of a group that a host cannot use.
    redundant: u64,
    /// Disk I/Os of small random I/Os.
    pub small: PerHostIo,
}

impl Raid {
    /// The names in files.
    pub const NAMES: [&str; 5] = ["0", "1", "10", "5", "6"];

    /// By its name in files.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "0" => Self::Stripes,
            "1" | "10" => Self::Mirrors,
            "5" => Self::Parity,
            "6" => Self::DoubleParity,
            _ => return None,
        })
    }

    /// The groups of a level and its write penalty, which is 1, 2, 4 and 6.
    pub const fn level(self) -> Level {
        let ([usual_group, smallest_group, redundant], [reads, writes]) = match self {
            Self::Stripes => ([1, 1, 0], [0.0, 1.0]),
            Self::Mirrors => ([2, 2, 1], [0.0, 2.0]),
            Self::Parity => ([8, 3, 1], [2.0, 2.0]),
            Self::DoubleParity => ([10, 4, 2], [3.0, 3.0]),
        };
        let small =
            PerHostIo { reads_of_read: 1.0, reads_of_write: reads, writes_of_write: writes };
        Level { usual_group, smallest_group, redundant, small }
    }

    /// The share of the space of its disks that a host can use.
    pub fn usable(self, group: u64) -> f64 {
        (group - self.level().redundant) as f64 / group as f64
    }

    /// Bytes that disks write for a byte of a large sequential write, which covers whole stripes.
    pub fn large_write(self, group: u64) -> f64 {
        1.0 / self.usable(group)
    }

    /// The reads and writes of the busiest disk that is left in a group with a failed one, for a
    /// host read and a host write to that group; `None` without redundancy. Host I/Os hit the
    /// disks of a group evenly.
    ///
    /// Parity: a read of the failed disk reads all others (RAID 6: all but one of them). A write to
    /// the failed disk reads the other data and writes parity; a write whose parity is on the
    /// failed disk goes without it.
    pub fn with_failure(self, group: u64) -> Option<PerHostIo> {
        let n = group as f64;
        let left = n - 1.0;
        Some(match self {
            Self::Stripes => return None,
            Self::Mirrors => {
                PerHostIo { reads_of_read: 1.0 / left, writes_of_write: 1.0, reads_of_write: 0.0 }
            }
            Self::Parity => PerHostIo {
                reads_of_read: (left / n + left / n) / left,
                // A write to a failed disk reads the other n - 2 data disks; with the parity disk
                // failed it reads nothing.
                reads_of_write: ((n - 2.0) / n + 2.0 * (n - 2.0) / n) / left,
                writes_of_write: (1.0 / n + 1.0 / n + 2.0 * (n - 2.0) / n) / left,
            },
            Self::DoubleParity => PerHostIo {
                reads_of_read: (left / n + (n - 2.0) / n) / left,
                reads_of_write: ((n - 3.0) / n + 2.0 * 2.0 / n + 3.0 * (n - 3.0) / n) / left,
                writes_of_write: (2.0 / n + 2.0 * 2.0 / n + 3.0 * (n - 3.0) / n) / left,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Raid;

    /// Counts the I/Os of every case of a group one by one.
    fn counted(raid: Raid, n: u64) -> (f64, f64, f64) {
        let parities = if raid == Raid::Parity { 1 } else { 2 };
        let (mut reads_of_read, mut reads, mut writes) = (0, 0, 0);
        // Disk 0 has failed; the data block is on disk d, its parities on the next ones.
        for d in 0..n {
            let parity: Vec<u64> = (1..=parities).map(|step| (d + step) % n).collect();
            let others = (0..n).filter(|disk| *disk != d && !parity.contains(disk)).count() as u64;
            let parities_left = parity.iter().filter(|disk| **disk != 0).count() as u64;
            if d == 0 {
                // The other data and one parity give the lost block.
                reads_of_read += others + 1;
                reads += others;
                writes += parities_left;
            } else {
                reads_of_read += 1;
                reads += 1 + parities_left - u64::from(parities_left == 0);
                writes += 1 + parities_left;
            }
        }
        let each = |count: u64| count as f64 / n as f64 / (n - 1) as f64;
        (each(reads_of_read), each(reads), each(writes))
    }

    #[test]
    fn a_failed_disk_costs_what_counting_every_case_gives() {
        for (raid, group) in [
            (Raid::Parity, 3),
            (Raid::Parity, 8),
            (Raid::DoubleParity, 4),
            (Raid::DoubleParity, 10),
        ] {
            let io = raid.with_failure(group).expect("redundant");
            let (reads_of_read, reads, writes) = counted(raid, group);
            for (ours, theirs) in [
                (io.reads_of_read, reads_of_read),
                (io.reads_of_write, reads),
                (io.writes_of_write, writes),
            ] {
                assert!((ours - theirs).abs() < 1e-12, "{raid:?} of {group}: {ours} and {theirs}");
            }
        }
    }
}
