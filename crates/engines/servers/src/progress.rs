//! The progress of the processes of a program.

use observe::processes;
use std::collections::BTreeMap;

/// The progress of a process: its CPU time in ticks, and the bytes that it has read and written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GroupMember {
    /// Ticks in user and kernel mode, with those of children that have ended.
    pub ticks: u64,
    /// Bytes of its read(2) and write(2) calls; 0 where they cannot be seen.
    pub bytes: u64,
}

/// The processes of a group, by their numbers.
pub fn group(group: i32) -> BTreeMap<i32, GroupMember> {
    processes::all().filter_map(|pid| Some((pid, member(pid, group)?))).collect()
}

fn member(pid: i32, group: i32) -> Option<GroupMember> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // From field 3 on.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    if fields.get(2)?.parse() != Ok(group) {
        return None;
    }
    let ticks = fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let bytes = io
        .lines()
        .filter_map(|line| line.strip_prefix("rchar: ").or(line.strip_prefix("wchar: ")))
        .filter_map(|bytes| bytes.parse::<u64>().ok())
        .sum();
    Some(GroupMember { ticks, bytes })
}
