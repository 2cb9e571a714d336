//! Checks before overwriting a block device.

use super::{Device, DeviceError, btrfs_folder, listed_in};
use crate::child::answer;
use crate::{mounts, sysfs};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Signatures lie this close to either end of a device, or a known distance behind them.
const ENDS_BYTES: u64 = 1 << 20;

/// The reason why a block device must not be overwritten, in words that follow its name; `None`: no
/// use of it was found.
///
/// It or a part of it is mounted, is swap, is held by another device, has partitions or is open
/// exclusively. Or it bears the signature of a file system, of a member of an array or of a
/// partition table.
///
/// This is a look, not a claim: who then writes opens the device with `O_EXCL`.
///
/// # Errors
/// When the path is not a block device, or the device or what the kernel says of it cannot be read.
pub fn in_use(path: &Path) -> Result<Option<String>, DeviceError> {
    path.metadata().map_err(unreadable(path, "inspect it"))?;
    let device = Device::at(path)
        .ok_or_else(|| DeviceError(format!("{} is not a block device", path.display())))?;
    let partitions = partitions(device);
    for (part, subject) in parts(device, &partitions) {
        if let Some(use_of_it) = use_of(part)? {
            return Ok(Some(format!("{subject} {use_of_it}")));
        }
    }
    if !partitions.is_empty() {
        let names: Vec<String> = partitions.into_iter().map(Device::name).collect();
        return Ok(Some(format!("it has partitions: {}", names.join(", "))));
    }
    let file = match OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            return Ok(Some("it is open exclusively by a program or the kernel".into()));
        }
        opened => opened.map_err(unreadable(path, "open it"))?,
    };
    // A probe for signatures takes what it cannot read for empty.
    read_ends(&file).map_err(unreadable(path, "read its beginning and end"))?;
    Ok(signature(&BLKID, path))
}

/// Why a file that exists must not be overwritten, in words that follow its name: a loop device has
/// it as its content. `None`: nothing is known to use it.
///
/// # Errors
/// When the file cannot be looked at.
pub fn file_in_use(path: &Path) -> Result<Option<String>, DeviceError> {
    let file = path.metadata().map_err(unreadable(path, "inspect it"))?;
    let Some(name) = loop_devices(|backing: &Path| {
        backing.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (file.dev(), file.ino()))
    })
    .next() else {
        return Ok(None);
    };
    let mounted = Device::at(&Path::new("/dev").join(&name)).map(mounted).transpose()?.flatten();
    let mounted = mounted.map(|folder| format!(", which is mounted at {}", folder.display()));
    Ok(Some(format!("it is the content of {name}{}", mounted.unwrap_or_default())))
}

fn unreadable(path: &Path, action: &str) -> impl Fn(io::Error) -> DeviceError {
    move |error| {
        let path = path.display();
        let unknown = "the content of the device is unknown";
        DeviceError(format!("{path}: cannot {action}: {error}; {unknown}"))
    }
}

/// Devices to check, with the start of a sentence about each.
fn parts(device: Device, partitions: &[Device]) -> Vec<(Device, String)> {
    let mut parts = vec![(device, "it".to_owned())];
    if device.is_partition() {
        let disk = device.whole();
        parts.push((disk, format!("its disk {}", disk.name())));
    }
    parts.extend(partitions.iter().map(|part| (*part, format!("its partition {}", part.name()))));
    parts
}

fn partitions(device: Device) -> Vec<Device> {
    let mut parts = listed_in(&device.folder());
    parts.retain(|part| part.is_partition());
    parts.sort_unstable();
    parts
}

/// `is mounted at /mnt`, `is used as swap`, `is held by md0`.
fn use_of(device: Device) -> Result<Option<String>, DeviceError> {
    if let Some(folder) = mounted(device)? {
        return Ok(Some(format!("is mounted at {}", folder.display())));
    }
    if is_swap(device)? {
        return Ok(Some("is used as swap".into()));
    }
    // Arrays, logical volumes, encrypted devices. Loop devices do not hold what is behind them.
    let mut holders = sysfs::names(&device.folder().join("holders"));
    holders.extend(loop_devices(|file| Device::at(file) == Some(device)));
    Ok((!holders.is_empty()).then(|| format!("is held by {}", holders.join(", "))))
}

/// Where the device is mounted. A btrfs has a number of its own and names one of its devices.
fn mounted(device: Device) -> Result<Option<PathBuf>, DeviceError> {
    let mounts =
        mounts::all().map_err(unreadable(Path::new("/proc/self/mountinfo"), "read the mounts"))?;
    let number = device.to_string();
    let members = btrfs_folder(device).map(|(_, members)| members).unwrap_or_default();
    Ok(mounts
        .iter()
        .find(|mount| {
            let named = Device::at(Path::new(&mount.source));
            mount.number == number
                || named.is_some_and(|named| named == device || members.contains(&named))
        })
        .map(|mount| mount.folder.clone()))
}

fn is_swap(device: Device) -> Result<bool, DeviceError> {
    let path = Path::new("/proc/swaps");
    let text = match std::fs::read_to_string(path) {
        // A kernel without swap has no list of it.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        text => text.map_err(unreadable(path, "read the swap areas"))?,
    };
    Ok(swap_areas(&text).any(|area| Device::at(&area) == Some(device)))
}

/// The paths in `/proc/swaps` (proc(5)).
fn swap_areas(text: &str) -> impl Iterator<Item = PathBuf> {
    let names = text.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next());
    names.map(|name| mounts::unescape(name).into())
}

/// The loop devices whose file is this one, or this device.
fn loop_devices(is_it: impl Fn(&Path) -> bool) -> impl Iterator<Item = String> {
    let disks = Path::new("/sys/block");
    sysfs::names(disks).into_iter().filter(move |name| {
        let file = sysfs::text(disks.join(name).join("loop/backing_file"));
        file.is_some_and(|file| is_it(Path::new(&file)))
    })
}

fn read_ends(mut file: &File) -> io::Result<()> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut buffer = vec![0; ENDS_BYTES.min(size) as usize];
    file.read_exact_at(&mut buffer, 0)?;
    let last = size - buffer.len() as u64;
    file.read_exact_at(&mut buffer, last)
}

/// The program of util-linux that finds signatures of file systems, arrays and tables of
/// partitions, and where it is for users whose search path has no programs for administrators. It
/// knows some hundred signatures; a list of our own would always lag behind.
const BLKID: [&str; 3] = ["blkid", "/usr/sbin/blkid", "/sbin/blkid"];
/// Exit codes, from blkid(8).
const FOUND: i32 = 0;
const NOTHING_FOUND: i32 = 2;
const AMBIVALENT: i32 = 8;

/// Describes the content of a device, in words that follow its name; `None` without a known
/// signature. Returns the reason if it cannot be read.
fn signature(programs: &[&str], path: &Path) -> Option<String> {
    let output = match probe(programs, path) {
        Ok(output) => output,
        Err(error) => {
            return Some(format!(
                "cannot be checked for signatures: cannot run blkid: {error}; install util-linux"
            ));
        }
    };
    let found = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(NOTHING_FOUND) if found.trim().is_empty() => None,
        Some(FOUND) => described(&found),
        Some(AMBIVALENT) => Some("it has contradictory signatures (see wipefs)".into()),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Some(format!(
                "cannot be checked for signatures: blkid: {} {}",
                output.status,
                errors.trim()
            ))
        }
    }
}

fn probe(programs: &[&str], path: &Path) -> io::Result<Output> {
    // An absolute path is never taken for an option.
    let path = path.canonicalize()?;
    for program in programs {
        // Probing reads the device itself; without it blkid would answer from its cache.
        match answer(Command::new(program).args(["--probe", "--output", "export"]).arg(&path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => return other,
        }
    }
    Err(io::Error::new(ErrorKind::NotFound, "it is not installed"))
}

/// Lines are `KEY=value`. The entry of a partition in its disk's table says nothing of its content.
fn described(found: &str) -> Option<String> {
    let pairs = found.lines().filter_map(|line| line.split_once('='));
    let pairs: Vec<(&str, &str)> =
        pairs.filter(|(key, _)| *key != "DEVNAME" && !key.starts_with("PART_ENTRY_")).collect();
    let value = |key: &str| pairs.iter().find(|(found, _)| *found == key).map(|(_, value)| *value);
    if pairs.is_empty() {
        return None;
    }
    let label = value("LABEL").map(|label| format!(", label {label}")).unwrap_or_default();
    Some(match (value("TYPE"), value("PTTYPE")) {
        (Some(kind), _) => format!("it has the signature of {kind}{label}"),
        (None, Some(table)) => format!("it has a partition table ({table})"),
        (None, None) => format!("it has a signature: {}={}", pairs[0].0, pairs[0].1),
    })
}

#[cfg(test)]
mod tests {
    use super::{Path, described, in_use, signature, swap_areas};

    #[test]
    fn reads_the_list_of_swap_areas() {
        let text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                    /dev/vda2                               partition\t1\t0\t-2\n\
                    /my\\040swap/file                       file\t\t1\t0\t-3\n";
        let areas: Vec<_> = swap_areas(text).collect();
        assert_eq!(areas, [Path::new("/dev/vda2"), Path::new("/my swap/file")]);
        assert_eq!(swap_areas("Filename Type\n").count(), 0);
    }

    #[test]
    fn only_block_devices_are_answered_for() {
        for path in ["/dev/null", "/", "/proc/self/stat"] {
            let message = in_use(Path::new(path)).unwrap_err().to_string();
            assert_eq!(message, format!("{path} is not a block device"));
        }
        let message = in_use(Path::new("/no/such/device")).unwrap_err().to_string();
        assert!(
            message.starts_with("/no/such/device: cannot inspect it: No such file"),
            "{message}"
        );
    }

    #[test]
    fn what_cannot_be_probed_is_not_taken_for_empty() {
        let absent =
            signature(&["no-such-program", "/no/such/blkid"], Path::new("/dev/null")).unwrap();
        assert!(absent.contains("it is not installed; install util-linux"), "{absent}");
        // A program that fails without a word.
        let failed = signature(&["false"], Path::new("/dev/null")).unwrap();
        assert!(
            failed.starts_with("cannot be checked for signatures: blkid: exit status: 1"),
            "{failed}"
        );
    }

    #[test]
    fn says_what_blkid_has_found() {
        let ext4 = "DEVNAME=/dev/loop0\nLABEL=my\\ \
                    data\nUUID=0-1\nBLOCK_SIZE=4096\nTYPE=ext4\nUSAGE=filesystem\n";
        assert_eq!(described(ext4).unwrap(), "it has the signature of ext4, label my\\ data");
        assert_eq!(
            described("DEVNAME=/dev/loop0\nPTUUID=1\nPTTYPE=gpt\n").unwrap(),
            "it has a partition table (gpt)"
        );
        assert_eq!(
            described("DEVNAME=/dev/x\nNEW=thing\n").unwrap(),
            "it has a signature: NEW=thing"
        );
    }

    #[test]
    fn an_empty_partition_bears_none() {
        let empty = "DEVNAME=/dev/loop0p1\nPART_ENTRY_SCHEME=dos\nPART_ENTRY_TYPE=0x83\n\
                     PART_ENTRY_NUMBER=1\n";
        assert_eq!(described(empty), None);
    }
}
