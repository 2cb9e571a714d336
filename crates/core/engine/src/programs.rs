//! Client programs: their names, and where they are.

use crate::{EngineError, Result};
use std::path::{Path, PathBuf};

/// A client program by its names of today and before, and the package with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramNames {
    /// The names.
    pub names: &'static [&'static str],
    /// The package that holds the program in Debian.
    pub package: &'static str,
}

/// A client program for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The path. It may name no file where the engine takes programs from one folder only.
    pub path: PathBuf,
    /// The product and version of the server.
    pub server: String,
    /// The major version of the server.
    pub major: u32,
    /// The product and version of the program, where it is not of the server's series.
    pub other_series: Option<String>,
}

/// Finds the first of these programs in this folder or on the `PATH`, where another package may
/// have put it; `package`: what Debian calls it.
///
/// # Errors
/// When there is none, with how to install it.
pub fn find(names: &[&str], bindir: Option<&Path>, package: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> =
        bindir.map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&path)).collect();
    let mut programs =
        names.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    let found = programs.find(|program| program.is_file());
    found.ok_or_else(|| missing(names, bindir, package))
}

/// Returns the error of a program that is not found.
pub fn missing(names: &[&str], bindir: Option<&Path>, package: &str) -> EngineError {
    let folder =
        bindir.map_or_else(String::new, |bindir| format!("neither in {} nor ", bindir.display()));
    let not = if bindir.is_some() { "" } else { "not " };
    let message =
        format!("it is {not}{folder}on the PATH; install the client programs (Debian: {package})");
    let name = names.first().copied().unwrap_or_default();
    EngineError::failed(format!("looking for {name}"), message)
}
