//! Processes and their threads, from `/proc`.

use std::collections::{BTreeSet, HashMap};
use std::fs;

/// These processes and all below them that exist now.
pub(crate) fn with_descendants(roots: &[i32]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for pid in numbers("/proc") {
        if let Some((_, parent)) = stat(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = BTreeSet::new();
    let mut left = roots.to_vec();
    while let Some(pid) = left.pop() {
        if found.insert(pid) {
            left.extend(children.get(&pid).into_iter().flatten());
        }
    }
    found.into_iter().collect()
}

/// The threads of a process; none when it has ended.
pub(crate) fn threads(pid: i32) -> Vec<i32> {
    numbers(&format!("/proc/{pid}/task"))
}

/// Whether a process is there and not only waiting to be reaped.
pub(crate) fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state.as_str(), "Z" | "X"))
}

/// Short name of a process.
pub(crate) fn name(pid: i32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// Processors that are on, whether we may use them or not.
pub(crate) fn online_cpus() -> Vec<usize> {
    let online = observe::topology::processors_online();
    if online.is_empty() {
        return (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    }
    online.into_iter().map(|cpu| cpu as usize).collect()
}

/// State and parent: fields 3 and 4 of proc(5); the name before them may hold anything.
fn stat(pid: i32) -> Option<(String, i32)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn numbers(folder: &str) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_that_is_on_is_known() {
        let own = std::thread::available_parallelism().unwrap().get();
        assert!(online_cpus().len() >= own, "{:?}", online_cpus());
    }

    #[test]
    fn a_process_below_another_one_is_found_and_a_dead_one_is_not_alive() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, pid) = (std::process::id() as i32, child.id() as i32);
        assert!(with_descendants(&[own]).contains(&pid));
        assert!(!with_descendants(&[pid]).contains(&own));
        assert!(is_alive(pid));
        assert_eq!(threads(pid), [pid]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(pid));
        assert_eq!(threads(pid), Vec::<i32>::new());
    }
}
