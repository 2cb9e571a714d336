//! Finding a helper program, and preparing its start.

use engine::EngineError;
use rustix::process::Signal;
use servers::account;
use servers::process::end_with_us;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Finds the first of these programs in this folder or on the `PATH`, where another package may
/// have put it; `package`: what Debian calls it.
///
/// # Errors
/// When there is none, with how to install it.
pub fn find(names: &[&str], bindir: Option<&Path>, package: &str) -> Result<PathBuf, EngineError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> =
        bindir.map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&path)).collect();
    let mut programs =
        names.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    programs.find(|program| program.is_file()).ok_or_else(|| {
        let beside = bindir
            .map_or_else(String::new, |bindir| format!("neither in {} nor ", bindir.display()));
        let not = if bindir.is_some() { "" } else { "not " };
        let message = format!(
            "it is {not}{beside}on the PATH; install the client programs (Debian: {package})"
        );
        let name = names.first().copied().unwrap_or_default();
        EngineError::failed(format!("looking for {name}"), message)
    })
}

/// A program without our environment, which ends when we do, in the folder from which the paths of
/// its files count.
pub fn command(program: &Path, folder: &Path) -> Command {
    let mut command = account::command(program);
    command.current_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    end_with_us(&mut command, Signal::KILL);
    command
}
