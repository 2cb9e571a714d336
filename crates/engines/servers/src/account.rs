//! The account under which a server runs: PostgreSQL and MariaDB refuse to run as root.

use engine::{EngineError, Folders, Result, lock};
use observe::child::answer;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

/// Account of the server when root names none and the packages' account is missing.
const UNPRIVILEGED: &str = "nobody";

/// Folders for files of all users, those that outlast a restart first.
const SCRATCH: [&str; 2] = ["/var/tmp", "/tmp"];

/// Under whom server processes run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The name; empty for our own when it has none.
    pub name: String,
    uid: libc::uid_t,
    gid: libc::gid_t,
    /// All its groups, when processes have to change to it; `None`: it is our own.
    groups: Option<Vec<libc::gid_t>>,
}

impl Account {
    /// The account for private servers: the current user; for root `user`, or that of the server's
    /// `packages`, or `nobody`.
    pub fn for_server(user: Option<&str>, packages: &str) -> Result<Self> {
        // SAFETY: cannot fail.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        if uid != 0 {
            let name = process_user().unwrap_or_default();
            return match user {
                Some(user) if user != name => Err(EngineError::failed(
                    format!("target.user = {user}"),
                    format!(
                        "only root can run a server as another user, and Steelbench runs as \
                         {name}; remove this setting"
                    ),
                )),
                _ => Ok(Self { name, uid, gid, groups: None }),
            };
        }
        let found = match user {
            Some(user) => lookup(user).ok_or_else(|| {
                EngineError::failed(format!("target.user = {user}"), "this user does not exist")
            })?,
            None => [packages, UNPRIVILEGED].into_iter().find_map(lookup).ok_or_else(|| {
                EngineError::failed(
                    "choosing the server's user",
                    "no unprivileged user found; set target.user to a user other than root",
                )
            })?,
        };
        if found.uid == 0 {
            let message = "the server refuses to run as root; choose another user";
            return Err(EngineError::failed(format!("target.user = {}", found.name), message));
        }
        Ok(found)
    }

    /// Returns whether processes must change to it.
    pub fn is_other(&self) -> bool {
        self.groups.is_some()
    }

    /// Makes an empty folder that only it can use; fails when it is there already.
    pub fn make_folder(&self, path: &Path) -> Result<()> {
        DirBuilder::new().mode(0o700).create(path).map_err(EngineError::at(path))?;
        self.chown(path)
    }

    /// The number of its user.
    pub fn uid(&self) -> libc::uid_t {
        self.uid
    }

    /// Gives it a file, a folder or a link itself.
    pub fn chown(&self, path: &Path) -> Result<()> {
        if !self.is_other() {
            return Ok(());
        }
        lchown(path, Some(self.uid), Some(self.gid)).map_err(EngineError::at(path))
    }

    /// Gives it a folder with all it has.
    pub fn chown_below(&self, path: &Path) -> Result<()> {
        self.chown(path)?;
        if path.is_dir() && !path.is_symlink() {
            for entry in std::fs::read_dir(path).map_err(EngineError::at(path))? {
                self.chown_below(&entry.map_err(EngineError::at(path))?.path())?;
            }
        }
        Ok(())
    }

    /// Writes a file of its own, at once: a reader sees the one before or this one. In a folder
    /// that the account may change, links that it may have made are not followed.
    pub fn write(&self, path: &Path, text: &str) -> Result<()> {
        let unfinished = unfinished(path);
        let _ = std::fs::remove_file(&unfinished);
        let created = File::options().write(true).create_new(true).mode(0o600).open(&unfinished);
        let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(EngineError::at(&unfinished))?;
        self.chown(&unfinished)?;
        std::fs::rename(&unfinished, path).map_err(EngineError::at(path))
    }

    /// Lets a command change to the account before it becomes its program. Actions that were added
    /// with `pre_exec` earlier run with our own rights.
    pub fn enter(&self, command: &mut Command) {
        let Some(groups) = self.groups.clone() else { return };
        let (uid, gid) = (self.uid, self.gid);
        let enter = move || {
            // SAFETY: system calls; `groups` lives in the closure.
            let entered = unsafe {
                libc::setgroups(groups.len(), groups.as_ptr()) == 0
                    && libc::setgid(gid) == 0
                    && libc::setuid(uid) == 0
            };
            if entered { Ok(()) } else { Err(io::Error::last_os_error()) }
        };
        // SAFETY: only system calls between fork and exec; nothing is allocated or locked.
        unsafe { command.pre_exec(enter) };
    }

    /// Fails unless the account may enter a folder.
    pub fn can_enter(&self, folder: &Path) -> Result<()> {
        self.reach(folder, &["-x"], "enter")
    }

    /// Fails unless the account may enter the folder of a run and those of these volumes; of one
    /// that does not exist yet, the nearest above it.
    pub fn can_enter_all(
        &self,
        folders: &Folders,
        volumes: impl Iterator<Item = String>,
    ) -> Result<()> {
        let volumes: Vec<&PathBuf> =
            volumes.filter_map(|name| folders.volume(&name).ok()).collect();
        for folder in volumes.into_iter().chain([&folders.directory]) {
            let Some(folder) = folder.ancestors().find(|folder| folder.is_dir()) else { continue };
            self.can_enter(&folder.canonicalize().map_err(EngineError::at(folder))?)?;
        }
        Ok(())
    }

    /// Returns a folder for its files in place of one that it cannot enter: on the same file system
    /// if there is one.
    pub fn place_instead_of(&self, folder: &Path) -> Option<PathBuf> {
        let folder = folder.ancestors().find(|folder| folder.is_dir())?.canonicalize().ok()?;
        if self.can_enter(&folder).is_ok() {
            return None;
        }
        let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
        // The root folder is for the system's own.
        let above = folder.ancestors().skip(1).filter(|path| path.parent().is_some());
        let nearby =
            above.chain(SCRATCH.map(Path::new)).filter(|path| device(path) == device(&folder));
        let mut places = nearby.chain(SCRATCH.map(Path::new));
        places.find(|path| path.is_dir() && self.can_enter(path).is_ok()).map(Path::to_path_buf)
    }

    /// Fails unless the account may run a program.
    pub fn can_run(&self, program: &Path) -> Result<()> {
        self.reach(program, &["-r", "-x"], "run")
    }

    /// Asks the system, as the account, so that access lists and mount options count too.
    fn reach(&self, path: &Path, access: &[&str], verb: &str) -> Result<()> {
        let may = |which: &str, path: &Path| {
            let mut command = command(Path::new("test"));
            self.enter(&mut command);
            answer(command.arg(which).arg(path)).is_ok_and(|output| output.status.success())
        };
        if !self.is_other() || access.iter().all(|which| may(which, path)) {
            return Ok(());
        }
        // The uppermost folder that is in the way.
        let folders: Vec<&Path> = path.ancestors().skip(1).collect();
        let closed = folders.into_iter().rev().find(|folder| !may("-x", folder));
        let cure = match closed {
            Some(folder) => format!("run chmod o+x {}", folder.display()),
            None => "grant access to others with chmod".to_owned(),
        };
        Err(EngineError::failed(
            format!("user {} cannot {verb} {}", self.name, path.display()),
            format!(
                "the server runs as this user, who has no access to {}; {cure}, move the files, \
                 or set target.user to another user",
                closed.unwrap_or(path).display()
            ),
        ))
    }
}

/// Where a file or folder is made that is then renamed, so that what is there is complete.
pub fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Variables that a server may have from our environment: where programs and libraries are, and its
/// time zone. Others may be secrets, settings of PostgreSQL or folders that are closed to the
/// account.
const VARIABLES: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "TZ"];

/// A command for the account, with a clean environment.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    let known = VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    // The account may not be allowed in our folder.
    command.current_dir("/").stdin(Stdio::null()).env_clear().envs(known).env("LC_ALL", "C");
    command
}

/// The accounts that have been looked up: each trial needs one, and it takes three programs.
static FOUND: LazyLock<Mutex<HashMap<String, Account>>> = LazyLock::new(Mutex::default);

/// The account in the system's database of users.
fn lookup(name: &str) -> Option<Account> {
    if let Some(known) = lock(&FOUND).get(name) {
        return Some(known.clone());
    }
    let found = ask_for(name)?;
    lock(&FOUND).insert(name.into(), found.clone());
    Some(found)
}

fn ask_for(name: &str) -> Option<Account> {
    let numbers = |which: &str| -> Option<Vec<u32>> {
        let output = answer(Command::new("id").args([which, "--", name])).ok()?;
        let output = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
        output.split_whitespace().map(|number| number.parse().ok()).collect()
    };
    let first = |which: &str| numbers(which)?.first().copied();
    Some(Account { name: name.into(), uid: first("-u")?, gid: first("-g")?, groups: numbers("-G") })
}

/// The name of the user who runs us, from the system and not from a variable, as libpq does it.
pub fn process_user() -> Option<String> {
    let mut buffer = vec![0; 16 << 10];
    // SAFETY: all zeroes is a valid passwd: integers and null pointers.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: `entry`, `buffer` and `found` are valid for writing, and the buffer's length is
    // right.
    let status = unsafe {
        let user = libc::geteuid();
        libc::getpwuid_r(user, &raw mut entry, buffer.as_mut_ptr(), buffer.len(), &raw mut found)
    };
    if status != 0 || found.is_null() {
        return None;
    }
    // SAFETY: an entry that was found has a name, ended by a zero, inside `buffer`, which lives.
    let name = unsafe { CStr::from_ptr(entry.pw_name) };
    Some(name.to_str().ok()?.to_owned())
}
