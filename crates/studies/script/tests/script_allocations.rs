//! Scripts compute inside the measurement, so they must not allocate memory.

#![allow(clippy::unwrap_used, reason = "a test")]

use script::{Interpreter, Mix, Presets, Protocol, Source, Step, Sysbench};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of 1,000 transactions, after a first one.
fn allocations(sources: &[Source], protocol: Protocol) -> (u64, u64) {
    let presets = Presets { scale: 10, seed: 1, variables: Vec::new() };
    let mut interpreter =
        Interpreter::new(Arc::new(Mix::parse(sources, protocol, &presets).unwrap()), 0);
    let mut requests = 0;
    let mut before = 0;
    for transaction in 0..1_100 {
        if transaction == 100 {
            before = ALLOCATIONS.get();
        }
        interpreter.begin();
        while let Step::Request(_) = interpreter.advance().unwrap() {
            requests += 1;
        }
    }
    (ALLOCATIONS.get() - before, requests)
}

#[test]
fn transactions_take_no_memory() {
    let sources = ["tpcb-like", "simple-update@2", "select-only@3"]
        .map(|name| Source::builtin(name, Sysbench::default()).unwrap());
    for protocol in [Protocol::Prepared, Protocol::Simple] {
        let (allocations, requests) = allocations(&sources, protocol);
        assert!(requests > 3_000, "{requests}");
        assert_eq!(allocations, 0, "{protocol:?}");
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}
