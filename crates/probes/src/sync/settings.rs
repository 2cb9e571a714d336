//! The settings of the sync probe.

use experiment::{Declaration, Kind};
use primitives::{MEMBERS_MAX, Padding, Pinning, Primitive};

pub const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "workload.primitive",
        Kind::Choice(Primitive::NAMES),
        Some("atomic-shared"),
        "What guards or replaces the counters: a hash map under one lock (mutex-map, rwlock-map) or under locks over its parts (concurrent-map), an array with a lock a member (mutex-array, spin-tas, spin-ttas, spin-ticket, spin-mcs), an array without locks (racy: updates get lost; atomic; cas), one counter for all (atomic-shared), a copy for each processor or thread (per-core, per-thread).",
    ),
    Declaration::new(
        "workload.threads",
        Kind::Count { min: 1, max: 4096 },
        Some("1"),
        "Threads that add to the counters.",
    ),
    Declaration::new(
        "workload.members",
        Kind::Count { min: 1, max: MEMBERS_MAX as i64 },
        Some("8"),
        "Number of counters; each operation takes one at random.",
    ),
    Declaration::new(
        "workload.padding",
        Kind::Choice(Padding::NAMES),
        Some("none"),
        "How far apart the members of an array lie: one after the other, each in a cache line (64 bytes), each in two.",
    ),
    Declaration::new(
        "workload.pinning",
        Kind::Choice(Pinning::NAMES),
        Some("none"),
        "Where threads run: where the scheduler likes; all on one processor; on all hardware threads of a core before the next core; on one hardware thread of each core, socket after socket; on the sockets in turn.",
    ),
    Declaration::new(
        "workload.reads",
        Kind::Share,
        Some("0%"),
        "Share of operations that read instead of adding.",
    ),
    Declaration::new(
        "workload.duration",
        Kind::PositiveDuration,
        Some("1 s"),
        "Length of the measured part.",
    ),
    Declaration::new(
        "workload.warmup",
        Kind::Duration,
        Some("200 ms"),
        "The load runs for this long before it is measured.",
    ),
];
