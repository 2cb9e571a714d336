//! A MySQL server to test on, which a script unpacks.

use crate::process::{in_root, succeed, target};
use std::path::PathBuf;

/// The folder with the programs, in the target folder; made now unless it is there.
pub fn install() -> Result<PathBuf, String> {
    let folder = target().join("test-tools").join("mysql");
    if !folder.join("mysqld").exists() {
        succeed(in_root("sh").arg("xtask/mysql/mysql.sh").arg(&folder))?;
    }
    Ok(folder)
}
