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
    // pgrp, utime, stime, cutime, cstime
    let [member_of, ticks @ ..] = processes::stat(pid, [5, 14, 15, 16, 17])?;
    let bytes = ["rchar", "wchar"]
        .into_iter()
        .filter_map(|name| processes::value(pid, "io", name)?.parse::<u64>().ok());
    (member_of == group as u64)
        .then(|| GroupMember { ticks: ticks.into_iter().sum(), bytes: bytes.sum() })
}
