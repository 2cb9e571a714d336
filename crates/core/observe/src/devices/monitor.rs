use super::{Device, devices_of};
use observations::{DeviceUse, VolumeNames};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Instant;

/// Sectors of the counters, regardless of the device's sectors (Documentation/block/stat.rst).
const SECTOR_BYTES: u64 = 512;
/// Fields of the counters since Linux 5.5; before 4.18 there were 11, before 5.5 15.
const FIELDS: usize = 17;
/// More than the fields take with all their digits.
const TEXT_BYTES: usize = 1024;

/// Watches what the block devices under volumes do, by the kernel's counters.
///
/// Looking for devices takes files and memory; [`start`](Self::start) and [`stop`](Self::stop) only
/// read, so that they can stand close to what is measured.
#[derive(Debug)]
pub struct DeviceMonitor {
    watched: Vec<DeviceStart>,
    started: Instant,
}

/// A device and its counters at the start.
#[derive(Debug)]
struct DeviceStart {
    volumes: VolumeNames,
    name: String,
    stat: File,
    start: Option<Counters>,
}

impl DeviceMonitor {
    /// Finds the devices under these volumes (name and path) and begins to watch them.
    ///
    /// Folders without a block device are left out. A device that carries several volumes is
    /// watched once, under all their names (`data, log`).
    pub fn find(volumes: &[(String, PathBuf)]) -> Self {
        let mut found: Vec<(Device, Vec<&str>)> = Vec::new();
        for (volume, path) in volumes {
            for device in devices_of(path).unwrap_or_default() {
                match found.iter_mut().find(|(known, _)| *known == device) {
                    Some((_, names)) if names.contains(&volume.as_str()) => {}
                    Some((_, names)) => names.push(volume),
                    None => found.push((device, vec![volume])),
                }
            }
        }
        let watched = found
            .into_iter()
            .filter_map(|(device, names)| DeviceStart::open(device, &names))
            .collect();
        let mut monitor = Self { watched, started: Instant::now() };
        monitor.start();
        monitor
    }

    /// Restarts the count: earlier I/O is not counted.
    pub fn start(&mut self) {
        self.started = Instant::now();
        for watched in &mut self.watched {
            watched.start = Counters::read(&watched.stat);
        }
    }

    /// Stops watching. A device that has vanished since the start is left out.
    pub fn stop(self) -> Vec<DeviceUse> {
        let ends: Vec<_> =
            self.watched.iter().map(|watched| Counters::read(&watched.stat)).collect();
        let elapsed_s = self.started.elapsed().as_secs_f64();
        let uses = self.watched.into_iter().zip(ends).filter_map(|(watched, end)| {
            let counted = end?.since(watched.start?);
            Some(DeviceUse { volume: watched.volumes, device: watched.name, elapsed_s, ..counted })
        });
        uses.collect()
    }
}

impl DeviceStart {
    fn open(device: Device, volumes: &[&str]) -> Option<Self> {
        let stat = File::open(device.folder().join("stat")).ok()?;
        Some(Self {
            volumes: volumes.iter().copied().collect(),
            name: device.name(),
            stat,
            start: None,
        })
    }
}

/// The counters of a device since it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters([u64; FIELDS]);

impl Counters {
    fn read(stat: &File) -> Option<Self> {
        let mut text = [0; TEXT_BYTES];
        let length = stat.read_at(&mut text, 0).ok()?;
        Self::parse(std::str::from_utf8(&text[..length]).ok()?)
    }

    /// Fields that an older kernel does not have are 0.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = [0; FIELDS];
        let mut read = 0;
        for (field, word) in fields.iter_mut().zip(text.split_ascii_whitespace()) {
            *field = word.parse().ok()?;
            read += 1;
        }
        (read >= 11).then_some(Self(fields))
    }

    /// Returns the difference of two readings.
    fn since(self, start: Self) -> DeviceUse {
        // The kernel's times have 32 bits and wrap at 49 days of I/O.
        let delta = |field: usize| self.0[field].saturating_sub(start.0[field]);
        let seconds = |field: usize| {
            f64::from((self.0[field] as u32).wrapping_sub(start.0[field] as u32)) / 1e3
        };
        DeviceUse {
            reads: delta(0),
            read_bytes: delta(2) * SECTOR_BYTES,
            read_s: seconds(3),
            writes: delta(4),
            write_bytes: delta(6) * SECTOR_BYTES,
            write_s: seconds(7),
            busy_s: seconds(9),
            queue_s: seconds(10),
            flushes: delta(15),
            flush_s: seconds(16),
            ..DeviceUse::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, DeviceMonitor, DeviceStart, Instant};
    use crate::devices::members_of;
    use crate::devices::test_devices::{LoopDevices, shell};

    #[test]
    fn a_device_that_vanishes_is_left_out() {
        let Some(disk) = LoopDevices::make(1, 16) else { return };
        let (device, part) = (&disk.devices[0], format!("{}p1", disk.devices[0]));
        shell(&format!("addpart {device} 1 2048 16384")).unwrap();
        let watch = |path: &str| {
            DeviceStart::open(members_of(path.as_ref()).unwrap()[0], &["data"]).unwrap()
        };
        let watched = vec![watch(device), watch(&part)];
        let mut monitor = DeviceMonitor { watched, started: Instant::now() };
        monitor.start();
        shell(&format!("delpart {device} 1")).unwrap();
        let names: Vec<String> = monitor.stop().into_iter().map(|used| used.device).collect();
        assert_eq!(names, [device.trim_start_matches("/dev/")]);
    }

    #[test]
    fn reads_the_fields_that_the_kernel_documents() {
        let start = "  100  5  2000  7  300  20  48000  90  1  80  97  0 0 0 0  3  40\n";
        let end = "  150  9  2800  27  400  25  64000  190  0  130  217  9 9 9 9  10  65\n";
        let counted = Counters::parse(end).unwrap().since(Counters::parse(start).unwrap());
        assert_eq!((counted.reads, counted.read_bytes), (50, 800 * 512));
        assert_eq!((counted.writes, counted.write_bytes), (100, 16_000 * 512));
        assert_eq!((counted.read_s, counted.write_s, counted.flush_s), (0.02, 0.1, 0.025));
        assert_eq!((counted.busy_s, counted.queue_s, counted.flushes), (0.05, 0.12, 7));
    }

    #[test]
    fn older_kernels_count_no_flushes() {
        let old = Counters::parse("1 0 8 1 2 0 16 1 0 1 2").unwrap();
        assert_eq!(old.since(Counters([0; super::FIELDS])).flushes, 0);
        assert_eq!(Counters::parse("1 2 3"), None);
        assert_eq!(Counters::parse("not a number of I/Os, nor ten more words of it at all"), None);
    }

    #[test]
    fn times_that_begin_anew_go_on() {
        let start = Counters::parse("0 0 0 4294967290 0 0 0 0 0 0 0").unwrap();
        let end = Counters::parse("1 0 8 4 0 0 0 0 0 0 0").unwrap();
        assert!((end.since(start).read_s - 0.01).abs() < 1e-12);
    }
}
