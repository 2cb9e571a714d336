//! A password that is planted, and where it is looked for.

use crate::common::{Exit, Lab};
use std::io::Read;
use std::path::Path;

/// The parts are searched for too: errors cut texts at signs.
pub const SECRET: &str = "Zq7vSECRETx9";

/// Files in which it is planted.
pub const INPUTS: [&str; 8] = [
    "e.toml",
    ".pgpass",
    ".pg_service.conf",
    "hook.sh",
    "script.sql",
    "schema.sql",
    "a.fio",
    "config",
];

/// All bytes of all files below a folder, but for these; those of archives are unpacked.
pub fn written(folder: &Path, except: &[&str]) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name();
        if entry.path().is_dir() {
            all.extend(written(&entry.path(), except));
        } else if !except.iter().any(|input| name == *input) {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            all.extend(unpacked(&bytes));
            all.extend(bytes);
        }
    }
    all
}

/// Returns the contents of the files in a ZIP archive (each starts with a local header of 30 bytes,
/// a name and more).
fn unpacked(archive: &[u8]) -> Vec<u8> {
    let headers = (0..archive.len().saturating_sub(30))
        .filter(|at| archive[*at..].starts_with(b"PK\x03\x04"));
    let mut all = Vec::new();
    for at in headers {
        let number = |place: usize| {
            usize::from(archive[at + place]) + 256 * usize::from(archive[at + place + 1])
        };
        let content = at + 30 + number(26) + number(28);
        let _ = flate2::read::DeflateDecoder::new(&archive[content.min(archive.len())..])
            .read_to_end(&mut all);
    }
    all
}

/// Nothing that was said or written has the secret in it.
#[track_caller]
pub fn check_hidden(lab: &Lab, ended: &Exit, what: &str) {
    check_hidden_but_in(lab, ended, what, &INPUTS);
}

/// Checks all files except these.
#[track_caller]
pub fn check_hidden_but_in(lab: &Lab, ended: &Exit, what: &str, except: &[&str]) {
    let text = format!("{}{}", ended.stdout, ended.stderr);
    let all = [text.into_bytes(), written(&lab.path(""), except)].concat();
    let leak = all.windows(6).position(|window| window == b"SECRET");
    let context = leak
        .map(|at| String::from_utf8_lossy(&all[at.saturating_sub(200)..(at + 60).min(all.len())]));
    assert_eq!(context, None, "{what}");
    assert!(!ended.stderr.contains("panicked"), "{what}: {ended:?}");
}
