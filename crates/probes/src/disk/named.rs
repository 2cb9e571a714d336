//! Named patterns: what parts of a database do to storage.

/// A named pattern.
pub struct Named {
    pub name: &'static str,
    /// Its settings, as a stream text would give them.
    pub settings: &'static [(&'static str, &'static str)],
}

/// The patterns, with their sources. What they leave out (threads, queue depth, rate) is the user's.
pub const PATTERNS: [Named; 6] = [
    // Pages of 8 KiB are those of SQL Server (Microsoft Learn, "Pages and extents architecture guide") and
    // PostgreSQL (manual, 73.6 "Database Page Layout"); 70 % reads is the convention by which storage for
    // OLTP is sized, not a law: take your own share from the devices of a database trial.
    Named {
        name: "oltp-data",
        settings: &[("pattern", "random-mixed"), ("reads", "70%"), ("block_size", "8KiB"), ("on", "data")],
    },
    // A log writer has one write of one sector to 60 KB under way, the largest log block of SQL Server
    // (study S1a), and goes on when it is durable.
    Named {
        name: "log",
        settings: &[
            ("pattern", "sequential-write"),
            ("block_size", "512"),
            ("block_size_max", "60KiB"),
            ("sync", "dsync"),
            ("threads", "1"),
            ("queue_depth", "1"),
            ("on", "log"),
        ],
    },
    // A checkpoint writes changed pages all over the data and syncs them at its end (PostgreSQL manual,
    // 28.5 "WAL Configuration"); scaled down from minutes to seconds: 16 MiB every 2 s.
    Named {
        name: "checkpoint",
        settings: &[
            ("pattern", "random-write"),
            ("block_size", "8KiB"),
            ("burst", "2048"),
            ("burst_every", "2s"),
            ("sync", "fdatasync"),
            ("threads", "1"),
            ("queue_depth", "32"),
            ("on", "data"),
        ],
    },
    // Read-ahead reads up to 64 pages of 8 KiB at once (Microsoft Learn, "Reading pages").
    Named {
        name: "scan",
        settings: &[("pattern", "sequential-read"), ("block_size", "512KiB"), ("on", "data")],
    },
    // A backup moves pieces of 1 MiB, the usual MAXTRANSFERSIZE of SQL Server (Microsoft Learn, "BACKUP").
    Named {
        name: "backup-read",
        settings: &[("pattern", "sequential-read"), ("block_size", "1MiB"), ("on", "data")],
    },
    Named {
        name: "backup-write",
        settings: &[("pattern", "sequential-write"), ("block_size", "1MiB"), ("on", "backup")],
    },
];

/// Mixes: streams that run together.
pub const MIXES: [(&str, &[&str]); 6] = [
    ("oltp-data", &["oltp-data"]),
    ("log", &["log"]),
    ("checkpoint", &["checkpoint"]),
    ("scan", &["scan"]),
    ("backup", &["backup-read", "backup-write"]),
    ("oltp", &["oltp-data", "log", "checkpoint"]),
];

/// Names of the mixes in the experiment file.
pub const MIX_NAMES: &[&str] = &["oltp-data", "log", "checkpoint", "scan", "backup", "oltp"];

#[cfg(test)]
mod tests {
    use super::super::settings::of_stream;
    use super::{MIX_NAMES, MIXES, PATTERNS};

    #[test]
    fn patterns_are_made_of_settings_and_mixes_of_patterns() {
        for named in &PATTERNS {
            for (key, value) in named.settings {
                let setting = of_stream(key).unwrap_or_else(|| panic!("{}: {key}", named.name));
                setting.read(value).unwrap_or_else(|error| panic!("{}: {key}: {error}", named.name));
            }
        }
        for (_, streams) in &MIXES {
            assert!(streams.iter().all(|stream| PATTERNS.iter().any(|named| named.name == *stream)));
        }
        assert!(MIXES.iter().map(|(name, _)| name).eq(MIX_NAMES));
    }
}
