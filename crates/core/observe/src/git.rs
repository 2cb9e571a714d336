//! The state of the Git repository that a folder belongs to, asked of `git` itself.
//!
//! Nothing that the repository says is executed: no hooks, no file system monitor, no filters, no
//! transport.

use crate::child::output_within;
use observations::GitState;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The time that all of it may take: a repository may lie on a network that does not answer.
const TIME_MAX: Duration = Duration::from_secs(3);

/// Options that keep a repository from executing programs when it is read.
const SAFE: [&str; 4] =
    ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.sshCommand=false"];

/// Variables that name another repository, as hooks of Git have them.
const ELSEWHERE: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];

/// The commit that is checked out in a folder, and whether tracked files differ from it. `None`
/// without `git`, outside of a repository, before its first commit, and when it takes too long.
pub fn git_state(folder: &Path) -> Option<GitState> {
    let until = Instant::now() + TIME_MAX;
    let ask = |arguments: &[&str]| answer(folder, arguments, until);
    let (true, commit) = ask(&["rev-parse", "--verify", "HEAD"])? else { return None };
    let commit = commit.trim().to_owned();
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| GitState { changed: changed(&ask), commit })
}

/// Returns whether tracked files differ from the commit; `None` if unknown, for example if the
/// repository has its own filters, which would have to run.
fn changed(ask: &impl Fn(&[&str]) -> Option<(bool, String)>) -> Option<bool> {
    let (_, filters) = ask(&[
        "config",
        "--includes",
        "--show-scope",
        "--get-regexp",
        r"^filter\..*\.(clean|process)$",
    ])?;
    if filters.lines().any(|line| line.starts_with("local") || line.starts_with("worktree")) {
        return None;
    }
    let (known, list) =
        ask(&["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"])?;
    known.then(|| !list.trim().is_empty())
}

/// Runs `git`; returns success and output, or `None` when it cannot be started or takes too long.
fn answer(folder: &Path, arguments: &[&str], until: Instant) -> Option<(bool, String)> {
    let mut command = Command::new("git");
    command.arg("--no-optional-locks").arg("-C").arg(folder);
    for setting in SAFE {
        command.args(["-c", setting]);
    }
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0");
    let left = until.saturating_duration_since(Instant::now());
    let output = output_within(&mut command, left, &|| false).ok()?;
    Some((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::git_state;
    use observations::GitState;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(arguments)
            .current_dir(folder);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A repository with one commit, and a folder in it.
    fn repository() -> Option<tempfile::TempDir> {
        if Command::new("git").arg("--version").output().is_err() {
            println!("SKIPPED: git is not installed");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q"]);
        std::fs::create_dir(folder.path().join("bench")).unwrap();
        std::fs::write(folder.path().join("bench/a"), "1").unwrap();
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-qm", "one"]);
        Some(folder)
    }

    #[test]
    fn the_commit_and_changes_of_tracked_files_are_told() {
        assert_eq!(git_state(tempfile::tempdir().unwrap().path()), None);
        let Some(folder) = repository() else { return };
        let bench = folder.path().join("bench");
        let commit = git(&bench, &["rev-parse", "HEAD"]);
        let state = |changed| Some(GitState { commit: commit.clone(), changed: Some(changed) });
        assert_eq!(git_state(&bench), state(false));
        // Untracked files, such as results, are not a change.
        std::fs::write(bench.join("results"), "2").unwrap();
        assert_eq!(git_state(&bench), state(false));
        std::fs::write(bench.join("a"), "22").unwrap();
        assert_eq!(git_state(&bench), state(true));
        let empty = tempfile::tempdir().unwrap();
        git(empty.path(), &["init", "-q"]);
        assert_eq!(git_state(empty.path()), None);
    }

    #[test]
    fn nothing_that_the_repository_says_is_executed() {
        let Some(folder) = repository() else { return };
        let (executed, trap) = (folder.path().join("executed"), folder.path().join("trap"));
        std::fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat\n", executed.display())).unwrap();
        std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
        let trap = trap.to_str().unwrap();
        std::fs::copy(trap, folder.path().join(".git/hooks/post-index-change")).unwrap();
        git(folder.path(), &["config", "core.fsmonitor", trap]);
        // The content has to be looked at again: its time is another one.
        std::fs::write(folder.path().join("bench/a"), "2").unwrap();
        assert_eq!(git_state(folder.path()).unwrap().changed, Some(true));
        git(folder.path(), &["config", "filter.x.clean", trap]);
        std::fs::write(folder.path().join(".gitattributes"), "* filter=x\n").unwrap();
        assert_eq!(git_state(folder.path()).unwrap().changed, None);
        assert!(!executed.exists(), "something of the repository was executed");
        // The traps are real: git itself falls into them.
        Command::new("git").args(["status"]).current_dir(folder.path()).output().unwrap();
        assert!(executed.exists());
    }
}
