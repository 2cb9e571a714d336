//! The processor of each thread.

use crate::primitives::topology::{Processor, Topology};

experiment::choice! {
    /// The placement of threads.
    pub enum Pinning {
        /// Where the scheduler likes.
        None = "none",
        /// All on one processor.
        SameCore = "same-core",
        /// On all hardware threads of a core before the next core.
        SmtSibling = "smt-sibling",
        /// On one hardware thread of each core, socket after socket; then on the second ones.
        OtherCore = "other-core",
        /// On the sockets in turn.
        OtherSocket = "other-socket",
    }
}

/// A placement that the machine does not permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this needs {needed}, not available on this machine")]
pub struct PlacementError {
    /// The part that is missing: `two sockets`.
    pub needed: &'static str,
}

/// The processor of each thread; empty where the scheduler decides. With more threads than
/// processors it begins again with the first.
///
/// # Errors
/// When the machine has no such processors.
pub fn place(
    topology: &Topology,
    pinning: Pinning,
    threads: u32,
) -> Result<Vec<u32>, PlacementError> {
    let whole = topology.whole();
    let lacks = |needed| Err(PlacementError { needed });
    let order = match pinning {
        Pinning::None => return Ok(Vec::new()),
        Pinning::SmtSibling if whole.cores == whole.processors => {
            return lacks("a core with two hardware threads");
        }
        Pinning::OtherCore if whole.cores < 2 => return lacks("two cores"),
        Pinning::OtherSocket if whole.sockets < 2 => return lacks("two sockets"),
        Pinning::SameCore => {
            sorted(topology, |p| (p.socket, p.core, p.cpu)).into_iter().take(1).collect()
        }
        Pinning::SmtSibling => sorted(topology, |p| (p.socket, p.core, p.cpu)),
        Pinning::OtherCore => sorted(topology, |p| (thread_of_core(topology, p), p.socket, p.core)),
        Pinning::OtherSocket => sorted(topology, |p| {
            (thread_of_core(topology, p), core_of_socket(topology, p), p.socket)
        }),
    };
    if order.is_empty() {
        lacks("a CPU")
    } else {
        Ok(order.iter().copied().cycle().take(threads as usize).collect())
    }
}

fn sorted<K: Ord>(topology: &Topology, key: impl Fn(&Processor) -> K) -> Vec<u32> {
    let mut processors = topology.processors.clone();
    processors.sort_by_key(key);
    processors.iter().map(|processor| processor.cpu).collect()
}

/// Returns the hardware thread of its core that a processor is, from 0.
fn thread_of_core(topology: &Topology, processor: &Processor) -> u32 {
    topology
        .processors
        .iter()
        .filter(|other| other.core == processor.core && other.cpu < processor.cpu)
        .count() as u32
}

/// Returns the number of cores of its socket with a lower number than that of a processor.
fn core_of_socket(topology: &Topology, processor: &Processor) -> u32 {
    topology
        .processors
        .iter()
        .filter(|other| thread_of_core(topology, other) == 0)
        .filter(|other| other.socket == processor.socket && other.core < processor.core)
        .count() as u32
}

#[cfg(test)]
mod tests {
    use super::{Pinning, place};
    use crate::primitives::topology::{Processor, Topology};

    /// A machine whose CPUs are numbered as Linux does it on x86.
    fn machine(sockets: u32, cores: u32, threads: u32) -> Topology {
        let all = sockets * cores;
        Topology {
            processors: (0..all * threads)
                .map(|cpu: u32| {
                    let core = cpu % all;
                    Processor { cpu, core, socket: core / cores, node: core / cores }
                })
                .collect(),
        }
    }

    fn placed(topology: &Topology, name: &str, threads: u32) -> Vec<u32> {
        place(topology, Pinning::from_name(name).unwrap(), threads).unwrap()
    }

    #[test]
    fn every_pinning_fills_in_its_own_order() {
        let big = machine(2, 2, 2);
        assert_eq!(placed(&big, "same-core", 3), [0, 0, 0]);
        assert_eq!(placed(&big, "smt-sibling", 8), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(placed(&big, "other-core", 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(placed(&big, "other-socket", 8), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(placed(&big, "other-core", 10)[8..], [0, 1]);
        assert_eq!(placed(&big, "none", 4), [] as [u32; 0]);
    }

    #[test]
    fn two_threads_span_what_the_name_says() {
        let big = machine(2, 4, 2);
        let span = |name| {
            let span = big.span(&placed(&big, name, 2));
            (span.processors, span.cores, span.sockets)
        };
        assert_eq!(span("same-core"), (1, 1, 1));
        assert_eq!(span("smt-sibling"), (2, 1, 1));
        assert_eq!(span("other-core"), (2, 2, 1));
        assert_eq!(span("other-socket"), (2, 2, 2));
    }

    #[test]
    fn what_the_machine_does_not_have_is_refused() {
        let refused = |machine: &Topology, name| {
            place(machine, Pinning::from_name(name).unwrap(), 2).is_err()
        };
        let small = machine(1, 2, 1);
        assert!(refused(&small, "smt-sibling") && refused(&small, "other-socket"));
        assert!(!refused(&small, "other-core") && !refused(&small, "same-core"));
        let machine = machine(1, 1, 1);
        assert!(refused(&machine, "other-core") && refused(&Topology::default(), "same-core"));
    }
}
