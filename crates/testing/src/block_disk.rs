//! Small file systems in image files, mounted by a loop device.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system; unmounted when dropped.
pub struct BlockDisk {
    folder: PathBuf,
}

/// The file system could not be made for a reason other than the rights of this process.
#[derive(Debug)]
pub struct NotMade(pub String);

impl From<NotMade> for String {
    fn from(error: NotMade) -> Self {
        error.0
    }
}

impl BlockDisk {
    /// Makes a file system of this size by a command, which gets the image file as its last
    /// argument, and mounts it at a folder that exists. `None`, with a word about it, where
    /// the program is missing or mounting is not permitted.
    pub fn make(folder: &Path, bytes: u64, command: &[&str]) -> Result<Option<Self>, NotMade> {
        let failed = |error: std::io::Error| NotMade(error.to_string());
        let image = tempfile::tempdir().map_err(failed)?;
        let path = image.path().join("image");
        let file = std::fs::File::create(&path).map_err(failed)?;
        file.set_len(bytes).map_err(failed)?;
        let made = Command::new(command[0]).args(&command[1..]).arg(&path).output();
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                println!("SKIPPED: {}: {error}", command[0]);
                return Ok(None);
            }
        };
        if !made.status.success() {
            return Err(NotMade(String::from_utf8_lossy(&made.stderr).into_owned()));
        }
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-o", "loop"]).arg(&path).arg(folder).output().map_err(failed)?;
        if !mounted.status.success() {
            let why = String::from_utf8_lossy(&mounted.stderr);
            println!("SKIPPED: mounting a small disk: {}", why.trim());
            return Ok(None);
        }
        // The mount holds the file; without a name it does not outlive a killed test.
        drop(image);
        Ok(Some(Self { folder: folder.into() }))
    }
}

impl Drop for BlockDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}
