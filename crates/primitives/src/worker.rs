//! The measured loop.

use crate::plan::{BATCH, Plan, Step};
use crate::samples::Samples;
use crate::tables::Table;
use conductor::Counters;
use std::hint::black_box;

/// Something on lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

/// Goes through the plan until it is told to stop; returns the number of operations done.
///
/// It touches the table, its own plan, its own count (which the reporter reads) and a flag that nobody writes
/// meanwhile.
pub fn work<T: Table>(
    table: &T,
    thread: usize,
    plan: &Plan,
    samples: &mut Samples,
    count: &Counters<1>,
    stop: impl Fn() -> bool,
) -> u64 {
    let [before] = count.get();
    let mut done = 0;
    loop {
        for (number, batch) in plan.batches().enumerate() {
            let mut plain = &batch[..];
            if number == 0 {
                samples.take(|acquired| apply(table, thread, batch[0].into(), acquired));
                plain = &batch[1..];
            }
            for step in plain {
                apply(table, thread, (*step).into(), || ());
            }
            done += BATCH as u64;
            count.set([before + done]);
            if stop() {
                return done;
            }
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "a call in the measured loop would be measured")]
fn apply<T: Table>(table: &T, thread: usize, step: Step, acquired: impl FnOnce()) {
    if step.reads() {
        black_box(table.read(thread, step.member(), acquired));
    } else {
        table.add(thread, step.member(), acquired);
    }
}
