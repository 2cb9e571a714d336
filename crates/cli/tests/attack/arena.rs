//! The points of attack on the program: tries with seeds, limits for each command, and what must
//! hold after it.

use crate::common::Lab;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The first seed of a campaign that names none.
const SEED: u64 = 1;
/// Failures that are printed in full.
const FAILURES_SHOWN: usize = 3;
/// Nothing that is printed is longer.
const OUTPUT_BYTES_MAX: u64 = 4 << 20;

/// Random source of a try.
pub struct Random {
    seed: u64,
    numbers: Xoshiro256PlusPlus,
}

impl Random {
    fn of_seed(seed: u64) -> Self {
        Self { seed, numbers: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// A number below this one.
    pub fn below(&mut self, end: usize) -> usize {
        (self.numbers.next_u64() % end.max(1) as u64) as usize
    }

    /// Another choice in each try, until all had their turn.
    pub fn in_turn<'a, T>(&self, choices: &'a [T]) -> &'a T {
        &choices[(self.seed % choices.len() as u64) as usize]
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Replaces, repeats, removes or moves bytes, and puts in some of these pieces.
    pub fn mutate(&mut self, bytes: &[u8], pieces: &[&[u8]]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let start = self.below(bytes.len());
            let length = self.below(30).min(bytes.len() - start) * self.below(2);
            let piece = match self.below(5) {
                0 => Vec::new(),
                1 => {
                    let other = self.below(bytes.len());
                    bytes[other..(other + 30).min(bytes.len())].to_vec()
                }
                2 => (0..=self.below(8)).map(|_| self.below(256) as u8).collect(),
                _ => self.pick(pieces).to_vec(),
            };
            bytes.splice(start..start + length, piece);
        }
        bytes
    }
}

/// The number of tries of a kind: in the gate, and in the full campaign.
#[derive(Clone, Copy)]
pub struct Tries {
    pub short: u64,
    pub full: u64,
}

impl Tries {
    /// Part of the full campaign that runs with all tests.
    const PART: u64 = 20;

    fn with_tests(self) -> u64 {
        if testing::lane::is_all() { self.short.max(self.full / Self::PART) } else { self.short }
    }
}

/// Begins when the first kind has begun.
static CAMPAIGN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The tries of a kind, or the number in `STEELBENCH_ATTACK_TRIES`; prints their count, failures,
/// seconds and failed seeds.
pub fn campaign(
    kind: &str,
    tries: Tries,
    mut attempt: impl FnMut(&mut Random) -> Result<(), String>,
) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let is_full = std::env::var("STEELBENCH_ATTACK_TRIES").is_ok_and(|text| text == "full");
    let seed = number("STEELBENCH_ATTACK_SEED").unwrap_or(SEED);
    let usual = if is_full { tries.full } else { tries.with_tests() };
    let planned = number("STEELBENCH_ATTACK_TRIES").unwrap_or(usual);
    let seconds = number("STEELBENCH_ATTACK_SECONDS").map(Duration::from_secs);
    let (begun, mut failures, mut tries) = (Instant::now(), Vec::new(), 0_u64);
    for seed in seed..seed.saturating_add(planned) {
        if seconds.is_some_and(|seconds| CAMPAIGN.elapsed() > seconds) {
            break;
        }
        tries += 1;
        if let Err(why) = attempt(&mut Random::of_seed(seed)) {
            failures.push((seed, why));
        }
    }
    let seeds: Vec<String> = failures.iter().map(|(seed, _)| seed.to_string()).collect();
    let elapsed_s = begun.elapsed().as_secs();
    println!("ATTACK {kind} {tries} {planned} {} {elapsed_s} {}", failures.len(), seeds.join(","));
    for (seed, why) in failures.iter().take(FAILURES_SHOWN) {
        println!("{kind}, seed {seed}: {why}");
    }
    assert!(
        failures.is_empty(),
        "{} of {tries} tries failed: seeds {}",
        failures.len(),
        seeds.join(", ")
    );
}

/// Limits of a command.
#[derive(Clone, Copy)]
pub struct Limits {
    pub time: Duration,
    /// Address space.
    pub bytes: u64,
    pub files: u64,
    /// Processes and threads, which only others than root are held to: `Lab::unprivileged`.
    pub threads: Option<u64>,
}

pub const USUAL: Limits =
    Limits { time: Duration::from_secs(60), bytes: 2 << 30, files: 1024, threads: None };

/// Where Steelbench records changed settings of servers.
const RECORDS: &str = "state/steelbench/servers";

/// A lab, surrounded by files that Steelbench must not touch.
pub struct Arena {
    pub lab: Lab,
    around: BTreeMap<PathBuf, Trace>,
}

/// Traces of changes to a file.
type Trace = (u64, i64, u64, Vec<u8>);

/// The end of a command.
#[derive(Debug)]
pub struct Exit {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Arena {
    pub fn new() -> Self {
        let lab = Lab::new();
        for folder in ["inside", "victim/sub", RECORDS] {
            std::fs::create_dir_all(lab.path(folder)).unwrap();
        }
        for file in ["victim/salaries.csv", "victim/sub/notes.html", "salaries.xlsx"] {
            lab.write(file, "not yours");
        }
        // Accounts of servers, and users without rights, reach it.
        for folder in ["", "inside"] {
            std::fs::set_permissions(lab.path(folder), std::fs::Permissions::from_mode(0o755))
                .unwrap();
        }
        let mut arena = Self { lab, around: BTreeMap::new() };
        arena.around = arena.look_around();
        arena
    }

    /// A path in the folder in which commands run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.lab.path("inside").join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn look_around(&self) -> BTreeMap<PathBuf, Trace> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.lab.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                if ["inside", RECORDS].iter().any(|text| entry.path() == self.lab.path(text)) {
                    continue;
                }
                let metadata = entry.path().symlink_metadata().unwrap();
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
                found.insert(entry.path(), trace(&entry.path(), &metadata));
            }
        }
        found
    }

    /// Runs the program within limits.
    pub fn run(&self, arguments: &[&str], limits: Limits) -> Result<Exit, String> {
        self.run_command(self.lab.command(arguments), limits)
    }

    pub fn run_command(&self, mut command: Command, limits: Limits) -> Result<Exit, String> {
        let printed = tempfile::tempdir().unwrap();
        let [out, err] = ["out", "err"].map(|name| printed.path().join(name));
        command.current_dir(self.lab.path("inside"));
        // Memory that runs out while the standard library prints a backtrace has it wait for
        // itself.
        command.env("RUST_BACKTRACE", "0");
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        // SAFETY: between fork and exec system calls alone are made.
        unsafe { command.pre_exec(move || limits.hold()) };
        let mut child = command.spawn().unwrap();
        let ended = end_within(&mut child, limits.time);
        let status = ended.ok_or_else(|| format!("{command:?}: hangs"))?;
        let bytes = out.metadata().unwrap().len() + err.metadata().unwrap().len();
        if bytes > OUTPUT_BYTES_MAX {
            return Err(format!("{command:?}: prints {bytes} bytes"));
        }
        let outcome = Exit {
            status,
            stdout: std::fs::read(out).unwrap(),
            stderr: std::fs::read(err).unwrap(),
        };
        outcome.is_sound().map_err(|why| format!("{command:?}: {why}"))?;
        Ok(outcome)
    }

    /// Nothing outside was touched, and no work folder is left.
    pub fn is_clean(&self) -> Result<(), String> {
        let around = self.look_around();
        if around != self.around {
            let changed =
                around.iter().filter(|(path, trace)| self.around.get(*path) != Some(trace));
            let changed: Vec<&PathBuf> = changed.map(|(path, _)| path).collect();
            return Err(format!("writes outside: {changed:?}"));
        }
        let left = self.lab.work_folders();
        if left.is_empty() { Ok(()) } else { Err(format!("leaves {left:?}")) }
    }
}

fn trace(path: &Path, metadata: &Metadata) -> Trace {
    let content =
        if metadata.is_file() { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    let changed = if metadata.is_file() { metadata.mtime_nsec() } else { 0 };
    (metadata.ino(), changed, metadata.mode().into(), content)
}

/// Waits for a process to end; kills one that takes longer, and returns `None`.
pub fn end_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if begun.elapsed() > time {
            let _ = child.kill().and_then(|()| child.wait().map(drop));
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Limits {
    fn hold(&self) -> std::io::Result<()> {
        let hold = |resource, most: u64| {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            // SAFETY: a system call with a pointer to a structure that lives.
            let done = unsafe { libc::setrlimit(resource, &raw const limit) } == 0;
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        hold(libc::RLIMIT_AS, self.bytes)?;
        hold(libc::RLIMIT_NOFILE, self.files)?;
        hold(libc::RLIMIT_CORE, 0)?;
        if let Some(threads) = self.threads {
            hold(libc::RLIMIT_NPROC, threads)?;
        }
        Ok(())
    }
}

impl Exit {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&[self.stdout.as_slice(), b"\n", self.stderr.as_slice()].concat())
            .into_owned()
    }

    /// Compares its end and its output with what they may be.
    fn is_sound(&self) -> Result<(), String> {
        let text = self.text();
        let end = || {
            text.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect::<String>()
        };
        if let Some(signal) = self.status.signal() {
            return Err(format!("ends by signal {signal}: {}", end()));
        }
        // Memory for something small that the C library, Rust, or the start of one of its threads
        // cannot have is the one reason to stop at once, with a panic of the standard
        // library perhaps.
        let messages =
            ["memory allocation of", "out of memory", "failed to allocate an alternative stack"];
        let is_memory = messages.iter().any(|part| text.contains(part));
        if text.contains("panicked at") && !is_memory {
            return Err(format!("panics: {}", end()));
        }
        if text.contains("stopped immediately") && !is_memory {
            return Err(format!("aborts: {}", end()));
        }
        if !matches!(self.status.code(), Some(0..=3 | 130)) {
            return Err(format!("ends with {}: {}", self.status, end()));
        }
        let commands = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c,
                    '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        match text.chars().find(|c| commands(*c)) {
            Some(c) => Err(format!("sends {c:?} to the terminal: {:?}", around(&text, c))),
            None => Ok(()),
        }
    }
}

fn around(text: &str, c: char) -> String {
    let at = text.chars().position(|other| other == c).unwrap_or(0);
    text.chars().skip(at.saturating_sub(60)).take(120).collect()
}
