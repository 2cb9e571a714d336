//! Loop devices for tests. They need root; without it tests say that they are skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command line; its output, or what it complained about.
pub(crate) fn shell(command: &str) -> Result<String, String> {
    // Its tools are not in every user's search path.
    let script = format!("PATH=$PATH:/usr/sbin:/sbin; {command}");
    let output =
        Command::new("sh").args(["-ec", &script]).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// A folder with loop devices on files in it, and what is mounted; all is undone when dropped.
pub(crate) struct LoopDevices {
    folder: tempfile::TempDir,
    /// `/dev/loop3`.
    pub(crate) devices: Vec<String>,
    mounts: Vec<PathBuf>,
}

impl LoopDevices {
    /// So many devices of this size; `None`, with a word about it, where there can be none.
    pub(crate) fn make(count: usize, mib: u32) -> Option<Self> {
        let mut made = Self {
            // Beside the sources: the folder for temporary files may be memory, which knows no
            // direct I/O.
            folder: tempfile::tempdir_in(".").unwrap(),
            devices: Vec::new(),
            mounts: Vec::new(),
        };
        for number in 0..count {
            let image = made.folder.path().join(format!("image{number}"));
            let make = format!(
                "truncate -s {mib}M {0} && losetup --partscan --find --show {0}",
                image.display()
            );
            match shell(&make) {
                Ok(device) => made.devices.push(device),
                Err(error) => {
                    println!("SKIPPED: needs root and loop devices: {error}");
                    return None;
                }
            }
        }
        Some(made)
    }

    /// Runs a command with the devices' names behind it; `None`, with a word about it, when its
    /// tool is absent.
    pub(crate) fn format(&self, command: &str) -> Option<()> {
        let tool = command.split(' ').next().unwrap();
        if let Err(error) = shell(&format!("command -v {tool}")) {
            println!("SKIPPED: needs {tool}: {error}");
            return None;
        }
        shell(&format!("{command} {} >&2", self.devices.join(" "))).unwrap();
        Some(())
    }

    /// Mounts a device with these options; `None`, with a word about it, where its file system is
    /// unknown.
    pub(crate) fn mount(&mut self, device: &str, options: &str) -> Option<PathBuf> {
        let folder =
            self.folder.path().canonicalize().unwrap().join(format!("mount{}", self.mounts.len()));
        std::fs::create_dir(&folder).unwrap();
        if let Err(error) = shell(&format!("mount -o {options} {device} {}", folder.display())) {
            println!("SKIPPED: cannot mount: {error}");
            return None;
        }
        self.mounts.push(folder.clone());
        Some(folder)
    }

    pub(crate) fn path(&self, device: usize) -> &Path {
        Path::new(&self.devices[device])
    }
}

impl Drop for LoopDevices {
    fn drop(&mut self) {
        for folder in &self.mounts {
            let _ = shell(&format!("umount {}", folder.display()));
        }
        for device in &self.devices {
            let _ = shell(&format!("losetup -d {device}"));
        }
    }
}
