//! Copies of the data directory of a private server by `mariadb-backup`
//! (<https://mariadb.com/kb/en/mariadb-backup-overview/>), restored as a server beside it.

use super::contents::{connect, examine};
use crate::admin::DATABASE;
use crate::backup_tools::{COPY, compressor, stream_program};
use crate::client::Config;
use crate::server::{ClientProgram, PrivateServer, ServerOptions};
use engine::backups::{Backup, BackupRequest, Restore};
use engine::{EngineError, Result};
use servers::files::clone_folder;
use servers::private::{Server, Settings};
use servers::tool::{self, Pipes};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use work::Cancel;

/// Returns whether the copy is a stream in a file. Its own limit (`--throttle`) counts pairs of
/// reads and writes, so that a rate limits its stream.
fn is_stream(request: &BackupRequest) -> bool {
    request.compression != "none" || request.rate_limit.is_some()
}

/// Copies the data directory while the server works: to a folder, or as a stream to a file.
/// Returns the CPU seconds of the programs. `copy`: the program, logging in.
pub fn take(
    mut copy: Command,
    config: &Config,
    request: &BackupRequest,
    path: &Path,
    cancel: &Cancel,
) -> Result<f64> {
    copy.arg("--backup");
    copy.arg(format!("--parallel={}", request.workers));
    let environment = config.client_environment();
    let socket = environment.iter().find(|(name, _)| name == "MYSQL_UNIX_PORT");
    copy.args(socket.and_then(|(_, path)| Some(format!("--socket={}", path.as_ref()?))));
    if !is_stream(request) {
        tool::make_folder(path)?;
        copy.arg("--target-dir").arg(path);
        return tool::run(copy, &environment, Pipes::default(), cancel);
    }
    // For its files while it works.
    let work = path.with_extension("work");
    tool::make_folder(&work)?;
    copy.arg("--stream=xbstream").arg("--target-dir").arg(&work);
    let pipes = Pipes { input: None, output: Some(tool::make_file(path)?.into()) };
    let rate = request.rate_limit;
    let cpu_s = match compressor(request.compression) {
        Some(compressor) => tool::run_piped([copy, compressor], &environment, pipes, rate, cancel)?,
        None => tool::run_limited(copy, &environment, pipes, rate, cancel)?,
    };
    std::fs::remove_dir_all(&work).map_err(EngineError::at(&work))?;
    let written = File::open(path).and_then(|file| file.sync_all());
    written.map_err(EngineError::at(path)).map(|()| cpu_s)
}

/// The server that was backed up, as its restore needs it.
pub struct Source {
    /// Options of a server like it, in the folder for the restore.
    options: ServerOptions,
    settings: Settings,
}

impl Source {
    /// Describes a server that is restored in this folder.
    pub fn of_server(server: &PrivateServer, folder: &Path) -> Self {
        Self {
            options: server.options_in(&folder.join("restored")),
            settings: server.in_force.clone().unwrap_or_default(),
        }
    }
}

/// Restores a copy: its changes of the time of the backup are applied (`--prepare`), and a server
/// starts on it, which is removed then.
pub fn restore(
    source: Source,
    request: &BackupRequest,
    backup: &Backup,
    cancel: &Cancel,
) -> Result<Restore> {
    let Source { options, settings } = source;
    let directory = options.directory.clone();
    options.account.make_folder(&directory)?;
    let program = ClientProgram::of_installation(COPY, &options.product.installation)?.path;
    let start = Instant::now();
    let unpacked = directory.join("unpacked");
    let copied = if is_stream(request) {
        let files = Command::new(stream_program(&program)?);
        unpack(files, compressor(request.compression), &backup.path, &unpacked, cancel)?;
        &unpacked
    } else {
        &backup.path
    };
    let mut prepare = Command::new(&program);
    prepare.current_dir("/");
    prepare.args(["--no-defaults", "--prepare", "--target-dir"]).arg(copied);
    tool::run(prepare, &[], Pipes::default(), cancel)?;
    let mut server =
        Server::with_data(options, |options, data| clone_folder(copied, data, &options.account))?;
    let placed_s = start.elapsed().as_secs_f64();
    server.start_with(settings, cancel)?;
    let config = server.config().with_database(DATABASE).with_stop(cancel.stop());
    let restored = examine(&mut connect(&config, cancel)?, start, placed_s)?;
    server.remove()?;
    std::fs::remove_dir_all(&directory).map_err(EngineError::at(&directory))?;
    Ok(restored)
}

/// Writes the files of a stream to a new folder by the program `files`; `expand` decompresses it.
fn unpack(
    mut files: Command,
    expand: Option<Command>,
    from: &Path,
    to: &Path,
    cancel: &Cancel,
) -> Result<()> {
    tool::make_folder(to)?;
    files.current_dir("/").args(["--extract", "--directory"]).arg(to);
    let input = File::open(from).map_err(EngineError::at(from))?;
    let pipes = Pipes { input: Some(input.into()), output: None };
    let ended = match expand {
        Some(mut expand) => {
            expand.arg("-d");
            tool::run_piped([expand, files], &[], pipes, None, cancel)
        }
        None => tool::run(files, &[], pipes, cancel),
    };
    ended.map(drop)
}
