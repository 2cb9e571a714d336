use crate::{Result, StoreError};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file under a temporary name beside the final one and renames it when it is complete,
/// so that nobody ever reads half of it and a failure leaves the previous file alone.
pub(super) fn replace_file<E: std::fmt::Display>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<()> {
    let partial = partial_name(path);
    let written = File::create(&partial).map_err(|error| error.to_string()).and_then(|file| {
        let mut writer = BufWriter::new(file);
        write(&mut writer).map_err(|error| error.to_string())?;
        writer.flush().map_err(|error| error.to_string())?;
        writer.get_ref().sync_all().map_err(|error| error.to_string())?;
        fs::rename(&partial, path).map_err(|error| error.to_string())
    });
    written.map_err(|detail| {
        // What failed is the export; that its remains cannot be removed is no news.
        let _ = fs::remove_file(&partial);
        StoreError::Export { path: path.to_owned(), detail }
    })
}

/// Makes the folder that an export of several files goes to.
pub(super) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, "create the folder", error))
}

fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}
