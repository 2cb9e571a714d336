use disk_io::Access;

/// What is read or written, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    pub access: Access,
    pub direction: Direction,
}

/// Reads, writes or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
    Mixed,
}

impl Pattern {
    /// Names in the experiment file.
    pub const NAMES: &'static [&'static str] = &[
        "random-read",
        "random-write",
        "random-mixed",
        "sequential-read",
        "sequential-write",
        "sequential-mixed",
    ];

    /// The pattern with this name; `random-read` for any other.
    pub fn from_name(name: &str) -> Self {
        let (access, direction) = name.split_once('-').unwrap_or(("random", "read"));
        Self {
            access: if access == "sequential" { Access::Sequential } else { Access::Random },
            direction: match direction {
                "write" => Direction::Write,
                "mixed" => Direction::Mixed,
                _ => Direction::Read,
            },
        }
    }

    /// Reads in percent, where mixed ones have this share of them.
    pub fn read_percent(self, reads: f64) -> u8 {
        match self.direction {
            Direction::Read => 100,
            Direction::Write => 0,
            Direction::Mixed => (reads * 100.0).round().clamp(0.0, 100.0) as u8,
        }
    }
}
