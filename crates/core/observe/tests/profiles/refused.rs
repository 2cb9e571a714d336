//! Explains refusals of the kernel.

use crate::support::*;
use std::process::Command;

/// Runs one of these tests again as a user without rights.
fn as_nobody(test: &str) -> Option<String> {
    // SAFETY: it has no arguments and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        skipped("only root can change its user");
        return None;
    }
    // The folder of the tests may be closed to others.
    let folder = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let copy = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
    ]);
    command.arg(&copy).args([test, "--exact", "--ignored", "--nocapture"]).env("BURN", burn());
    let Ok(output) = command.output() else {
        skipped("there is no setpriv");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

#[test]
fn somebody_elses_process_is_refused_with_what_to_do() {
    let Some(message) = as_nobody("refused::of_init") else { return };
    assert!(message.contains("SKIPPED: the kernel does not permit sampling: "), "{message}");
    assert!(
        message.contains("CAP_PERFMON") && message.contains("kernel.perf_event_paranoid"),
        "{message}"
    );
}

#[test]
fn an_own_process_is_sampled_in_user_mode_only_and_that_is_said() {
    let paranoid =
        std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if paranoid.trim() != "2" {
        return skipped("kernel.perf_event_paranoid is not 2");
    }
    let Some(message) = as_nobody("refused::of_itself") else { return };
    assert!(
        message.contains("This profile lacks kernel time: kernel.perf_event_paranoid is 2"),
        "{message}"
    );
    assert!(message.contains("kernel samples: 0"), "{message}");
}

#[test]
#[ignore = "run by the test above as a user without rights"]
fn of_init() {
    let _ = permitted(observe::profiler::Profiler::attach(&[1], 99));
}

#[test]
#[ignore = "run by the test above as a user without rights"]
fn of_itself() {
    let Some(profiler) =
        permitted(observe::profiler::Profiler::attach(&[std::process::id() as i32], 99))
    else {
        return;
    };
    let profiler = profiler.start().unwrap();
    let mut zero = std::fs::File::open("/dev/zero").unwrap();
    let mut buffer = vec![0; 1 << 20];
    let clock = observe::ThreadClock::of_this_thread();
    let end = clock.read().cpu_ns + 300_000_000;
    while clock.read().cpu_ns < end {
        std::io::Read::read(&mut zero, &mut buffer).unwrap();
    }
    let profile = sound(profiler.stop().unwrap().named());
    println!("{:?}\nkernel samples: {}", profile.missing, kernel(&profile));
}
