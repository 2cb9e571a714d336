//! Data directories of private servers: made by `initdb`, laid out after they were cloned.

use super::files::{BASELINE_FILE, SETTINGS_FILE, tablespaces};
use super::left;
use super::product::{PostgresProduct, SUPERUSER, ServerOptions};
use engine::{EngineError, Result};
use servers::account::{Account, command};
use servers::files::clone_folder;
use servers::private::DataDirectory;
use servers::template::Unfinished;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

impl DataDirectory for PostgresProduct {
    fn identity(&self) -> String {
        format!("{:?}", self.data)
    }

    /// Runs `initdb`.
    fn initialise(&self, _: &Account, template: &Unfinished<'_>) -> Result<()> {
        let initdb = self.installation.program("initdb");
        let mut command = command(&initdb);
        command.arg("-D").arg(template.folder.join("data"));
        command.args(["-U", SUPERUSER, "-E", "UTF8", "--locale=C"]);
        // TCP connections need a password; only the account can enter the folder of the sockets.
        command.args(["--auth-local=trust", "--auth-host=scram-sha-256"]);
        command.args(["--no-sync", "--no-instructions"]);
        command.args(self.data.arguments(self.installation.version.major));
        let output = template.run(command)?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let doing = format!("running {}", initdb.display());
        Err(EngineError::failed(doing, format!("{}: {text}", output.status)))
    }

    /// Moves the log to its volume and has the server read our files.
    fn lay_out(options: &ServerOptions, data: &Path) -> Result<()> {
        if let Some(wal) = &options.log_directory {
            move_wal(&data.join("pg_wal"), wal, &options.account)?;
        }
        let main = data.join("postgresql.conf");
        let included =
            format!("\ninclude '{BASELINE_FILE}'\ninclude_if_exists '{SETTINGS_FILE}'\n");
        let text = std::fs::read_to_string(&main).map_err(EngineError::at(&main))?;
        // A template with tables was laid out already.
        if text.ends_with(&included) {
            return Ok(());
        }
        options.account.write(&main, &(text + &included))
    }

    fn more_folders(data: &Path) -> Result<Vec<PathBuf>> {
        tablespaces(data)
    }

    fn is_data_directory(folder: &Path) -> bool {
        folder.join("PG_VERSION").is_file() && folder.join("global").is_dir()
    }

    fn ask_to_end(data: &Path) -> Option<i32> {
        left::ask_to_end(data)
    }

    fn free(data: &Path) {
        left::free_shared_memory(data);
    }
}

fn move_wal(from: &Path, to: &Path, account: &Account) -> Result<()> {
    clone_folder(from, to, account)?;
    std::fs::remove_dir_all(from).map_err(EngineError::at(from))?;
    symlink(to, from).map_err(EngineError::at(from))?;
    account.chown(from)
}
