//! Counting stacks while samples come in.

use super::records::{Timed, What};
use super::spaces::{ModuleId, Modules, Spaces};
use std::collections::{HashMap, HashSet};

/// Marks in a chain, `PERF_CONTEXT_*` of `linux/perf_event.h`: above this, an entry says whose
/// addresses follow.
const CONTEXT_MAX: u64 = -4095_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;
const CONTEXT_USER: u64 = -512_i64 as u64;

/// The place of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// Address in the kernel.
    Kernel(u64),
    /// Position in a file.
    File(ModuleId, u64),
    /// Nothing is known at this address.
    Nowhere,
}

/// Everything counted so far.
#[derive(Default)]
pub(crate) struct Stacks {
    pub spaces: Spaces,
    pub modules: Modules,
    /// Places from the function that ran to its outermost caller, with samples.
    pub counts: HashMap<Box<[Place]>, u64>,
    pub threads: HashSet<i32>,
    pub lost: u64,
    /// Thread that an event was opened for.
    owners: HashMap<u64, i32>,
    /// Threads that events were opened for and that have not ended.
    opened: HashSet<i32>,
}

impl Stacks {
    pub fn new(owners: HashMap<u64, i32>) -> Self {
        let opened = owners.values().copied().collect();
        Self { owners, opened, ..Self::default() }
    }

    /// Takes a record; they must come in the order of their times.
    pub fn take(&mut self, record: Timed) {
        match record.what {
            What::Sample { pid, tid, event, chain } => {
                if self.is_twice(tid, event) {
                    return;
                }
                self.threads.insert(tid);
                let stack = places(&chain, |address| self.spaces.find(pid, address));
                *self.counts.entry(stack.into()).or_insert(0) += 1;
            }
            What::Map { pid, file } => self.spaces.map(pid, file, &mut self.modules),
            What::Fork { pid, parent } => self.spaces.fork(pid, parent),
            What::Exec { pid } => self.spaces.clear(pid),
            What::Exit { tid } => {
                self.opened.remove(&tid);
            }
            What::Lost(records) => self.lost += records,
        }
    }

    /// A thread that was started while events were opened can have one of its own and inherit
    /// another: only its own counts.
    fn is_twice(&self, tid: i32, event: u64) -> bool {
        self.opened.contains(&tid) && self.owners.get(&event).is_some_and(|owner| *owner != tid)
    }
}

/// The places of a chain, which begins at the function that ran.
fn places(chain: &[u64], find: impl Fn(u64) -> Option<(ModuleId, u64)>) -> Vec<Place> {
    let mut places = Vec::with_capacity(chain.len());
    let (mut context, mut is_first) = (CONTEXT_USER, true);
    for &entry in chain {
        if entry >= CONTEXT_MAX {
            (context, is_first) = (entry, true);
            continue;
        }
        // A caller's address is its return address: the call is before it, and can be the last
        // instruction of its function.
        let address = if is_first { entry } else { entry.saturating_sub(1) };
        is_first = false;
        let place = match context {
            CONTEXT_KERNEL => Place::Kernel(address),
            CONTEXT_USER => {
                find(address).map_or(Place::Nowhere, |(module, offset)| Place::File(module, offset))
            }
            // Of a virtual machine's guest, or a hypervisor, which cannot be named.
            _ => Place::Nowhere,
        };
        // Everything beyond a broken frame pointer counts as one unknown place.
        if place != Place::Nowhere || places.last() != Some(&Place::Nowhere) {
            places.push(place);
        }
    }
    if places.is_empty() {
        places.push(Place::Nowhere);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_named_by_the_call_and_each_mode_has_its_own_first_frame() {
        let chain = [CONTEXT_KERNEL, 900, 800, CONTEXT_USER, 100, 50, 7, 8];
        let find = |address| (address >= 49).then_some((3, address));
        let stack = places(&chain, find);
        let kernel = [Place::Kernel(900), Place::Kernel(799)];
        assert_eq!(stack[..2], kernel);
        assert_eq!(stack[2..], [Place::File(3, 100), Place::File(3, 49), Place::Nowhere]);
        assert_eq!(places(&[], find), [Place::Nowhere]);
    }

    #[test]
    fn a_thread_with_two_events_is_counted_by_its_own() {
        let mut stacks = Stacks::new([(71, 7), (81, 8)].into());
        let mut sample = |tid, event| {
            stacks.take(Timed {
                time: 0,
                what: What::Sample { pid: 7, tid, event, chain: Vec::new() },
            });
            stacks.counts.values().sum::<u64>()
        };
        assert_eq!(sample(7, 71), 1);
        assert_eq!(sample(8, 71), 1, "inherited from 7, but 8 has its own");
        assert_eq!(sample(8, 81), 2);
        assert_eq!(sample(9, 81), 3, "inherited from 8");
        stacks.take(Timed { time: 0, what: What::Exit { tid: 8 } });
        stacks.take(Timed {
            time: 0,
            what: What::Sample { pid: 7, tid: 8, event: 71, chain: Vec::new() },
        });
        assert_eq!(
            stacks.counts.values().sum::<u64>(),
            4,
            "another thread with the number of one that ended"
        );
    }
}
