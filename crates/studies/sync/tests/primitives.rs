//! Every primitive under real threads. That sums are right is checked by `run` itself: a wrong one
//! is an error.

use std::time::Duration;
use sync::primitives::{
    Load, Outcome, Padding, Pinning, Primitive, SyncError, Topology, Waiting, place, run,
};
use work::conductor::{Director, LOOK_EVERY, LoadError, LoadProgress};

fn load(primitive: Primitive, threads: u32) -> Load {
    Load {
        primitive,
        threads,
        members: 4,
        padding: Padding::None,
        reads: 0.0,
        cpus: Vec::new(),
        warmup: Duration::from_millis(5),
        duration: Duration::from_millis(25),
        interval: Duration::from_millis(10),
        seed: 1,
    }
}

fn done(load: &Load) -> Result<Outcome, SyncError> {
    run(load, &mut ())
}

fn paddings(primitive: Primitive) -> Vec<Padding> {
    if primitive.pads() {
        vec![Padding::None, Padding::Line, Padding::TwoLines]
    } else {
        vec![Padding::None]
    }
}

#[test]
fn every_primitive_keeps_every_update_but_the_racy_one() {
    for &primitive in Primitive::ALL {
        for padding in paddings(primitive) {
            for threads in [1, 4] {
                let name = primitive.name();
                let outcome =
                    done(&Load { padding, ..load(primitive, threads) }).unwrap_or_else(|error| {
                        panic!("{name}, {padding:?}, {threads} threads: {error}")
                    });
                assert_eq!(outcome.threads.len(), threads as usize);
                assert!(
                    outcome.added >= outcome.operations() && outcome.operations() > 0,
                    "{name}"
                );
                if !primitive.loses() || threads == 1 {
                    assert_eq!(outcome.sum, outcome.added, "{name}");
                }
                let counted: u64 = outcome.by_interval.iter().sum();
                assert!(counted <= outcome.operations(), "{name}");
            }
        }
    }
}

#[test]
fn reads_add_nothing() {
    for &primitive in Primitive::ALL {
        let outcome = done(&Load { reads: 1.0, ..load(primitive, 2) }).unwrap();
        assert_eq!((outcome.added, outcome.sum), (0, 0), "{}", primitive.name());
        assert!(outcome.operations() > 0);
    }
}

#[test]
fn updates_without_a_guard_get_lost() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        println!("SKIPPED: one processor only");
        return;
    }
    // Two threads on two processors and one counter: one of very many updates falls into the
    // other's.
    let load =
        Load { members: 1, duration: Duration::from_millis(300), ..load(Primitive::Racy, 2) };
    let lost = (0..5).any(|_| done(&load).unwrap().lost_share() > 0.0);
    assert!(lost, "no update got lost, as if something guarded them");
}

#[test]
fn locks_are_sampled_and_the_rest_has_no_acquisition() {
    for &primitive in Primitive::ALL {
        let outcome = done(&load(primitive, 2)).unwrap();
        let samples = |pick: fn(&sync::primitives::ThreadOutcome) -> u64| {
            outcome.threads.iter().map(pick).sum::<u64>()
        };
        let operations = samples(|thread| thread.operation.len());
        assert!(operations >= 2, "{}", primitive.name());
        let locks = primitive.waiting() != Waiting::Never;
        let acquired = samples(|thread| thread.acquire.len());
        assert_eq!(acquired, if locks { operations } else { 0 }, "{}", primitive.name());
    }
}

#[test]
fn lines_that_threads_share() {
    let lines =
        |primitive, padding| done(&Load { padding, ..load(primitive, 1) }).unwrap().shared_lines;
    assert_eq!(lines(Primitive::Atomic, Padding::None), Some(1));
    assert_eq!(lines(Primitive::Atomic, Padding::Line), Some(4));
    assert_eq!(lines(Primitive::AtomicShared, Padding::None), Some(1));
    assert_eq!(lines(Primitive::PerThread, Padding::None), Some(0));
    assert_eq!(lines(Primitive::MutexMap, Padding::None), None);
}

/// Stops at this look.
struct StopsAt(u32);

impl Director for StopsAt {
    fn go(&mut self) -> bool {
        true
    }

    fn look(&mut self, _: &LoadProgress) -> Option<Duration> {
        self.0 = self.0.checked_sub(1)?;
        Some(LOOK_EVERY)
    }
}

#[test]
fn it_stops_when_it_is_asked_to() {
    for looks in [0, 2, 5] {
        let long = Load { duration: Duration::from_hours(1), ..load(Primitive::Atomic, 2) };
        let result = run(&long, &mut StopsAt(looks));
        assert!(matches!(result, Err(SyncError::Load(LoadError::Stopped))));
    }
}

#[test]
fn a_processor_that_is_not_there_is_an_error_and_nothing_hangs() {
    let result = done(&Load { cpus: vec![0, 1023], ..load(Primitive::MutexMap, 2) });
    assert!(matches!(result, Err(SyncError::Pin { cpu: 1023, .. })), "{result:?}");
}

#[test]
fn threads_that_share_a_processor_still_get_on() {
    let topology = Topology::of_this_machine();
    for primitive in [Primitive::SpinTicket, Primitive::SpinMcs, Primitive::MutexMap] {
        let cpus = place(&topology, Pinning::SameCore, 3).unwrap();
        let outcome = done(&Load { cpus, members: 1, ..load(primitive, 3) }).unwrap();
        assert!(outcome.threads.iter().all(|thread| thread.operations > 0), "{}", primitive.name());
    }
}
