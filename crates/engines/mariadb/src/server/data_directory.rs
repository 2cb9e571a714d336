//! Data directories of private servers: made by `mariadb-install-db` or by MySQL's server itself,
//! laid out after they were cloned.

use super::installation::Installation;
use super::product::{MariaProduct, ServerOptions};
use engine::{EngineError, Result};
use servers::account::{Account, command};
use servers::files::clone_folder;
use servers::private::DataDirectory;
use servers::template::Unfinished;
use std::path::Path;

/// Size of a template's redo log, the smallest that there is: a server that starts makes it as
/// large as it is set.
const LOG_FILE_BYTES: u32 = 4 << 20;
/// The size for MySQL, which waits for checkpoints all the time with a smaller one.
const REDO_LOG_BYTES: u32 = 32 << 20;

impl DataDirectory for MariaProduct {
    fn identity(&self) -> String {
        format!("pages of {}", self.page_bytes.as_deref().unwrap_or("the default size"))
    }

    fn for_template(&self) -> Self {
        Self { table_directories: Vec::new(), instruments: false, ..self.clone() }
    }

    /// Runs the installer. Its accounts have no password: the server listens on a socket that only
    /// our account can reach.
    fn initialise(&self, account: &Account, template: &Unfinished<'_>) -> Result<()> {
        let Installation { server, installer, .. } = &self.installation;
        account.can_run(server)?;
        let program = installer.as_ref().unwrap_or(server);
        let mut command = command(program);
        command.env("TMPDIR", template.folder);
        command
            .arg("--no-defaults")
            .arg(format!("--datadir={}", template.folder.join("data").display()));
        if self.installation.is_mysql() {
            command
                .arg("--initialize-insecure")
                .arg(format!("--innodb-redo-log-capacity={REDO_LOG_BYTES}"));
        } else {
            command.args([
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ]);
            command.arg(format!("--innodb-log-file-size={LOG_FILE_BYTES}"));
            let base = server.parent().and_then(Path::parent);
            command.args(base.map(|base| format!("--basedir={}", base.display())));
        }
        command.args(self.page_bytes.iter().map(|bytes| format!("--innodb-page-size={bytes}")));
        let output = template.run(command)?;
        if output.status.success() {
            return Ok(());
        }
        // It says everything on either.
        let text = [output.stdout, output.stderr]
            .map(|stdout| String::from_utf8_lossy(&stdout).trim().to_owned());
        let errors: Vec<&str> = text
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| line.contains("ERROR"))
            .collect();
        let text = if errors.is_empty() { text.join(" ") } else { errors.join("; ") };
        let doing = format!("running {}", program.display());
        Err(EngineError::failed(doing, format!("{}: {text}", output.status)))
    }

    /// Moves the redo log to its volume.
    fn lay_out(options: &ServerOptions, data: &Path) -> Result<()> {
        let Some(log) = &options.log_directory else { return Ok(()) };
        options.account.make_folder(log)?;
        let redo_log = options.product.installation.redo_log();
        let (from, to) = (data.join(redo_log), log.join(redo_log));
        clone_folder(&from, &to, &options.account)?;
        let remove = if from.is_dir() { std::fs::remove_dir_all } else { std::fs::remove_file };
        remove(&from).map_err(EngineError::at(&from))
    }

    fn is_data_directory(folder: &Path) -> bool {
        // The files are those that only MariaDB has, or only MySQL.
        let has = |mark| folder.join(mark).is_file();
        folder.join("mysql").is_dir() && (has("aria_log_control") || has("mysql.ibd"))
    }
}
