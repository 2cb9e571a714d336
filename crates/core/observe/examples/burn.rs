//! Burns processor time in ways that are known, for the tests: `burn KIND MILLISECONDS`, where KIND
//! is `three_to_one` (two functions), `late` (a thread that starts when a quarter is over),
//! `kernel` (system calls) or `wait`. Milliseconds are of processor time for each thread, but those
//! of `wait`.
#![allow(clippy::print_stdout, reason = "it tells a test that it is ready")]

// Loops without calls, so that also without optimization the time is in the functions themselves.

use observe::ThreadClock;
use std::hint::black_box;
use std::io::Read;
use std::time::Duration;

#[inline(never)]
fn burn_three(rounds: u64) -> u64 {
    let (mut value, mut round): (u64, u64) = (1, 0);
    while round < 3 * rounds {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
        round += 1;
    }
    value
}

#[inline(never)]
fn burn_one(rounds: u64) -> u64 {
    let (mut value, mut round): (u64, u64) = (2, 0);
    while round < rounds {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
        round += 1;
    }
    value
}

#[inline(never)]
fn burn_late(rounds: u64) -> u64 {
    let (mut value, mut round): (u64, u64) = (3, 0);
    while round < rounds {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
        round += 1;
    }
    value
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_default();
    let time =
        Duration::from_millis(arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1000));
    println!("ready");
    match kind.as_str() {
        "late" => {
            spend(time / 4, || burn_one(20_000));
            let late = std::thread::spawn(move || spend(time, || burn_late(20_000)));
            spend(time * 3 / 4, || burn_one(20_000));
            late.join().unwrap_or_default();
        }
        "kernel" => {
            let Ok(mut zero) = std::fs::File::open("/dev/zero") else { return };
            let mut buffer = vec![0; 1 << 20];
            spend(time, || zero.read(&mut buffer).is_ok());
        }
        "wait" => std::thread::sleep(time),
        _ => spend(time, || burn_three(20_000) ^ burn_one(20_000)),
    }
}

/// Works until this thread has been on a processor for `time` longer.
fn spend<T>(time: Duration, mut work: impl FnMut() -> T) {
    let clock = ThreadClock::of_this_thread();
    let end = clock.read().cpu_ns + time.as_nanos() as u64;
    while clock.read().cpu_ns < end {
        black_box(work());
    }
}
