//! What may be written to: files of ours, and what the user names.

use super::set::Origin;
use crate::engine::Permits;
use std::path::Path;

/// Why nothing may be written to a file that was there before, or a device; `None`: it may be.
pub fn forbidden(path: &Path, origin: Origin, permits: &Permits) -> Option<String> {
    match origin {
        Origin::Created => None,
        Origin::Existing if names(&permits.overwrite, path) => None,
        Origin::Existing => Some(format!(
            "{0} was there before us: writing to it would destroy what it holds; allow it with --overwrite {0}",
            path.display()
        )),
        Origin::Device if !names(&permits.destroy, path) => Some(format!(
            "{0} is a block device: writing to it would destroy what it holds; allow it with --destroy {0}",
            path.display()
        )),
        Origin::Device => match observe::devices::in_use(path) {
            Ok(None) => None,
            Ok(Some(reason)) => Some(format!("{} is not overwritten: {reason}", path.display())),
            Err(error) => Some(format!("{} is not overwritten: {error}", path.display())),
        },
    }
}

/// Whether a list names a path, in whatever words.
fn names(list: &[std::path::PathBuf], path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    list.iter().any(|named| named == path || (real(named).is_some() && real(named) == real(path)))
}

#[cfg(test)]
mod tests {
    use super::{Origin, forbidden};
    use crate::engine::Permits;

    #[test]
    fn only_what_is_named_may_be_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, other) = (folder.path().join("mine"), folder.path().join("other"));
        std::fs::write(&mine, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        let roundabout = folder.path().join(".").join("mine");
        let permits = Permits { overwrite: vec![roundabout], destroy: Vec::new() };
        assert_eq!(forbidden(&mine, Origin::Existing, &permits), None);
        assert_eq!(forbidden(&other, Origin::Created, &permits), None);
        assert!(forbidden(&other, Origin::Existing, &permits).unwrap().contains("--overwrite"));
        assert!(forbidden(&mine, Origin::Device, &permits).unwrap().contains("--destroy"));
    }
}
