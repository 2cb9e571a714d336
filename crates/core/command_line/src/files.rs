//! Files that are written as a whole, and never over files that Steelbench did not write.

use crate::Failure;
use observe::{child, processes};
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Existing files that may be overwritten. Each variant permits what the earlier ones do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Replace {
    /// Nothing.
    Nothing,
    /// A file written by Steelbench, known by its content: [`report::is_ours`].
    Ours,
    /// As before, under a name that the user gave; a device or pipe of that name is written to as
    /// it is.
    Named,
    /// Any file.
    Any,
}

/// Writes a file under another name beside it and renames it when it is complete: no reader sees
/// half of it, and a failure (a full disk) leaves the previous file alone.
///
/// # Errors
/// When the file may not be replaced, or cannot be written.
pub fn replace_file<E: Display>(
    path: &Path,
    may: Replace,
    mut write: impl FnMut(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), Failure> {
    let mut content = |file: &mut BufWriter<File>| write(file).map_err(|error| error.to_string());
    write_whole(path, may, &mut content).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &dyn Display) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}

/// Has a program write a new file under another name beside it, and renames it when it is complete.
///
/// # Errors
/// Those of `write`, and when the file cannot be made.
pub fn new_file(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| cannot_write(path, &error);
    remove_remains(path);
    let (partial, file) = partial(path).map_err(failed)?;
    let written = write(&partial).and_then(|()| file.sync_all().map_err(failed));
    written.and_then(|()| fs::rename(&partial, path).map_err(failed)).inspect_err(|_| {
        // The failure is reported; that its remains cannot be removed adds nothing.
        let _ = fs::remove_file(&partial);
    })
}

/// Checks whether a file may be written: before work whose result goes there.
///
/// # Errors
/// When it exists and may not be replaced.
pub fn check_replaceable(path: &Path, may: Replace) -> Result<(), Failure> {
    is_written_in_place(path, may).map(drop).map_err(|error| cannot_write(path, &error))
}

/// Writes the content of a file, or says why it cannot.
type Content<'c> = &'c mut dyn FnMut(&mut BufWriter<File>) -> Result<(), String>;

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("no process has this pipe open for reading: {0}")]
    NoReader(io::Error),
    #[error("{0}")]
    Content(String),
    #[error("links are not followed; name the file itself")]
    Link,
    #[error(
        "file exists and was not written by Steelbench; remove it or choose another with --output"
    )]
    Foreign,
}

fn write_whole(path: &Path, may: Replace, write: Content<'_>) -> Result<(), WriteError> {
    if is_written_in_place(path, may)? {
        return fill(opened_in_place(path)?, write).map(drop);
    }
    remove_remains(path);
    let (partial, file) = partial(path)?;
    let synced = fill(file, write).and_then(|file| Ok(file.sync_all()?));
    synced.and_then(|()| Ok(fs::rename(&partial, path)?)).inspect_err(|_| {
        // The failure is reported; that its remains cannot be removed adds nothing.
        let _ = fs::remove_file(&partial);
    })
}

/// Opens a device or a pipe. The reader of a pipe must exist: this does not wait for one that may
/// never come.
fn opened_in_place(path: &Path) -> Result<File, WriteError> {
    child::open_at_once(OpenOptions::new().write(true), path).map_err(|error| {
        let is_pipe = fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
        if is_pipe { WriteError::NoReader(error) } else { error.into() }
    })
}

fn fill(file: File, write: Content<'_>) -> Result<File, WriteError> {
    let mut writer = BufWriter::new(file);
    write(&mut writer).map_err(WriteError::Content)?;
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// Returns true for a device or a pipe; a file or a link that may not be replaced is an error.
fn is_written_in_place(path: &Path, may: Replace) -> Result<bool, WriteError> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    // /dev/stdout is a link.
    let real = fs::metadata(path);
    if may >= Replace::Named && real.is_ok_and(|real| !real.is_file() && !real.is_dir()) {
        return Ok(true);
    }
    if found.is_symlink() {
        return Err(WriteError::Link);
    }
    let may_replace = may == Replace::Any
        || may >= Replace::Ours
            && found.is_file()
            && File::open(path).and_then(report::is_ours).unwrap_or(false);
    if may_replace { Ok(false) } else { Err(WriteError::Foreign) }
}

/// A new file beside a path: no link that waits under its name is followed.
fn partial(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    let paths =
        (0_u32..).map(|number| path.with_file_name(format!(".{name}.{process}-{number}.partial")));
    let created = paths.map(|partial| File::create_new(&partial).map(|file| (partial, file)));
    let mut created = created
        .skip_while(|file| file.as_ref().is_err_and(|e| e.kind() == ErrorKind::AlreadyExists));
    let (partial, file) = created.next().unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))?;
    // Held until the file is complete: see below. Where there are no locks, its process tells.
    let _ = file.try_lock();
    Ok((partial, file))
}

/// Removes the partial files of killed Steelbench processes: neither the process nor its lock
/// exists. A missing process alone does not prove that: it may be in another namespace that shares
/// the volume.
fn remove_remains(path: &Path) {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of_killed = entries.filter_map(|entry| {
        let of = entry.file_name();
        let of = of.to_str()?.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('.')?;
        let process = of.strip_suffix(".partial")?.split_once('-')?.0.parse().ok()?;
        let is_dead = entry.file_type().ok()?.is_file() && !processes::is_alive(process);
        let unlocked = is_dead && File::open(entry.path()).ok()?.try_lock().is_ok();
        unlocked.then(|| entry.path())
    });
    for remains in of_killed {
        // A file that cannot be removed does no harm.
        let _ = fs::remove_file(remains);
    }
}

/// Writes a page.
///
/// # Errors
/// When the file may not be replaced, or cannot be written.
pub fn write_html(html: &str, path: &Path, may: Replace) -> Result<(), Failure> {
    replace_file(path, may, |writer| writer.write_all(html.as_bytes()))
}
