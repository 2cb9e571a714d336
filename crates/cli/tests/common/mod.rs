//! A folder of its own for each test, in which the built binary runs.

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::fs::{File, Permissions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Nothing that a test waits for takes this long, on the slowest machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// No command of a test takes this long, on the slowest machine.
const LONGEST: Duration = Duration::from_secs(900);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// A user without rights.
pub const NOBODY: u32 = 65534;

pub struct Lab {
    folder: TempDir,
}

/// The end of a command.
#[derive(Debug)]
pub struct Exit {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Lab {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with an experiment file.
    pub fn with(file: &str) -> Self {
        let lab = Self::new();
        lab.write("e.toml", file);
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steelbench"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        at_home(&mut command, self.folder.path());
        command
    }

    /// Runs the command as a user without write permission in private folders; root may write
    /// anywhere. The binary is executed by its descriptor, because this user may not enter its
    /// folder. A copy would not do: if one thread has it open for writing while another forks,
    /// executing it fails (`ETXTBSY`).
    pub fn unprivileged(&self, arguments: &[&str]) -> Command {
        std::fs::set_permissions(self.path(""), Permissions::from_mode(0o755)).unwrap();
        let program = File::open(env!("CARGO_BIN_EXE_steelbench")).unwrap();
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command
            .arg0("steelbench")
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        // SAFETY: between fork and exec a system call alone is made, on a file that the command so
        // keeps open.
        unsafe { command.pre_exec(move || program.metadata().map(drop)) };
        at_home(&mut command, self.folder.path());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Runs a command to its end, which has to come.
    #[track_caller]
    pub fn steelbench(&self, arguments: &[&str]) -> Exit {
        let mut child =
            self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let printed = (read_all(child.stdout.take()), read_all(child.stderr.take()));
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() < LONGEST => std::thread::sleep(LOOK_EVERY),
                None => {
                    let _ = child.kill();
                    panic!("steelbench {arguments:?} never ends");
                }
            }
        };
        let held = "a process that the command has left holds its output open";
        let text = |receiver: &Receiver<String>| receiver.recv_timeout(PATIENCE).expect(held);
        Exit { code: status.code(), stdout: text(&printed.0), stderr: text(&printed.1) }
    }

    /// `run e.toml`, which has to end with this code.
    pub fn run(&self, code: i32) -> Exit {
        self.run_with(&[], code)
    }

    /// Runs the experiment and prints every section.
    pub fn run_with(&self, arguments: &[&str], code: i32) -> Exit {
        let ended = self.steelbench(&[&["run", "e.toml", "--full"], arguments].concat());
        ended.expect(code)
    }

    /// Starts `run e.toml` and does not wait for it. It is killed when the test ends before.
    pub fn start(&self) -> Child {
        self.start_with(&["run", "e.toml"])
    }

    /// Starts any command.
    pub fn start_with(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        // SAFETY: between fork and exec a system call alone is made.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let ended = self.steelbench(&[arguments, &["--json"]].concat());
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The results file of an experiment, opened by another SQLite than the program's own code.
    pub fn results(&self, name: &str) -> Connection {
        let path = self.path(&format!("results/{name}.steelbench"));
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
    }

    /// The rows of a query over the results file, columns joined by `|`.
    pub fn rows(&self, name: &str, sql: &str) -> Vec<String> {
        let connection = self.results(name);
        connection.busy_timeout(PATIENCE).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            (0..columns).map(|column| row.get::<_, rusqlite::types::Value>(column)).collect()
        };
        let rows: Vec<Vec<rusqlite::types::Value>> =
            statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap();
        rows.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>().join("|")).collect()
    }

    /// The output of `show` for a run on the scripted engine, without its date and without what it
    /// says of the machine.
    pub fn shown(&self, name: &str) -> String {
        let printed = self.steelbench(&["show", name, "--full"]).expect(0).stdout;
        let of_machine = ["Devices\n", "Environment\n"];
        let parts = printed
            .split("\n\n")
            .filter(|part| of_machine.iter().all(|title| !part.starts_with(title)));
        let parts: Vec<_> = parts
            .map(|part| match (part.find("Run 1, "), part.find(" UTC; ")) {
                (Some(date), Some(rest)) => part[..date].to_owned() + &part[rest + 6..],
                _ => part.to_owned(),
            })
            .collect();
        parts.join("\n\n")
    }

    /// Number of recorded trials; 0 while there is no results file, or nothing in it yet.
    pub fn trials(&self, name: &str) -> usize {
        let path = self.path(&format!("results/{name}.steelbench"));
        if !path.exists() {
            return 0;
        }
        let connection =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        connection.busy_timeout(PATIENCE).unwrap();
        match connection.query_row("SELECT count(*) FROM trials", [], |row| row.get::<_, i64>(0)) {
            Ok(count) => count as usize,
            Err(error) if error.to_string().contains("no such table") => 0,
            Err(error) => panic!("{error}"),
        }
    }

    /// Folders that trials work in, or have left.
    pub fn work_folders(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("steelbench-trial-") || name == "t.steelbench.work" {
                    found.push(entry.path());
                } else if entry.path().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    }
}

/// Nothing of the user is read or written: what is cached is shared by the tests, all else is in
/// this folder.
pub fn at_home<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
    command
        .env("HOME", folder)
        .env("XDG_CACHE_HOME", cache)
        .env("XDG_STATE_HOME", folder.join("state"))
}

fn shown(value: &rusqlite::types::Value) -> String {
    use rusqlite::types::Value::{Blob, Integer, Null, Real, Text};
    match value {
        Null => "null".into(),
        Integer(number) => number.to_string(),
        // Nine digits: more than a figure means, fewer than its rounding errors.
        Real(number) => format!("{number:.9}").trim_end_matches('0').trim_end_matches('.').into(),
        Text(text) => text.clone(),
        Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

impl From<Output> for Exit {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Exit {
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Asserts that the errors contain this.
    #[track_caller]
    pub fn says(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "{part:?} is not in {self:#?}");
        self
    }

    /// Asserts that the output contains this.
    #[track_caller]
    pub fn shows(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "{part:?} is not in {self:#?}");
        self
    }
}

/// Returns whether we are root.
pub fn is_root() -> bool {
    // SAFETY: asks for our own user number and has no preconditions.
    unsafe { libc::geteuid() == 0 }
}

/// Waits until something is true that another process brings about.
#[track_caller]
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: the process is our child and was not waited for, so that its number is its own.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
}

/// Waits for a process that was started with [`Lab::start`]. One that does not end is killed.
#[track_caller]
pub fn end(mut child: Child) -> Exit {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("the process never ends: {:#?}", Exit::from(child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap().into()
}

/// Reads to the end on a thread of its own.
fn read_all(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        stream.unwrap().read_to_string(&mut text).unwrap();
        let _ = sender.send(text);
    });
    receiver
}

/// Waits for what another thread reports, while this process runs.
#[track_caller]
pub fn hear<T>(receiver: &Receiver<T>, child: &mut Child) -> T {
    let begun = Instant::now();
    loop {
        if let Ok(report) = receiver.recv_timeout(Duration::from_millis(20)) {
            return report;
        }
        let status = child.try_wait().unwrap();
        assert!(status.is_none(), "the process ended before: {status:?}");
        assert!(begun.elapsed() < PATIENCE, "nothing was reported");
    }
}

/// The command with no more than 1 GiB of memory.
pub fn limited_memory(command: &mut Command) -> &mut Command {
    limited_memory_to(command, 1 << 30)
}

/// Limits a command's memory to these bytes.
pub fn limited_memory_to(command: &mut Command, bytes: u64) -> &mut Command {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: between fork and exec a system call alone is made.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    }
}

/// Returns a lock on the machine's control groups, exclusive across test executables. A run that
/// throttles removes the groups that killed runs left, also those of other tests.
pub fn alone_with_control_groups() -> File {
    let lock = File::open("/sys/fs").unwrap();
    lock.lock().unwrap();
    lock
}

const SCREEN_COLUMNS: usize = 80;
const SCREEN_LINES: usize = 40;

/// Returns the default output of a command on a terminal of this width: it fits a screen.
pub fn on_screen(lab: &Lab, arguments: &[&str]) -> String {
    let mut command = lab.command(arguments);
    let output = command.env("COLUMNS", SCREEN_COLUMNS.to_string()).output().unwrap();
    let ended = Exit::from(output).expect(0);
    assert!(ended.stdout.lines().count() <= SCREEN_LINES, "{ended:#?}");
    assert!(ended.stdout.lines().all(|line| line.chars().count() <= SCREEN_COLUMNS), "{ended:#?}");
    ended.stdout
}

/// Says that a check was left out; `xtask test` collects these lines.
#[allow(clippy::print_stdout, reason = "a test speaks on its standard output")]
pub fn skipped(reason: &str) {
    println!("SKIPPED: {reason}");
}

/// An experiment on the scripted engine: two configurations, `more` is added at the end.
pub fn scripted(blocks: u32, target: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"null\"\n{target}\n[workload]\nprobe = \
         \"insert\"\nconnections = 1\nrows = 10\nrows_per_transaction = \
         1\n[factors]\n\"target.data_files\" = [1, 2]\n[repeats]\nblocks = {blocks}\n{more}"
    )
}

/// A file system in memory; unmounted when dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// At a folder that is there, with options of mount such as `size=80m`; `None`, with a word
    /// about it, where we may not mount.
    pub fn mount(path: PathBuf, options: &str) -> Option<Self> {
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "none"])
            .arg(&path)
            .output()
            .unwrap();
        if !output.status.success() {
            skipped(&format!(
                "mounting a small disk: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
            return None;
        }
        Some(Self(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
