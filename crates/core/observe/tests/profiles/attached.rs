//! Processes that were there before.

use crate::support::*;
use observe::profiler::{ProfileError, Profiler};
use std::process::{Child, Command};
use std::time::Duration;

/// Profiles until the first thread of `busy` has been on a processor for `time`.
fn watched(child: &Child, busy: i32, time: Duration) -> Option<observations::Profile> {
    let profiler = permitted(Profiler::attach(&[child.id() as i32], 250))?;
    let profiler = profiler.start().unwrap();
    wait_for_cpu(busy, time);
    Some(sound(profiler.stop().unwrap().named()))
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_process_that_runs_already_has_names_and_threads_that_start_later() {
    // Its second thread starts after 1 s, and the first one works for 4 s.
    let child = started("late", 4000);
    let profile = watched(&child, child.id() as i32, Duration::from_millis(2500));
    end(child);
    let Some(profile) = profile else { return };
    assert_eq!(profile.threads, 2);
    assert!(samples(&profile, "burn::burn_late") > 50, "{profile:#?}");
    assert!(profile.target.contains("burn"), "{}", profile.target);
}

#[test]
fn a_process_below_the_one_that_is_named_is_in_it() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$1\" three_to_one 20000 >/dev/null; true", "sh"]).arg(burn());
    let mut child = shell.spawn().unwrap();
    let pid = child.id();
    let below =
        || std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    while below().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let burner: i32 = below().trim().parse().unwrap();
    while std::fs::read_to_string(format!("/proc/{burner}/comm")).unwrap() != "burn\n" {
        std::thread::sleep(Duration::from_millis(5));
    }
    let profile = watched(&child, burner, Duration::from_millis(600));
    // SAFETY: it is the child of our child, which waits for it.
    unsafe { libc::kill(burner, libc::SIGKILL) };
    child.wait().unwrap();
    let Some(profile) = profile else { return };
    assert!(samples(&profile, "burn::burn_three") > 50, "{profile:#?}");
}

#[test]
fn our_own_threads_are_sampled_and_the_collector_is_not() {
    let Some(profiler) = permitted(Profiler::attach(&[std::process::id() as i32], 250)) else {
        return;
    };
    let profiler = profiler.start().unwrap();
    let clock = observe::ThreadClock::of_this_thread();
    let end = clock.read().cpu_ns + 600_000_000;
    let mut value: u64 = 1;
    while clock.read().cpu_ns < end {
        // Not a `for`: without optimisation its calls would get samples whose caller is not known.
        let mut left = 10_000_u32;
        while left > 0 {
            value ^= value << 13;
            value ^= value >> 7;
            left -= 1;
        }
    }
    assert_ne!(value, 0);
    let profile = sound(profiler.stop().unwrap().named());
    let here = total(&profile, "our_own_threads_are_sampled_and_the_collector_is_not");
    assert!(here > 50, "{profile:#?}");
    assert_eq!(total(&profile, "collector::collect"), 0);
}

#[test]
fn a_process_that_ends_meanwhile_keeps_its_names() {
    let mut child = started("three_to_one", 1500);
    let Some(profiler) = permitted(Profiler::attach(&[child.id() as i32], 250)) else {
        return end(child);
    };
    let profiler = profiler.start().unwrap();
    assert!(profiler.is_target_alive());
    child.wait().unwrap();
    assert!(!profiler.is_target_alive());
    let profile = sound(profiler.stop().unwrap().named());
    assert!(samples(&profile, "burn::burn_three") > 50, "{profile:#?}");
}

#[test]
fn a_process_that_has_ended_is_not_there() {
    let mut child = started("wait", 0);
    child.wait().unwrap();
    let pid = child.id() as i32;
    match Profiler::attach(&[pid], 99) {
        Err(ProfileError::NoProcess(gone)) => assert_eq!(gone, pid),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was attached"),
    }
}

#[test]
fn nothing_is_sampled_before_the_start() {
    let mut child = started("three_to_one", 5000);
    let Some(profiler) = permitted(Profiler::attach(&[child.id() as i32], 250)) else {
        return end(child);
    };
    std::thread::sleep(Duration::from_millis(700));
    let profiler = profiler.start().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let profile = sound(profiler.stop().unwrap().named());
    child.kill().unwrap();
    child.wait().unwrap();
    // One thread cannot have more processor time than there was.
    assert!(profile.seconds(profile.samples()) <= profile.elapsed_s + 0.05, "{profile:#?}");
}
