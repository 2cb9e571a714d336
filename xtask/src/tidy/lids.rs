//! Lids rise only by a commit that says why: they are compared with those of an earlier commit.

use crate::process::{output, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The lids. In a file of their own, so that its history is theirs.
pub const FILE: &str = "xtask/src/tidy/lids.txt";
/// The branch that changes are merged into.
const MAIN: &str = "origin/main";

/// The largest permitted size of each room.
#[derive(Debug, Default)]
pub struct Lids(BTreeMap<String, usize>);

impl Lids {
    /// Reads `ROOM NUMBER` lines; the others are blank or begin with `#`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lids = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let lid = line.split_once(' ').and_then(|(name, lid)| Some((name, lid.parse().ok()?)));
            let Some((name, lid)) = lid else {
                return Err(format!("{FILE}: expected `ROOM NUMBER`: {line}"));
            };
            if lids.insert(name.to_owned(), lid).is_some() {
                return Err(format!("{FILE}: two lids of {name}"));
            }
        }
        Ok(Self(lids))
    }

    /// Reads those of the tree.
    pub fn read(root: &Path) -> Result<Self, String> {
        Self::parse(&read(&root.join(FILE))?)
    }

    pub fn lid(&self, room: &str) -> Option<usize> {
        self.0.get(room).copied()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// A commit that changed the lids.
#[derive(Debug)]
struct Commit {
    id: String,
    /// The author's, which outlasts a rebase.
    day: String,
    /// Texts of its trailers `Budget`.
    trailers: Vec<String>,
}

/// The text `+N ROOM because ...` of a trailer.
#[derive(Debug)]
struct Rise<'a> {
    by: usize,
    room: &'a str,
}

impl<'a> Rise<'a> {
    fn parse(trailer: &'a str) -> Option<Self> {
        let (by, rest) = trailer.strip_prefix('+')?.split_once(' ')?;
        let (room, reason) = rest.split_once(" because ")?;
        let is_complete = !room.contains(' ') && !reason.trim().is_empty();
        is_complete.then_some(Self { by: by.parse().ok()?, room })
    }
}

/// Commits that changed the lids since an earlier one.
#[derive(Debug)]
pub struct History {
    base: String,
    commits: Vec<Commit>,
    /// Commits before the base too.
    all: Vec<Commit>,
}

impl History {
    /// Reads the commits since this branch left the main branch. Without a main branch, or on it,
    /// lids that are not committed yet are compared with HEAD, and others with those before the
    /// last commit that changed them. An error says why there is no earlier commit.
    pub fn read(root: &Path) -> Result<Self, String> {
        let head = git(root, &["rev-parse", "HEAD"])?;
        let fork = git(root, &["merge-base", MAIN, "HEAD"]).ok().filter(|fork| *fork != head);
        let base = match fork {
            Some(fork) => fork,
            None if git(root, &["diff", "--quiet", "HEAD", "--", FILE]).is_err() => head,
            None => {
                let last = git(root, &["rev-list", "-1", "HEAD", "--", FILE])?;
                git(root, &["rev-parse", "--verify", "--quiet", &format!("{last}^")])
                    .map_err(|_| "this clone has no commit before the last change".to_owned())?
            }
        };
        Self::since(root, &base)
    }

    /// Reads the commits since a revision.
    pub fn since(root: &Path, base: &str) -> Result<Self, String> {
        Ok(Self {
            base: base.into(),
            commits: commits(root, &format!("{base}..HEAD"))?,
            all: commits(root, "HEAD")?,
        })
    }

    /// Names lids that are higher than those of the base by more than the trailers permit. An error
    /// says why there are none to compare with. Before the commit that introduced `FILE`, budgets
    /// had another form: that commit sets the first lids and needs no trailer.
    pub fn check(&self, root: &Path, lids: &Lids) -> Result<Vec<String>, String> {
        let before = git(root, &["show", &format!("{}:{FILE}", self.base)])
            .map_err(|_| format!("there were none at {:.9}", self.base))?;
        let before = Lids::parse(&before)?;
        let mut wrong = Vec::new();
        for (room, lid) in &lids.0 {
            let old = before.lid(room).unwrap_or(0);
            let rises = rises(&self.commits).filter(|(_, rise)| rise.room == room);
            let permitted: usize = rises.map(|(_, rise)| rise.by).sum();
            if *lid > old + permitted {
                wrong.push(format!(
                    "{room}: the lid rose from {old} to {lid}: lower it, or end the commit's \
                     message with `Budget: +{} {room} because REASON`",
                    lid - old
                ));
            }
        }
        wrong.extend(self.malformed());
        wrong.extend(self.repeated());
        Ok(wrong)
    }

    fn malformed(&self) -> impl Iterator<Item = String> {
        self.commits.iter().flat_map(|commit| {
            let unclear = commit.trailers.iter().filter(|text| Rise::parse(text).is_none());
            unclear.map(|text| {
                format!("{}: expected `Budget: +N ROOM because REASON`: {text}", commit.id)
            })
        })
    }

    /// Names rooms whose lid rose twice on a day.
    fn repeated(&self) -> BTreeSet<String> {
        let is_repeated = |(commit, rise): &(&Commit, Rise<'_>)| {
            let on_day = rises(&self.all).filter(|(other, _)| other.day == commit.day);
            on_day.filter(|(_, other)| other.room == rise.room).count() > 1
        };
        let repeated = rises(&self.commits).filter(is_repeated);
        repeated
            .map(|(commit, rise)| {
                format!("{}: the lid rose more than once on {}", rise.room, commit.day)
            })
            .collect()
    }

    /// Prints the trailers.
    pub fn print(&self) {
        println!("\nBudgets since {:.9}:", self.base);
        for Commit { id, day, trailers } in &self.commits {
            for trailer in trailers {
                println!("  {day} {id} {trailer}");
            }
        }
    }
}

fn rises(commits: &[Commit]) -> impl Iterator<Item = (&Commit, Rise<'_>)> {
    commits.iter().flat_map(|commit| {
        let rises = commit.trailers.iter().filter_map(|text| Rise::parse(text));
        rises.map(move |rise| (commit, rise))
    })
}

/// Commits of a range that changed the lids, the newest first.
fn commits(root: &Path, range: &str) -> Result<Vec<Commit>, String> {
    let format = "--format=%h%x1f%as%x1f%(trailers:key=Budget,valueonly,unfold)%x1e";
    let log = git(root, &["log", format, range, "--", FILE])?;
    let commits = log.split('\x1e').filter_map(|entry| {
        let mut fields = entry.trim_start().split('\x1f');
        Some(Commit {
            id: fields.next().filter(|id| !id.is_empty())?.into(),
            day: fields.next()?.into(),
            trailers: fields.next()?.lines().map(str::to_owned).collect(),
        })
    });
    Ok(commits.collect())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = output(Command::new("git").args(arguments).current_dir(root))?;
    Ok(output.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{FILE, History, Lids, git};
    use std::process::Command;
    use tempfile::TempDir;

    const MONDAY: &str = "2026-03-02T12:00:00Z";
    const TUESDAY: &str = "2026-03-03T12:00:00Z";

    struct Repository(TempDir);

    impl Repository {
        /// A commit without lids, and one that introduces them.
        fn new() -> Self {
            let repository = Self(TempDir::new().expect("a folder"));
            repository.git(&["init", "--quiet"]);
            repository.git(&["config", "user.name", "A"]);
            repository.git(&["config", "user.email", "a@example.org"]);
            repository.git(&["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
            let folder = repository.0.path().join(FILE);
            std::fs::create_dir_all(folder.parent().expect("a folder")).expect("a folder");
            repository.commit(MONDAY, "core 1000\n", "Introduce lids");
            repository
        }

        fn git(&self, arguments: &[&str]) -> String {
            git(self.0.path(), arguments).expect("git succeeds")
        }

        fn write(&self, lids: &str) {
            std::fs::write(self.0.path().join(FILE), lids).expect("a file");
        }

        fn commit(&self, day: &str, lids: &str, message: &str) {
            self.write(lids);
            self.git(&["add", FILE]);
            let mut commit = Command::new("git");
            commit.args(["commit", "--quiet", "--message", message]).current_dir(self.0.path());
            commit.env("GIT_AUTHOR_DATE", day);
            assert!(commit.status().expect("git starts").success());
        }

        /// The commit that `git clone` would find as the main branch of its source.
        fn publish(&self) {
            self.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        }

        fn check(&self) -> Result<Vec<String>, String> {
            let lids = Lids::read(self.0.path()).expect("lids");
            History::read(self.0.path())?.check(self.0.path(), &lids)
        }

        fn wrong(&self) -> Vec<String> {
            self.check().expect("compared")
        }
    }

    const ROSE: &str = "core: the lid rose from 1000 to 1200: lower it, or end the commit's \
                        message with `Budget: +200 core because REASON`";
    const NOTHING: [&str; 0] = [];

    #[test]
    fn a_lid_rises_by_a_trailer_only() {
        let repository = Repository::new();
        repository.publish();
        repository.write("core 1200\n");
        assert_eq!(repository.wrong(), [ROSE]);
        repository.commit(MONDAY, "core 1200\n", "Add\n\nBudget: +100 core because of less");
        assert_eq!(repository.wrong(), [ROSE]);
        repository.commit(TUESDAY, "core 1300\n", "Add\n\nBudget: +200 core because of more");
        assert_eq!(repository.wrong(), NOTHING);
        repository.commit(TUESDAY, "core 400\n", "Remove");
        assert_eq!(repository.wrong(), NOTHING);
    }

    #[test]
    fn the_last_change_is_compared_on_the_main_branch() {
        let repository = Repository::new();
        repository.commit(MONDAY, "core 1200\n", "Add without a reason");
        repository.git(&["commit", "--quiet", "--allow-empty", "--message", "Other"]);
        assert_eq!(repository.wrong(), [ROSE]);
        repository.publish();
        assert_eq!(repository.wrong(), [ROSE]);
    }

    #[test]
    fn a_new_room_needs_a_trailer_too() {
        let repository = Repository::new();
        repository.commit(MONDAY, "core 1000\ntools/new 300\n", "Add a tool");
        assert!(repository.wrong()[0].contains("`Budget: +300 tools/new because REASON`"));
    }

    #[test]
    fn a_lid_rises_once_a_day() {
        let repository = Repository::new();
        repository.publish();
        repository.commit(MONDAY, "core 1100\n", "Add\n\nBudget: +100 core because of a");
        repository.publish();
        repository.commit(MONDAY, "core 1200\n", "Add\n\nBudget: +100 core because of b");
        assert_eq!(repository.wrong(), ["core: the lid rose more than once on 2026-03-02"]);
        repository.publish();
        repository.commit(TUESDAY, "core 1300\n", "Add\n\nBudget: +100 core because of c");
        assert_eq!(repository.wrong(), NOTHING);
    }

    #[test]
    fn a_trailer_has_a_reason() {
        let repository = Repository::new();
        repository.commit(MONDAY, "core 1200\n", "Add\n\nBudget: +200 core");
        let wrong = repository.wrong();
        assert_eq!(wrong[0], ROSE);
        assert!(wrong[1].ends_with("expected `Budget: +N ROOM because REASON`: +200 core"));
    }

    #[test]
    fn without_earlier_lids_nothing_is_compared() {
        let repository = Repository::new();
        assert!(repository.check().expect_err("no lids").starts_with("there were none at "));
        repository.commit(MONDAY, "core 1200\n", "Add without a reason");
        let shallow = TempDir::new().expect("a folder");
        let source = format!("file://{}", repository.0.path().display());
        let folder = shallow.path().to_str().expect("a path");
        repository.git(&["clone", "--quiet", "--depth", "1", &source, folder]);
        let shallow = Repository(shallow);
        assert_eq!(
            shallow.check().expect_err("no history"),
            "this clone has no commit before the last change"
        );
    }
}
