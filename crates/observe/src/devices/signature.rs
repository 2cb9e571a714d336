//! Signatures of file systems, arrays and tables of partitions on a device, as util-linux's blkid
//! finds them. It knows some hundred of them; a list of our own would always lag behind.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

/// Where it is for users whose search path has no programs for administrators.
const PROGRAMS: [&str; 3] = ["blkid", "/usr/sbin/blkid", "/sbin/blkid"];
/// Exit codes, from blkid(8).
const FOUND: i32 = 0;
const NOTHING_FOUND: i32 = 2;
const AMBIVALENT: i32 = 8;

/// What is on a device, in words that follow its name; `None` when it bears no known signature.
/// When that cannot be told, the reason for it.
pub(super) fn on(path: &Path) -> Option<String> {
    found_by(&PROGRAMS, path)
}

fn found_by(programs: &[&str], path: &Path) -> Option<String> {
    let output = match probe(programs, path) {
        Ok(output) => output,
        Err(error) => {
            return Some(format!(
                "cannot be looked at for signatures: cannot run blkid: {error}; install util-linux"
            ));
        }
    };
    let found = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(NOTHING_FOUND) if found.trim().is_empty() => None,
        Some(FOUND) => described(&found),
        Some(AMBIVALENT) => {
            Some("it bears several signatures that contradict each other (see wipefs)".into())
        }
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Some(format!("cannot be looked at for signatures: blkid: {} {}", output.status, errors.trim()))
        }
    }
}

fn probe(programs: &[&str], path: &Path) -> std::io::Result<Output> {
    // An absolute path is never taken for an option.
    let path = path.canonicalize()?;
    for program in programs {
        // Probing reads the device itself; without it blkid would answer from its cache.
        match Command::new(program).args(["--probe", "--output", "export"]).arg(&path).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => return other,
        }
    }
    Err(std::io::Error::new(ErrorKind::NotFound, "it is not installed"))
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
        (Some(kind), _) => format!("it bears the signature of {kind}{label}"),
        (None, Some(table)) => format!("it has a table of partitions ({table})"),
        (None, None) => format!("it bears a signature: {}={}", pairs[0].0, pairs[0].1),
    })
}

#[cfg(test)]
mod tests {
    use super::{Path, described, found_by};

    #[test]
    fn what_cannot_be_probed_is_not_taken_for_empty() {
        let absent = found_by(&["no-such-program", "/no/such/blkid"], Path::new("/dev/null")).unwrap();
        assert!(absent.contains("it is not installed; install util-linux"), "{absent}");
        // A program that fails without a word.
        let failed = found_by(&["false"], Path::new("/dev/null")).unwrap();
        assert!(failed.starts_with("cannot be looked at for signatures: blkid: exit status: 1"), "{failed}");
    }

    #[test]
    fn says_what_blkid_has_found() {
        let ext4 =
            "DEVNAME=/dev/loop0\nLABEL=my\\ data\nUUID=0-1\nBLOCK_SIZE=4096\nTYPE=ext4\nUSAGE=filesystem\n";
        assert_eq!(described(ext4).unwrap(), "it bears the signature of ext4, label my\\ data");
        assert_eq!(
            described("DEVNAME=/dev/loop0\nPTUUID=1\nPTTYPE=gpt\n").unwrap(),
            "it has a table of partitions (gpt)"
        );
        assert_eq!(described("DEVNAME=/dev/x\nNEW=thing\n").unwrap(), "it bears a signature: NEW=thing");
    }

    #[test]
    fn an_empty_partition_bears_none() {
        let empty =
            "DEVNAME=/dev/loop0p1\nPART_ENTRY_SCHEME=dos\nPART_ENTRY_TYPE=0x83\nPART_ENTRY_NUMBER=1\n";
        assert_eq!(described(empty), None);
    }
}
