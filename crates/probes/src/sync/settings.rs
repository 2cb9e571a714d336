//! The settings of the sync probe.

use experiment::{Declaration, Kind, declarations, settings};
use primitives::{MEMBERS_MAX, Padding, Pinning, Primitive};

settings! {
    /// What guards or replaces the counters: a hash map under one lock (mutex-map, rwlock-map) or under locks over its
    /// parts (concurrent-map), an array with a lock for each member (mutex-array, spin-tas, spin-ttas, spin-ticket,
    /// spin-mcs), an array without locks (racy: updates get lost; atomic; cas), one counter for all (atomic-shared), a
    /// copy for each processor or thread (per-core, per-thread).
    pub PRIMITIVE: Primitive = "workload.primitive", Primitive::KIND, "atomic-shared";
    /// Threads that add to the counters.
    pub THREADS: u32 = "workload.threads", Kind::Count { min: 1, max: 4096 }, "1";
    /// Number of counters; each operation takes one at random.
    pub MEMBERS: u32 = "workload.members", Kind::Count { min: 1, max: MEMBERS_MAX as i64 }, "8";
    /// How far apart the members of an array lie: one after the other, each in a cache line (64 bytes), each in two.
    pub PADDING: Padding = "workload.padding", Padding::KIND, "none";
    /// Where threads run: where the scheduler likes; all on one processor; on all hardware threads of a core before the
    /// next core; on one hardware thread of each core, socket after socket; on the sockets in turn.
    pub PINNING: Pinning = "workload.pinning", Pinning::KIND, "none";
    /// Share of operations that read instead of adding.
    pub READS: f64 = "workload.reads", Kind::Share, "0%";
    /// Length of the measurement.
    pub DURATION: f64 = "workload.duration", Kind::PositiveDuration, "1 s";
    /// The load runs for this long before the measurement.
    pub WARMUP: f64 = "workload.warmup", Kind::Duration, "200 ms";
}

pub(super) const SETTINGS: &[Declaration] =
    declarations![PRIMITIVE, THREADS, MEMBERS, PADDING, PINNING, READS, DURATION, WARMUP];
