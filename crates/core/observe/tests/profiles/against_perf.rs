//! Compares with samples of the same program by perf.

use crate::support::*;
use std::process::Command;

/// Samples of perf in each function, by its own symbols.
fn perf(kind: &str, milliseconds: u32) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("perf.data");
    let mut record = Command::new("perf");
    record
        .args(["record", "-q", "-e", "cpu-clock", "-F", "250", "-o"])
        .arg(&data)
        .arg("--")
        .arg(burn());
    let Ok(recorded) = record.arg(kind).arg(milliseconds.to_string()).output() else {
        skipped("there is no perf");
        return None;
    };
    if !recorded.status.success() {
        skipped(&format!(
            "perf cannot record: {}",
            String::from_utf8_lossy(&recorded.stderr).trim()
        ));
        return None;
    }
    let script =
        Command::new("perf").args(["script", "-F", "ip,sym", "-i"]).arg(&data).output().unwrap();
    assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
    let lines = String::from_utf8(script.stdout).unwrap();
    Some(lines.lines().map(str::to_owned).filter(|line| !line.trim().is_empty()).collect())
}

/// Two shares of different samples differ by no more than their errors.
#[track_caller]
fn assert_same(ours: (u64, u64), theirs: (u64, u64)) {
    let share = |(part, all): (u64, u64)| part as f64 / all as f64;
    let pooled = (ours.0 + theirs.0) as f64 / (ours.1 + theirs.1) as f64;
    let error = (pooled * (1.0 - pooled) * (1.0 / ours.1 as f64 + 1.0 / theirs.1 as f64)).sqrt();
    let difference = (share(ours) - share(theirs)).abs();
    assert!(difference <= 4.0 * error + 0.005, "ours {ours:?}, perf's {theirs:?}");
}

#[test]
fn functions_have_the_same_shares_as_in_perf() {
    let Some(theirs) = perf("three_to_one", 2000) else { return };
    let Some(ours) = profile_of(command(&burn(), "three_to_one", 2000), 250) else { return };
    let in_burner = |name: &str| theirs.iter().filter(|line| line.contains(name)).count() as u64;
    let (three, burner) = (in_burner("burn_three"), in_burner("burn_one"));
    assert!(three + burner > 50, "{theirs:?}");
    let (own_three, own_one) =
        (samples(&ours, "burn::burn_three"), samples(&ours, "burn::burn_one"));
    assert_same((own_three, own_three + own_one), (three, three + burner));
}

#[test]
fn as_many_samples_as_perf_takes_of_a_program_in_the_kernel() {
    let Some(theirs) = perf("kernel", 1500) else { return };
    let Some(ours) = profile_of(command(&burn(), "kernel", 1500), 250) else { return };
    let kernel_theirs = theirs
        .iter()
        .filter(|line| {
            u64::from_str_radix(line.split_ascii_whitespace().next().unwrap_or_default(), 16)
                .is_ok_and(|ip| ip >> 63 == 1)
        })
        .count() as u64;
    if kernel_theirs == 0 {
        return skipped("perf may not sample the kernel");
    }
    assert_same((kernel(&ours), ours.samples()), (kernel_theirs, theirs.len() as u64));
    // The function that copies zeros, under the name that both find in /proc/kallsyms.
    let most = ours
        .frames
        .iter()
        .zip(ours.self_and_total())
        .max_by_key(|(_, (self_count, _))| *self_count)
        .unwrap()
        .0;
    let (function, theirs_of_it) =
        (&most.function, theirs.iter().filter(|line| line.contains(&most.function)).count() as u64);
    assert_same((samples(&ours, function), ours.samples()), (theirs_of_it, theirs.len() as u64));
}
