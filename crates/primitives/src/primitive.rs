//! What guards or replaces a shared counter.

/// A way to let several threads add to the same counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Primitive {
    /// A hash map under one mutex.
    MutexMap,
    /// A hash map under one lock that readers share.
    RwLockMap,
    /// A concurrent hash map: locks over parts of it (`dashmap`).
    ConcurrentMap,
    /// An array with a mutex a member.
    MutexArray,
    /// An array with a spin lock a member: test-and-set.
    SpinTas,
    /// Test-and-test-and-set with backoff.
    SpinTtas,
    /// Ticket lock.
    SpinTicket,
    /// Queue lock of Mellor-Crummey and Scott.
    SpinMcs,
    /// Reads and writes without any order: updates get lost.
    Racy,
    /// All add to one counter atomically, whatever member is meant.
    AtomicShared,
    /// An array of counters that are added to atomically.
    Atomic,
    /// The same by a loop of compare-and-swap.
    Cas,
    /// A copy of the array for each processor, summed by who reads.
    PerCore,
    /// A copy of the array for each thread, summed by who reads.
    PerThread,
}

/// How a thread waits that does not get what it wants at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// It does not.
    Never,
    /// It goes on trying, on its processor.
    Spins,
    /// After a short while it sleeps until it is woken: a wait with this name.
    Sleeps(&'static str),
}

impl Primitive {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::MutexMap,
        Self::RwLockMap,
        Self::ConcurrentMap,
        Self::MutexArray,
        Self::SpinTas,
        Self::SpinTtas,
        Self::SpinTicket,
        Self::SpinMcs,
        Self::Racy,
        Self::AtomicShared,
        Self::Atomic,
        Self::Cas,
        Self::PerCore,
        Self::PerThread,
    ];

    /// Names in the experiment file, in the same order.
    pub const NAMES: &'static [&'static str] = &[
        "mutex-map",
        "rwlock-map",
        "concurrent-map",
        "mutex-array",
        "spin-tas",
        "spin-ttas",
        "spin-ticket",
        "spin-mcs",
        "racy",
        "atomic-shared",
        "atomic",
        "cas",
        "per-core",
        "per-thread",
    ];

    /// The primitive with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|primitive| primitive.name() == name)
    }

    /// Its name in the experiment file.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether its members can be kept apart: those of maps cannot, and copies always are.
    pub fn pads(self) -> bool {
        matches!(
            self,
            Self::MutexArray
                | Self::SpinTas
                | Self::SpinTtas
                | Self::SpinTicket
                | Self::SpinMcs
                | Self::Racy
                | Self::Atomic
                | Self::Cas
        )
    }

    /// Whether updates may get lost.
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
            Self::Racy | Self::AtomicShared | Self::Atomic | Self::Cas | Self::PerCore | Self::PerThread => {
                Waiting::Never
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Primitive;

    #[test]
    fn names_are_in_the_order_of_the_primitives() {
        for (primitive, name) in Primitive::ALL.into_iter().zip(Primitive::NAMES) {
            assert_eq!((primitive.name(), Primitive::from_name(name)), (*name, Some(primitive)));
        }
        assert_eq!((Primitive::SpinMcs.name(), Primitive::from_name("mutex")), ("spin-mcs", None));
    }
}
