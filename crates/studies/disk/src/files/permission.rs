//! Which files may be written to: those that Steelbench creates and those that the user names.

use engine::Permits;
use engine::file_set::Origin;
use std::path::Path;

/// Why nothing may be written to a file that was there before, or a device; `None`: it may be.
/// `real` is where its path leads to; links are resolved in the permits too.
pub fn forbidden(path: &Path, real: &Path, origin: Origin, permits: &Permits) -> Option<String> {
    if let refused @ Some(_) = refusal(path, origin, permits, |named| named == real) {
        return refused;
    }
    let found = match origin {
        Origin::Created => return None,
        Origin::Existing => observe::devices::file_in_use(real),
        Origin::Device => observe::devices::in_use(real),
    };
    let reason = found.unwrap_or_else(|error| Some(error.to_string()))?;
    Some(format!("{} is not overwritten: {reason}", path.display()))
}

/// Why the user has to permit that something is written to a file or device; `None`: that is
/// permitted.
pub fn not_permitted(path: &Path, origin: Origin, permits: &Permits) -> Option<String> {
    refusal(path, origin, permits, |named| is_same(named, path))
}

/// Returns whether two paths lead to the same file.
pub fn is_same(path: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    path == other || (real(path).is_some() && real(path) == real(other))
}

fn refusal(
    path: &Path,
    origin: Origin,
    permits: &Permits,
    is_it: impl Fn(&Path) -> bool,
) -> Option<String> {
    let (permitted, what, option) = match origin {
        Origin::Created => return None,
        Origin::Existing => (&permits.overwrite, "existed before this run", "--overwrite"),
        Origin::Device => (&permits.destroy, "is a block device", "--destroy"),
    };
    let path = path.display();
    (!permitted.iter().any(|named| is_it(named))).then(|| {
        format!("{path} {what}; writing would destroy its contents; allow it with {option} {path}")
    })
}

#[cfg(test)]
mod tests {
    use super::{Origin, Permits, forbidden};

    #[test]
    fn only_what_is_named_may_be_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (mine, other) = (real.join("mine"), real.join("other"));
        std::fs::write(&mine, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        let roundabout = real.join("link");
        std::os::unix::fs::symlink(&mine, &roundabout).unwrap();
        let permits = Permits { overwrite: vec![roundabout], ..Permits::default() };
        assert!(forbidden(&mine, &mine, Origin::Existing, &permits).is_some());
        let permits = permits.resolved();
        assert_eq!(forbidden(&mine, &mine, Origin::Existing, &permits), None);
        assert_eq!(forbidden(&other, &other, Origin::Created, &permits), None);
        assert!(
            forbidden(&other, &other, Origin::Existing, &permits).unwrap().contains("--overwrite")
        );
        assert!(forbidden(&mine, &mine, Origin::Device, &permits).unwrap().contains("--destroy"));
    }
}
