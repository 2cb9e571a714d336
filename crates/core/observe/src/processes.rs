//! Processes and their threads, from `/proc` (see proc(5)).

use std::path::Path;

/// The numbers of all processes.
pub fn all() -> impl Iterator<Item = i32> {
    numbers(Path::new("/proc"))
}

/// The threads of a process; none when it has ended.
pub fn threads(pid: i32) -> impl Iterator<Item = i32> {
    numbers(format!("/proc/{pid}/task").as_ref())
}

/// Short name of a process.
pub fn name(pid: i32) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// The process that started this one.
pub fn parent(pid: i32) -> Option<i32> {
    state_and_parent(pid).map(|(_, parent)| parent)
}

/// Returns whether a process exists and is not a zombie.
pub fn is_alive(pid: i32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| !matches!(state.as_str(), "Z" | "X"))
}

/// Returns whether a thread is on a processor or in the run queue (state `R`); `None` when it has
/// ended or may not be seen.
pub fn is_runnable(pid: i32, thread: i32) -> Option<bool> {
    let stat = std::fs::read(format!("/proc/{pid}/task/{thread}/stat")).ok()?;
    // The name before the state may hold anything, a bracket too.
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(name_end + 2).map(|state| *state == b'R')
}

/// Fields 3 and 4 of `stat`; the name before them may hold anything.
fn state_and_parent(pid: i32) -> Option<(String, i32)> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn numbers(folder: &Path) -> impl Iterator<Item = i32> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::is_alive;
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
}
