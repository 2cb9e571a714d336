//! Test processes that never end: what each of their processes and threads waits for, and their
//! end.

use std::fs::{read_dir, read_to_string};
use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits for the end of a process. One that takes longer is killed with all that it has started;
/// `log` lists what each of them waits for.
pub fn end_within(
    child: &mut Child,
    at_most: Duration,
    log: &mut impl Write,
) -> io::Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > at_most {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let processes = with_descendants(child.id());
    writeln!(log, "did not end within {} s; its processes and threads:", at_most.as_secs())?;
    let listed = processes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    // The place in the kernel where each thread is.
    let columns = "pid,tid,stat,wchan:30,comm,args";
    let mut states = Command::new("ps");
    let states = states.args(["-L", "-ww", "-o", columns, "-p", &listed]).output()?;
    log.write_all(&states.stdout)?;
    child.kill()?;
    let status = child.wait()?;
    let others = processes.iter().skip(1).map(u32::to_string);
    Command::new("kill").arg("-KILL").args(others).output()?;
    Ok(status)
}

/// A process and all that descend from it.
fn with_descendants(first: u32) -> Vec<u32> {
    let numbers = read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> =
        numbers.filter_map(|number| Some((number, parent(number)?))).collect();
    let mut found = vec![first];
    let mut at = 0;
    while let Some(process) = found.get(at).copied() {
        found.extend(
            parents.iter().filter(|(_, parent)| *parent == process).map(|(number, _)| number),
        );
        at += 1;
    }
    found
}

fn parent(process: u32) -> Option<u32> {
    let status = read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::end_within;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_process_that_never_ends_is_described_and_killed_with_its_children() {
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", "sleep 4322.5 & wait"]).spawn().unwrap();
        let mut log = Vec::new();
        // Its child has begun when it is killed.
        while super::with_descendants(child.id()).len() < 2 {
            std::thread::yield_now();
        }
        let processes = super::with_descendants(child.id());
        let status = end_within(&mut child, Duration::ZERO, &mut log).unwrap();
        let log = String::from_utf8(log).unwrap();
        assert!(!status.success() && log.contains("did not end") && log.contains("sh -c"), "{log}");
        for process in processes {
            let is_gone = || {
                let status = std::fs::read_to_string(format!("/proc/{process}/status"));
                status.map_or(true, |status| status.contains("(zombie)"))
            };
            let looks = std::iter::repeat_with(|| {
                std::thread::sleep(Duration::from_millis(5));
                is_gone()
            });
            assert!(looks.take(2000).any(|is_gone| is_gone), "{process} is alive: {log}");
        }
        let mut child = Command::new("true").spawn().unwrap();
        assert!(end_within(&mut child, Duration::MAX, &mut Vec::new()).unwrap().success());
    }
}
