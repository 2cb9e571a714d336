//! Backup tools of MariaDB, and what they need.

use crate::server::{CLIENT, ClientProgram, Names};
use crate::settings;
use engine::Result;
use experiment::Configuration;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The logical backup.
pub const DUMP: Names = Names { names: &["mariadb-dump", "mysqldump"], package: "mariadb-client" };
/// The physical backup.
pub const COPY: Names =
    Names { names: &["mariadb-backup", "mariabackup"], package: "mariadb-backup" };
/// The program of its streams, which prints no version.
pub const STREAM: &str = "mbstream";
/// The names of the tools in settings.
pub(crate) const DUMP_TOOL: &str = "mariadb-dump";
pub(crate) const COPY_TOOL: &str = "mariadb-backup";

/// Names what a tool needs and this machine lacks.
pub(crate) fn missing(configuration: &Configuration, tool: &str) -> Option<String> {
    let needed: &[Names] = if tool == DUMP_TOOL { &[DUMP, CLIENT] } else { &[COPY] };
    if configuration.value("target.url").is_some() {
        return Some("backups are measured on private servers; remove target.url".to_owned());
    }
    if configuration.value("target.volume").is_some() {
        let message = "a backup names the folders of target.volume, which its restore would use \
                       too; remove target.volume";
        return Some(message.to_owned());
    }
    // A missing server is reported by itself.
    let server = settings::installation(configuration).ok()?;
    let mut programs = needed.iter().map(|names| {
        let program = ClientProgram::of_installation(*names, &server)?;
        let streams = names.names == COPY.names;
        if streams { stream_program(&program.path).map(drop) } else { Ok(()) }
    });
    let method =
        configuration.value("background.compression").map(ToString::to_string).unwrap_or_default();
    let is_compressed = !["none", ""].contains(&method.as_str());
    let compressor =
        is_compressed.then(|| servers::programs::find(&[&method], None, &method).map(drop));
    let error = programs.find_map(Result::err).or_else(|| compressor?.err())?;
    Some(error.to_string())
}

/// Finds the program of the streams of a physical backup: beside it, or on the `PATH`.
pub(crate) fn stream_program(copy: &Path) -> Result<PathBuf> {
    servers::programs::find(&[STREAM], copy.parent(), COPY.package)
}

/// States that a backup tool is not of the server's series.
pub fn substitution(configuration: &Configuration) -> Option<String> {
    let names = match configuration.value("background.tool")?.to_string().as_str() {
        DUMP_TOOL => DUMP,
        COPY_TOOL => COPY,
        _ => return None,
    };
    let server = settings::installation(configuration).ok()?;
    let tool = ClientProgram::of_installation(names, &server).ok()?.version;
    (!tool.is_same_series(&server.server_version())).then(|| {
        format!(
            "the backup tool is of {tool}, the server is {server}: install {} of the server's \
             series",
            names.package
        )
    })
}

/// The program that compresses by this method.
pub(crate) fn compressor(method: &str) -> Option<Command> {
    (!["none", ""].contains(&method)).then(|| {
        let mut command = Command::new(method);
        command.current_dir("/").args(["-c", "-q"]);
        command
    })
}
