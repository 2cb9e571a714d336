//! Processes and their threads, from `/proc` (see proc(5)).

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

/// The numbers of all processes.
pub fn all() -> impl Iterator<Item = i32> {
    numbers(Path::new("/proc"))
}

/// The threads of a process; none when it has ended.
pub fn threads(pid: i32) -> impl Iterator<Item = i32> {
    numbers(&path(pid, "task"))
}

/// The path of one of a process's files. A thread's number does too.
pub fn path(pid: i32, file: &str) -> PathBuf {
    format!("/proc/{pid}/{file}").into()
}

/// The text of one of a process's files; `None` when it has ended or does not show it.
pub fn text(pid: i32, file: &str) -> Option<String> {
    let bytes = std::fs::read(path(pid, file)).ok()?;
    // A name in it may be of any bytes.
    let lossy = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    Some(String::from_utf8(bytes).unwrap_or_else(lossy))
}

/// Short name of a process or a thread.
pub fn name(pid: i32) -> Option<String> {
    Some(text(pid, "comm")?.trim_end().to_owned())
}

/// The process that started this one.
pub fn parent(pid: i32) -> Option<i32> {
    stat(pid, [4]).map(|[parent]| parent as i32)
}

/// These processes and all below them that exist now.
pub(crate) fn with_descendants(roots: &[i32]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for pid in all() {
        if let Some(parent) = parent(pid) {
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

/// Returns whether a process exists and is not a zombie.
pub fn is_alive(pid: i32) -> bool {
    state(&format!("/proc/{pid}/stat")).is_some_and(|state| !matches!(state, b'Z' | b'X'))
}

/// Returns whether a thread is on a processor or in the run queue (state `R`); `None` when it has
/// ended or may not be seen.
pub fn is_runnable(pid: i32, thread: i32) -> Option<bool> {
    state(&format!("/proc/{pid}/task/{thread}/stat")).map(|state| state == b'R')
}

/// Some numbers of a process's `stat`, whose fields are counted from 1.
pub fn stat<const N: usize>(pid: i32, positions: [usize; N]) -> Option<[u64; N]> {
    stat_fields(&text(pid, "stat")?, positions)
}

/// The value of a name in a process's file of names and values: `status`, `io`, `fdinfo/<number>`.
pub fn value(pid: i32, file: &str, name: &str) -> Option<String> {
    let text = text(pid, file)?;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.map(|value| value.trim().to_owned())
}

/// The files that a process has open, by the numbers of their descriptors.
pub fn open_files(pid: i32) -> impl Iterator<Item = (i32, PathBuf)> {
    let folder = path(pid, "fd");
    numbers(&folder).filter_map(move |number| {
        Some((number, std::fs::read_link(folder.join(number.to_string())).ok()?))
    })
}

/// Some fields of `stat`.
pub(crate) fn stat_fields<const N: usize>(stat: &str, positions: [usize; N]) -> Option<[u64; N]> {
    // The name before the third field may hold anything.
    let after_name = stat.get(stat.rfind(')')? + 1..)?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let mut numbers = [0; N];
    for (number, field) in numbers.iter_mut().zip(positions) {
        *number = fields.get(field - 3)?.parse().ok()?;
    }
    Some(numbers)
}

/// Field 3 of a `stat`. Samplers read it of each session many times a second: nothing is copied.
fn state(stat: &str) -> Option<u8> {
    let stat = std::fs::read(stat).ok()?;
    // The name before the state may hold anything, a bracket too.
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(name_end + 2).copied()
}

fn numbers(folder: &Path) -> impl Iterator<Item = i32> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{is_alive, threads, with_descendants};
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_killed_process_is_gone_before_its_parent_has_waited_for_it() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(is_alive(pid));
        child.kill().unwrap();
        while is_alive(pid) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(Path::new(&format!("/proc/{pid}")).exists());
        child.wait().unwrap();
        assert!(!is_alive(pid));
    }
    #[test]
    fn a_process_below_another_one_is_found_and_a_dead_one_is_not_alive() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
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
