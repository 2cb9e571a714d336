//! Primitive that guards or replaces a shared counter.

experiment::choice! {
    /// A way to let several threads add to the same counters.
    pub enum Primitive {
        /// A hash map under one mutex.
        MutexMap = "mutex-map",
        /// A hash map under one lock that readers share.
        RwLockMap = "rwlock-map",
        /// A concurrent hash map: locks over parts of it (`dashmap`).
        ConcurrentMap = "concurrent-map",
        /// An array with a mutex a member.
        MutexArray = "mutex-array",
        /// An array with a spin lock a member: test-and-set.
        SpinTas = "spin-tas",
        /// Test-and-test-and-set with backoff.
        SpinTtas = "spin-ttas",
        /// Ticket lock.
        SpinTicket = "spin-ticket",
        /// Queue lock of Mellor-Crummey and Scott.
        SpinMcs = "spin-mcs",
        /// Reads and writes without any order: updates get lost.
        Racy = "racy",
        /// All add to one counter atomically, whatever member is meant.
        AtomicShared = "atomic-shared",
        /// An array of counters that are added to atomically.
        Atomic = "atomic",
        /// Increment by a compare-and-swap loop.
        Cas = "cas",
        /// A copy of the array for each processor, summed by who reads.
        PerCore = "per-core",
        /// A copy of the array for each thread, summed by who reads.
        PerThread = "per-thread",
    }
}

/// How a thread waits that does not get what it wants at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// It does not.
    Never,
    /// It keeps trying, on its CPU.
    Spins,
    /// After a short while it sleeps until it is woken: a wait with this name.
    Sleeps(&'static str),
}

impl Primitive {
    /// Returns whether its members can be padded: those of maps cannot, and copies always are.
    pub fn pads(self) -> bool {
        use Primitive::{Atomic, Cas, MutexArray, Racy};
        self.waiting() == Waiting::Spins || matches!(self, MutexArray | Racy | Atomic | Cas)
    }

    /// Returns whether updates may be lost.
    pub fn loses(self) -> bool {
        self == Self::Racy
    }

    /// How threads wait.
    pub fn waiting(self) -> Waiting {
        match self {
            Self::MutexMap | Self::MutexArray => Waiting::Sleeps("MUTEX"),
            Self::RwLockMap => Waiting::Sleeps("RWLOCK"),
            Self::ConcurrentMap => Waiting::Sleeps("MAP_PART"),
            Self::SpinTas | Self::SpinTtas | Self::SpinTicket | Self::SpinMcs => Waiting::Spins,
            Self::Racy
            | Self::AtomicShared
            | Self::Atomic
            | Self::Cas
            | Self::PerCore
            | Self::PerThread => Waiting::Never,
        }
    }
}
