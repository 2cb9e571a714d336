use disk_io::{
    Access, Arrivals, BlockSize, DiskError, Durability, Group, Load, Outcome, Region, Stream, run,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use work::conductor::{Director, LOOK_EVERY, LoadProgress};

pub const MIB: u64 = 1 << 20;

/// A folder on a disk, where direct I/O works (a temporary folder may be in memory).
pub fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A file of this length, of zeros that are written, not left out.
pub fn file(folder: &TempDir, name: &str, length: u64) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, vec![0; length as usize]).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    path
}

pub fn whole(path: &Path, length: u64) -> Region {
    Region { path: path.into(), start: 0, length }
}

/// Direct random 8 KiB reads.
pub fn stream(regions: Vec<Region>) -> Stream {
    Stream {
        name: "data".into(),
        weight: 1,
        regions,
        access: Access::Random,
        read_percent: 100,
        block: BlockSize { min: 8 << 10, max: 8 << 10 },
        align: None,
        direct: true,
        durability: Durability::Never,
        arrivals: Arrivals::Closed,
        compress_percent: 0,
        bytes: None,
    }
}

/// A group of threads for each stream, 300 ms long.
pub fn load(threads: u32, queue_depth: u32, streams: Vec<Stream>) -> Load {
    Load {
        groups: streams
            .into_iter()
            .map(|stream| Group { threads, queue_depth, batch: 1, streams: vec![stream] })
            .collect(),
        backend: None,
        duration: Some(Duration::from_millis(300)),
        warmup: Duration::ZERO,
        interval: Duration::from_millis(100),
        seed: 7,
    }
}

pub fn go(load: &Load) -> Result<Outcome, DiskError> {
    run(load, &mut ())
}

/// A director of two functions: for the beginning of the measurement, and for each notification.
/// Each returns whether to continue.
pub struct Directions<G, L>(pub G, pub L);

impl<G: FnMut() -> bool, L: FnMut(LoadProgress) -> bool> Director for Directions<G, L> {
    fn go(&mut self) -> bool {
        (self.0)()
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        (self.1)(*now).then_some(LOOK_EVERY)
    }
}

/// Runs, and lets something happen on the way.
pub fn go_with(load: &Load, mut progress: impl FnMut(LoadProgress)) -> Result<Outcome, DiskError> {
    run(
        load,
        &mut Directions(
            || true,
            |now| {
                progress(now);
                true
            },
        ),
    )
}

/// Returns whether a command succeeds.
pub fn command(line: &str) -> bool {
    Command::new("sh").args(["-c", line]).output().is_ok_and(|output| output.status.success())
}

/// A block device of a file's contents.
pub struct LoopDevice {
    pub path: PathBuf,
}

impl LoopDevice {
    /// Returns `None`, with a message, where that is not permitted.
    pub fn on(file: &Path) -> Option<Self> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        match output {
            Ok(output) if output.status.success() => {
                Some(Self { path: String::from_utf8(output.stdout).unwrap().trim().into() })
            }
            _ => {
                println!("SKIPPED: no loop devices here (needs root and losetup)");
                None
            }
        }
    }

    /// The kernel's counters: reads, sectors read, writes, sectors written, flushes.
    pub fn counters(&self) -> [u64; 5] {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
        let all: Vec<u64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
        [all[0], all[2], all[4], all[6], all[15]]
    }

    /// Returns the increase of the counters.
    pub fn since(&self, before: [u64; 5]) -> [u64; 5] {
        let now = self.counters();
        std::array::from_fn(|i| now[i] - before[i])
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).output();
    }
}

/// A file system of its own on a loop device.
pub struct Mount {
    pub at: TempDir,
    _device: LoopDevice,
}

impl Mount {
    /// Returns `None`, with a message, where that is not possible.
    pub fn ext4(folder: &TempDir, bytes: u64) -> Option<Self> {
        let device = LoopDevice::on(&file(folder, "image", bytes))?;
        let at = self::folder();
        let (from, to) = (device.path.display(), at.path().display());
        if !command(&format!("mkfs.ext4 -q -O ^has_journal -m 0 {from} && mount {from} {to}")) {
            println!("SKIPPED: cannot make and mount ext4 here");
            return None;
        }
        Some(Self { at, _device: device })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let output = Command::new("umount").arg(self.at.path()).output().unwrap();
        if !std::thread::panicking() {
            // Nothing may hold on to a file when a run is over.
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
