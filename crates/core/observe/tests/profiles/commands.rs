//! Commands from their first instruction to their end.

use crate::support::*;
use observations::UNKNOWN;
use observe::profiler::{ProfileError, Profiler};
use std::process::Command;

#[test]
fn two_functions_share_the_time_three_to_one() {
    let Some(profile) = profile_of(command(&burn(), "three_to_one", 3000), 250) else { return };
    let (three, burn_one) =
        (samples(&profile, "burn::burn_three"), samples(&profile, "burn::burn_one"));
    assert_share(three, three + burn_one, 0.75);
    // On a busy machine a part of the time is the kernel's.
    assert!(three + burn_one > profile.samples() * 3 / 4, "{profile:#?}");
    // One thread that never waits cannot have more processor time than time.
    assert!(profile.seconds(profile.samples()) <= profile.elapsed_s * 1.02, "{profile:#?}");
    assert_eq!((profile.threads, profile.lost, profile.hz.to_bits()), (1, 0, 250.0_f64.to_bits()));
    assert!(
        profile.modules.iter().any(|module| module.ends_with("/examples/burn")),
        "{:?}",
        profile.modules
    );
}

#[test]
fn a_thread_that_starts_later_is_in_it() {
    let Some(profile) = profile_of(command(&burn(), "late", 800), 250) else { return };
    assert_eq!(profile.threads, 2);
    let (late, first) = (samples(&profile, "burn::burn_late"), samples(&profile, "burn::burn_one"));
    assert!(late > 50 && first > 50, "{late} and {first} samples");
}

#[test]
fn a_program_that_a_shell_starts_is_in_it_and_so_is_what_it_waits_for_not() {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "\"$1\" three_to_one 600 >/dev/null & \"$1\" wait 800 >/dev/null; wait", "sh"])
        .arg(burn());
    let Some(profile) = profile_of(shell, 250) else { return };
    let busy = samples(&profile, "burn::burn_three") + samples(&profile, "burn::burn_one");
    assert!(busy > 50, "{profile:#?}");
    // 800 ms of waiting would be 200 samples.
    assert!(profile.samples() - busy < 100, "{profile:#?}");
}

#[test]
fn time_in_the_kernel_is_told_apart() {
    let Some(profile) = profile_of(command(&burn(), "kernel", 1000), 250) else { return };
    if profile.missing.iter().any(|sentence| sentence.contains("kernel.perf_event_paranoid")) {
        assert_eq!(kernel(&profile), 0);
        return skipped("the kernel may not be sampled");
    }
    assert!(kernel(&profile) > profile.samples() * 8 / 10, "{profile:#?}");
    let Some(user) = profile_of(command(&burn(), "three_to_one", 1000), 250) else { return };
    assert!(kernel(&user) < user.samples() / 5, "{user:#?}");
}

#[test]
fn callers_are_known_where_there_are_frame_pointers() {
    let folder = tempfile::tempdir().unwrap();
    // Volatile, so that the loop stays; the result is used after the call, so that the call is not
    // a jump. It ends by processor time, so that it yields 150 samples on any machine.
    let source = "#include <time.h>
        volatile unsigned long sink;
        __attribute__((noinline)) int leaf(long n) { while (n--) sink += n; return 1; }
        __attribute__((noinline)) int middle(long n) { int r = leaf(n); sink++; return r + 1; }
        int main(void) { int r = 0;
            while (clock() < 6 * CLOCKS_PER_SEC / 10) r += middle(1000000);
            return r == 7; }";
    let Some(program) = compiled(folder.path(), source, &["-fno-omit-frame-pointer"]) else {
        return;
    };
    let Some(profile) = profile_of(Command::new(&program), 250) else { return };
    let (leaf, middle) = (samples(&profile, "leaf"), samples(&profile, "middle"));
    assert!(leaf > 50 && middle <= leaf / 20, "{profile:#?}");
    // But for a sample in the first instructions of a function, before its frame is made.
    assert!(total(&profile, "middle") * 20 >= leaf * 19, "{profile:#?}");
    assert!(total(&profile, "main") * 20 >= leaf * 19, "{profile:#?}");
    let deepest = &profile.stacks[0];
    let names: Vec<&str> =
        profile.frames_of(deepest).map(|frame| frame.function.as_str()).collect();
    assert_eq!(names[names.len() - 3..], ["main", "middle", "leaf"], "{names:?}");
}

#[test]
fn a_stripped_program_has_no_names_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <time.h>
        volatile unsigned long sink;
        int main(void) {
            while (clock() < 6 * CLOCKS_PER_SEC / 10)
                for (long i = 0; i < 1000000; i++) sink += i;
            return 0; }";
    let Some(program) = compiled(folder.path(), source, &["-s"]) else { return };
    let Some(profile) = profile_of(Command::new(&program), 250) else { return };
    assert!(nameless(&profile, "/program") > profile.samples() / 2, "{profile:#?}");
    assert!(profile.frames.iter().any(|frame| frame.function == UNKNOWN));
    assert!(
        profile.missing.iter().any(|sentence| sentence.contains("install its debug symbols")),
        "{profile:#?}"
    );
}

#[test]
fn a_command_that_is_not_there_is_named() {
    match Profiler::spawn(Command::new("/no/such/program"), 99) {
        Err(ProfileError::Command(command, _)) => assert_eq!(command, "/no/such/program"),
        Err(error @ (ProfileError::NotPermitted(_) | ProfileError::NotSupported)) => {
            skipped(&error.to_string());
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was started"),
    }
}
