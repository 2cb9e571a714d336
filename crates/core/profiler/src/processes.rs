//! Processes to sample, and processors to sample on.

use observe::processes;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// These processes and all below them that exist now.
pub(crate) fn with_descendants(roots: &[i32]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for pid in processes::all() {
        if let Some(parent) = processes::parent(pid) {
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

/// Processors that are on, whether we may use them or not.
pub(crate) fn online_cpus() -> Vec<usize> {
    let online = observe::topology::online(&observe::sysfs::Tree::new(Path::new("/")));
    if online.is_empty() {
        return (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    }
    online.into_iter().map(|cpu| cpu as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::processes::{is_alive, threads};

    #[test]
    fn every_processor_that_is_on_is_known() {
        let cpus = std::thread::available_parallelism().unwrap().get();
        assert!(online_cpus().len() >= cpus, "{:?}", online_cpus());
    }

    #[test]
    fn a_process_below_another_one_is_found_and_a_dead_one_is_not_alive() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (id, pid) = (std::process::id() as i32, child.id() as i32);
        assert!(with_descendants(&[id]).contains(&pid));
        assert!(!with_descendants(&[pid]).contains(&id));
        assert!(is_alive(pid));
        assert_eq!(threads(pid).collect::<Vec<_>>(), [pid]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(pid));
        assert_eq!(threads(pid).count(), 0);
    }
}
