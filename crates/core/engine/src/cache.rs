//! Cached templates: made once, then copied; entries of Steelbench's folders in the user's cache.

use crate::{EngineError, Result, lock};
use observations::number;
use observe::processes;
use rustix::process::{getegid, geteuid};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

/// The name of our folders.
const FOLDER: &str = "steelbench";
/// Names the folder for what is kept from one start to the next.
pub const STATE_VARIABLE: &str = "XDG_STATE_HOME";

/// So many data sets of users are kept at most,
const KEPT_MAX: usize = 16;
/// and none for longer than this after its last use.
const RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// From this size on a folder is announced, unless a variable names another.
const ANNOUNCED_BYTES: u64 = 1 << 30;
const ANNOUNCED_VARIABLE: &str = "STEELBENCH_CACHE_ANNOUNCED_BYTES";
/// Bytes of a block of a file's size on disk.
const BLOCK_BYTES: u64 = 512;

/// Folders to which this process has added something.
static GROWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Notes that something was added to a folder of the cache.
pub fn added_to(folder: &Path) {
    lock(&GROWN).insert(folder.to_path_buf());
}

/// Sentences about the folders that this process has made large, each with the command that clears
/// it.
pub fn announcements() -> Vec<String> {
    let named = std::env::var(ANNOUNCED_VARIABLE).ok().and_then(|bytes| bytes.parse().ok());
    let least = named.unwrap_or(ANNOUNCED_BYTES);
    let grown = std::mem::take(&mut *lock(&GROWN)).into_iter();
    let large = grown.map(|folder| (allocated_bytes(&folder), folder));
    large
        .filter(|(bytes, _)| *bytes > least)
        .map(|(bytes, folder)| {
            format!(
                "Cached data sets take {} in {}; `rm -r {}` removes them. Unused ones are removed \
                 after {} days.",
                number::bytes(bytes),
                folder.display(),
                quoted(&folder),
                RETENTION.as_secs() / 86_400
            )
        })
        .collect()
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if is_plain { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The size on disk of what is in a folder, as far as it can be seen.
fn allocated_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => allocated_bytes(&entry.path()),
            Ok(found) => found.blocks() * BLOCK_BYTES,
            Err(_) => 0,
        })
        .sum()
}

/// Our folder among the caches of this user, made if need be: in `XDG_CACHE_HOME`, or `~/.cache`.
///
/// # Errors
/// When it cannot be made, or another user could have written there.
pub fn folder() -> Result<PathBuf> {
    let without_home = || std::env::temp_dir().join(format!("{FOLDER}-{}", geteuid().as_raw()));
    let base = base("XDG_CACHE_HOME", ".cache").unwrap_or_else(without_home);
    let folder = base.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(EngineError::at(&folder))?;
    verify(&folder).map(|()| folder)
}

/// Our folder for what is kept from one start to the next, which may not be there: in
/// `XDG_STATE_HOME`, or `~/.local/state` (XDG Base Directory Specification); `None`: neither that
/// variable nor HOME is set.
pub fn state() -> Option<PathBuf> {
    base(STATE_VARIABLE, ".local/state").map(|base| base.join(FOLDER))
}

fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |variable: &str| {
        std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    absolute(variable).or_else(|| Some(absolute("HOME")?.join(below_home)))
}

/// Makes sure that no other user can have written this file or folder in [`folder`] or [`state`]:
/// it and all up to our folder belong to us, and others cannot write there. The folder around ours
/// may also belong to root, and have the sticky bit if all may write there.
///
/// # Errors
/// When another user could have written it, or it is not there.
pub fn verify(path: &Path) -> Result<()> {
    let (us, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut is_base = false;
    for place in path.ancestors() {
        let link = place.symlink_metadata().map_err(EngineError::at(place))?;
        let found = place.metadata().map_err(EngineError::at(place))?;
        let is_ours =
            [link.uid(), found.uid()].iter().all(|uid| *uid == us || is_base && *uid == 0);
        let is_sticky = is_base && found.mode() & 0o1000 != 0;
        // Where each user has a group alone, it may write.
        let others = if found.gid() == group { 0o002 } else { 0o022 };
        if !is_ours || found.mode() & others != 0 && !is_sticky {
            let message = format!(
                "{} belongs to another user or is writable by others; change its owner or mode \
                 (chown, chmod go-w), or set {STATE_VARIABLE} and XDG_CACHE_HOME to folders of \
                 your own",
                place.display()
            );
            return Err(EngineError::failed(format!("using {}", path.display()), message));
        }
        if is_base {
            break;
        }
        is_base = place.file_name() == Some(OsStr::new(FOLDER));
    }
    Ok(())
}

/// Returns whether these bytes may be kept next to a folder: at most a quarter of its free space.
pub fn has_room(folder: &Path, bytes: u64) -> bool {
    let existing = folder.ancestors().find(|folder| folder.is_dir());
    existing.and_then(observe::file_system::space).is_some_and(|(_, free)| bytes <= free / 4)
}

/// A database file of which everything follows from its identity: made now unless it is in our
/// cache. `engine` names the folder there, `prefix` says what kind of file it is; of each kind so
/// many are kept.
///
/// # Errors
/// When it cannot be made.
pub fn file(
    engine: &str,
    prefix: &str,
    identity: &str,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let name = format!("{prefix}{}", observations::sha256([identity]));
    let folder = folder()?.join(engine);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(EngineError::at(&folder))?;
    let kept = folder.join(name);
    if kept.is_file() {
        verify(&kept)?;
        touch(&kept);
        return Ok(kept);
    }
    let entries = entries(&folder, prefix, None);
    let (unfinished, made): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|(_, path)| path.extension().is_some());
    let left = unfinished.into_iter().map(|(_, path)| path).filter(|path| is_of_gone_process(path));
    for old in surplus(made).into_iter().chain(left) {
        // One that another process has removed is gone as well.
        let _ = std::fs::remove_file(old);
    }
    // Made beside its place and renamed: what is there is complete, even if two processes make it.
    let unfinished = unfinished_place(&kept);
    let made = make(&unfinished)
        .and_then(|()| std::fs::rename(&unfinished, &kept).map_err(EngineError::at(&kept)));
    if made.is_err() {
        // Files that the engines keep beside their database.
        for end in ["", "-wal", "-journal", "-shm", ".wal"] {
            let _ = std::fs::remove_file(format!("{}{end}", unfinished.display()));
        }
    }
    added_to(&folder);
    made.map(|()| kept)
}

/// Beside a file, of this process and of no other thread of it.
fn unfinished_place(kept: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    kept.with_extension(format!("new-{}-{number}", std::process::id()))
}

/// Returns whether a killed process left it behind.
fn is_of_gone_process(unfinished: &Path) -> bool {
    let name = unfinished.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let pid =
        name.split(".new-").nth(1).and_then(|end| end.split(['-', '.']).next()).unwrap_or_default();
    pid.parse().is_ok_and(|pid| !processes::is_alive(pid))
}

/// Notes that an entry is used now, in the time of change of one of its files.
pub fn touch(file: &Path) {
    // If another process removes the entry, there is nothing to note.
    let _ = std::fs::File::open(file).and_then(|file| file.set_modified(SystemTime::now()));
}

/// The entries, with their last use, to remove before another is added: those unused for a week,
/// and the least recently used beyond 15.
pub fn surplus(mut entries: Vec<(SystemTime, PathBuf)>) -> Vec<PathBuf> {
    entries.sort();
    entries.reverse();
    let surplus = entries.into_iter().enumerate().filter(|(at, (used, _))| {
        *at + 1 >= KEPT_MAX || used.elapsed().is_ok_and(|age| age > RETENTION)
    });
    surplus.map(|(_, (_, path))| path).collect()
}

/// The entries of a folder whose names begin so, with their last use: the time of change of `file`
/// in each, or of the entry itself.
pub fn entries(folder: &Path, prefix: &str, file: Option<&str>) -> Vec<(SystemTime, PathBuf)> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = found.filter(|path| {
        path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(prefix))
    });
    let used = named.filter_map(|path| {
        let noted = file.map_or_else(|| path.clone(), |file| path.join(file));
        Some((noted.symlink_metadata().ok()?.modified().ok()?, path))
    });
    used.collect()
}

#[cfg(test)]
mod tests {
    use super::{surplus, verify};
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    #[test]
    fn only_files_that_no_other_user_can_have_written_are_used() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("steelbench/servers");
        let file = folder.join("record");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&file, "").unwrap();
        let with_mode = |path: &Path, mode: u32| {
            let before = path.metadata().unwrap().permissions();
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            let verified = verify(&file).map_err(|error| error.to_string());
            std::fs::set_permissions(path, before).unwrap();
            verified
        };
        verify(&file).unwrap();
        with_mode(base.path(), 0o1777).unwrap();
        for (path, mode) in
            [(&file, 0o646), (&folder, 0o777), (&folder, 0o1777), (&base.path().into(), 0o777)]
        {
            let error = with_mode(path, mode).unwrap_err();
            assert!(error.contains("is writable by others"), "{mode:o}: {error}");
        }
        if !super::geteuid().is_root() {
            return;
        }
        // Another user's file and folders, and a link that another user has made.
        let give_away = |path: &Path| std::os::unix::fs::lchown(path, Some(65_534), None).unwrap();
        for path in [&file, &folder, &base.path().join("steelbench"), &base.path().into()] {
            give_away(path);
            assert!(verify(&file).is_err(), "{}", path.display());
            chown(path, Some(0), None).unwrap();
        }
        let link = folder.join("link");
        symlink(&file, &link).unwrap();
        verify(&link).unwrap();
        give_away(&link);
        assert!(verify(&link).is_err());
    }

    #[test]
    fn what_was_used_longest_ago_goes_and_what_nobody_used_for_a_week() {
        let hours_ago = |hours: u64| {
            let used = SystemTime::now() - Duration::from_secs(3600 * hours);
            (used, PathBuf::from(hours.to_string()))
        };
        assert_eq!(surplus((1..=15).map(hours_ago).collect()), Vec::<PathBuf>::new());
        assert_eq!(surplus((1..=17).map(hours_ago).collect()), ["16", "17"].map(PathBuf::from));
        assert_eq!(surplus([1, 200, 167].map(hours_ago).to_vec()), [PathBuf::from("200")]);
    }
}
