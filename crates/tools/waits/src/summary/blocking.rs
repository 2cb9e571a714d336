//! Roots of lock waits: sessions that block others.

use observations::{TaskSession, WaitingTask, order};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A session that blocks others, directly or through a chain, and is not blocked by any of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RootBlocker {
    /// The session, or the prepared transaction.
    pub session: TaskSession,
    /// Wait of the blocker itself, if it is not a lock held by a known session.
    pub wait_type: Option<String>,
    /// It waits for one that waits for it: the server has not yet ended the deadlock. It is one of
    /// several in a circle.
    pub is_deadlock: bool,
    /// Sessions waiting for it, each followed by those behind it. A session with several blockers
    /// appears under each root.
    pub victims: Vec<Victim>,
    /// Seconds that they have waited, together, as far as the server tells.
    pub waited_s: f64,
}

/// A session that waits for a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Victim {
    /// Position in the list of waiting sessions.
    pub task: usize,
    /// 1 for one that waits for the root, 2 for one that waits behind it, and so on.
    pub depth: usize,
}

/// Identity of a blocker: the number that clients see, and the name of a prepared transaction.
type Key<'a> = (i32, Option<&'a str>);

fn key(session: &TaskSession) -> Key<'_> {
    // A worker's locks are its leader's: blockers are named by the leader.
    (session.leader.unwrap_or(session.pid), session.prepared.as_deref())
}

/// Positions of the sessions that each session blocks.
type Behind<'a> = BTreeMap<Key<'a>, Vec<usize>>;

/// The root blockers of waiting sessions, the one that others have waited for longest first.
pub(super) fn roots(tasks: &[WaitingTask]) -> Vec<RootBlocker> {
    let victims: BTreeSet<Key> = tasks
        .iter()
        .filter(|task| !task.blocked_by.is_empty())
        .map(|task| key(&task.session))
        .collect();
    let mut behind = Behind::new();
    let mut blockers: BTreeMap<Key, &TaskSession> = BTreeMap::new();
    for (at, task) in tasks.iter().enumerate() {
        for blocker in &task.blocked_by {
            behind.entry(key(blocker)).or_default().push(at);
            blockers.entry(key(blocker)).or_insert(blocker);
        }
    }
    let mut reached = BTreeSet::new();
    let at_root = blockers.iter().filter(|(key, _)| !victims.contains(key));
    let mut roots: Vec<RootBlocker> =
        at_root.map(|(_, blocker)| root(tasks, &behind, blocker, false, &mut reached)).collect();
    // Who is behind no root is in a circle, or behind one.
    for start in (0..tasks.len()).filter(|at| !tasks[*at].blocked_by.is_empty()) {
        if !reached.contains(&start) {
            roots.push(root(tasks, &behind, in_circle(tasks, start), true, &mut reached));
        }
    }
    order::largest_first(&mut roots, &|row| row.waited_s);
    roots
}

/// Follows the chain of first blockers until a session repeats: that one is in the cycle.
fn in_circle(tasks: &[WaitingTask], start: usize) -> &TaskSession {
    let first_blockers: BTreeMap<Key, &TaskSession> = tasks
        .iter()
        .rev()
        .filter_map(|task| Some((key(&task.session), task.blocked_by.first()?)))
        .collect();
    let (mut session, mut visited) = (&tasks[start].session, BTreeSet::new());
    while visited.insert(key(session)) {
        session = first_blockers.get(&key(session)).copied().unwrap_or(session);
    }
    session
}

fn root(
    tasks: &[WaitingTask],
    behind: &Behind,
    blocker: &TaskSession,
    is_deadlock: bool,
    reached: &mut BTreeSet<usize>,
) -> RootBlocker {
    let blocker_key = key(blocker);
    let itself: Vec<usize> =
        (0..tasks.len()).filter(|at| key(&tasks[*at].session) == blocker_key).collect();
    let mut placed: BTreeSet<usize> = itself.iter().copied().collect();
    // Each is placed behind the first of its blockers that is reached, so nearest to the root.
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut waiting: VecDeque<(Key, Option<usize>)> = [(blocker_key, None)].into();
    while let Some((blocker, parent)) = waiting.pop_front() {
        for &at in behind.get(&blocker).into_iter().flatten().filter(|at| placed.insert(**at)) {
            children.entry(parent).or_default().push(at);
            waiting.push_back((key(&tasks[at].session), Some(at)));
        }
    }
    reached.extend(placed);
    let mut victims = Vec::new();
    let mut next: Vec<(usize, usize)> = Vec::new();
    let mut put = |next: &mut Vec<_>, parent, depth| {
        next.extend(children.remove(&parent).into_iter().flatten().rev().map(|at| (at, depth)));
    };
    put(&mut next, None, 1);
    while let Some((task, depth)) = next.pop() {
        victims.push(Victim { task, depth });
        put(&mut next, Some(task), depth + 1);
    }
    RootBlocker {
        session: blocker.clone(),
        wait_type: itself.first().map(|at| tasks[*at].wait_type.clone()),
        is_deadlock,
        waited_s: victims.iter().filter_map(|victim| tasks[victim.task].waited_s).sum(),
        victims,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(pid: i32) -> TaskSession {
        TaskSession { pid, ..TaskSession::default() }
    }

    fn task(pid: i32, waited_s: f64, blockers: &[i32]) -> WaitingTask {
        WaitingTask {
            session: session(pid),
            wait_type: if blockers.is_empty() { "IO:DataFileRead" } else { "Lock:tuple" }
                .to_owned(),
            waited_s: Some(waited_s),
            resource: None,
            lock_mode: None,
            blocked_by: blockers.iter().map(|pid| session(*pid)).collect(),
        }
    }

    /// `root: victim@depth ...`
    fn shown(tasks: &[WaitingTask]) -> Vec<String> {
        roots(tasks)
            .into_iter()
            .map(|root| {
                let victims = root
                    .victims
                    .iter()
                    .map(|victim| format!(" {}@{}", tasks[victim.task].session.pid, victim.depth));
                let sign = if root.is_deadlock { " deadlock" } else { "" };
                format!(
                    "{}:{}{sign} {} s",
                    root.session.pid,
                    victims.collect::<String>(),
                    root.waited_s
                )
            })
            .collect()
    }

    #[test]
    fn chains_and_queues_have_one_root_with_all_their_victims() {
        let chain = [task(2, 5.0, &[1]), task(3, 4.0, &[2]), task(4, 3.0, &[3])];
        assert_eq!(shown(&chain), ["1: 2@1 3@2 4@3 12 s"]);
        // The queue for a row: the second is behind the first, and so is the third, who is behind
        // the second too.
        let queue = [task(2, 5.0, &[1]), task(3, 4.0, &[2]), task(4, 3.0, &[2, 3])];
        assert_eq!(shown(&queue), ["1: 2@1 3@2 4@2 12 s"]);
        let two = [task(2, 5.0, &[1]), task(3, 4.0, &[1]), task(9, 20.0, &[8]), task(8, 0.5, &[])];
        assert_eq!(shown(&two), ["8: 9@1 20 s", "1: 2@1 3@1 9 s"]);
        assert_eq!(roots(&two)[0].wait_type.as_deref(), Some("IO:DataFileRead"));
        assert_eq!(roots(&two)[1].wait_type, None);
        assert_eq!(shown(&[task(8, 0.5, &[])]), [""; 0]);
    }

    #[test]
    fn who_is_blocked_by_several_is_told_of_each() {
        let tasks = [task(3, 7.0, &[1, 2]), task(4, 1.0, &[3])];
        assert_eq!(shown(&tasks), ["1: 3@1 4@2 8 s", "2: 3@1 4@2 8 s"]);
    }

    #[test]
    fn a_deadlock_has_a_root_and_ends() {
        let tasks = [task(5, 0.5, &[3]), task(3, 0.4, &[4]), task(4, 0.3, &[3])];
        assert_eq!(shown(&tasks), ["3: 5@1 4@1 deadlock 0.8 s"]);
        // A session that blocks itself is no more than a strange file.
        assert_eq!(roots(&[task(3, 1.0, &[3])]).len(), 1);
    }

    #[test]
    fn a_worker_blocks_and_is_blocked_as_its_session() {
        let mut worker = task(12, 2.0, &[1]);
        worker.session.leader = Some(10);
        let tasks = [worker, task(20, 1.0, &[10])];
        assert_eq!(shown(&tasks), ["1: 12@1 20@2 3 s"]);
    }

    #[test]
    fn prepared_transactions_are_told_apart_by_their_names() {
        let named = |name: &str| TaskSession { prepared: Some(name.to_owned()), ..session(0) };
        let mut tasks = [task(2, 5.0, &[]), task(3, 4.0, &[])];
        tasks[0].blocked_by = vec![named("a")];
        tasks[1].blocked_by = vec![named("b")];
        let roots = roots(&tasks);
        let names: Vec<_> =
            roots.iter().map(|root| (root.session.prepared.as_deref(), root.waited_s)).collect();
        assert_eq!(names, [(Some("a"), 5.0), (Some("b"), 4.0)]);
    }
}
