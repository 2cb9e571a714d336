//! Backups of a private server beside a load: `mariadb-dump` in one transaction, restored into a
//! database of the server, and copies of the data directory by `mariadb-backup`.

mod contents;
mod data_copy;

use crate::admin::DATABASE;
use crate::backup_tools::{COPY, COPY_TOOL, DUMP, compressor};
use crate::client::{Client, Config, quote_identifier};
use crate::errors::failed_at;
use crate::instance::MariaSchema;
use crate::server::{CLIENT, ClientProgram, Names, PrivateServer};
use contents::{columns, connect, examine, fingerprints, tables};
use data_copy::Source;
use engine::backups::{BackgroundWork, Backup, BackupRequest, Fingerprint, Restore};
use engine::{EngineError, Result, lock};
use observe::CpuUse;
use servers::instance::Schema as _;
use servers::tool::{self, Pipes};
use sql::statement::filled;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use work::Cancel;

/// The database into which a dump is restored.
const RESTORED: &str = "steelbench_restored";

impl MariaSchema {
    fn private_server(&self) -> Option<&Arc<Mutex<PrivateServer>>> {
        self.common().target.private.as_ref()
    }

    /// How to connect to the private server, in this database.
    fn private(&self, database: &str, cancel: &Cancel) -> Result<Config> {
        let unsupported =
            EngineError::Unsupported { engine: "a server by URL", what: "background actions" };
        let server = self.private_server().ok_or(unsupported)?;
        let config = lock(server).config();
        Ok(config.with_database(database).with_stop(cancel.stop()))
    }

    /// A client program of the private server's version. It finds the server by its environment.
    fn program(&self, names: Names, config: &Config) -> Result<Command> {
        let unsupported =
            EngineError::Unsupported { engine: "a server by URL", what: "background actions" };
        let server = self.private_server().ok_or(unsupported)?;
        let installation = lock(server).options.product.installation.clone();
        let mut command = Command::new(ClientProgram::of_installation(names, &installation)?.path);
        command.current_dir("/").arg("--no-defaults").arg(format!("--user={}", config.user));
        Ok(command)
    }

    /// Bytes of the files of the tables.
    fn data_bytes(&self) -> Result<u64> {
        let Some(server) = self.private_server() else { return Ok(0) };
        let files = self.table_files(&lock(server))?;
        Ok(files.iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum())
    }
}

impl BackgroundWork for MariaSchema {
    fn take(&self, request: &BackupRequest, cancel: &Cancel) -> Result<Backup> {
        let config = self.private(DATABASE, cancel)?;
        let path = request.folder.join("backup");
        let data_bytes = self.data_bytes()?;
        if request.tool == COPY_TOOL {
            let copy = self.program(COPY, &config)?;
            let cpu_s = Some(data_copy::take(copy, &config, request, &path, cancel)?);
            return Ok(Backup { path, server_bytes: None, data_bytes, cpu_s, restarts: 0 });
        }
        let output = Some(tool::make_file(&path)?.into());
        let mut dump = self.program(DUMP, &config)?;
        dump.args(["--single-transaction", "--quick", "--routines", "--hex-blob", DATABASE]);
        let (environment, pipes) = (config.client_environment(), Pipes { input: None, output });
        let rate = request.rate_limit;
        let cpu_s = match compressor(request.compression) {
            Some(compressor) => {
                tool::run_piped([dump, compressor], &environment, pipes, rate, cancel)?
            }
            None => tool::run_limited(dump, &environment, pipes, rate, cancel)?,
        };
        let file = File::open(&path).and_then(|file| file.sync_all());
        file.map_err(EngineError::at(&path))?;
        Ok(Backup { path, server_bytes: None, data_bytes, cpu_s: Some(cpu_s), restarts: 0 })
    }

    fn restore(
        &self,
        request: &BackupRequest,
        backup: &Backup,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<Restore> {
        if let Some(server) = self.private_server()
            && request.tool == COPY_TOOL
        {
            let source = Source::of_server(&lock(server), folder);
            return data_copy::restore(source, request, backup, cancel);
        }
        let mut admin = connect(&self.private(DATABASE, cancel)?, cancel)?;
        let drop_it = format!("DROP DATABASE IF EXISTS {RESTORED}");
        admin.run(&drop_it).map_err(failed_at("dropping the restored database"))?;
        let start = Instant::now();
        let create = format!("CREATE DATABASE {RESTORED}");
        admin.run(&create).map_err(failed_at("creating a database for the restore"))?;
        let config = self.private(RESTORED, cancel)?;
        let mut client = self.program(CLIENT, &config)?;
        client.args(["--batch", RESTORED]);
        let input = File::open(&backup.path).map_err(EngineError::at(&backup.path))?;
        let (environment, pipes) =
            (config.client_environment(), Pipes { input: Some(input.into()), output: None });
        match compressor(request.compression) {
            Some(mut compressor) => {
                compressor.arg("-d");
                tool::run_piped([compressor, client], &environment, pipes, None, cancel)?
            }
            None => tool::run(client, &environment, pipes, cancel)?,
        };
        let placed_s = start.elapsed().as_secs_f64();
        let restored = examine(&mut connect(&config, cancel)?, start, placed_s)?;
        admin.run(&drop_it).map_err(failed_at("dropping the restored database"))?;
        Ok(restored)
    }

    fn fingerprints(&self) -> Result<Vec<Fingerprint>> {
        let cancel = &self.common().cancel;
        fingerprints(&mut connect(&self.private(DATABASE, cancel)?, cancel)?)
    }

    fn perform(&self, statements: &[&str], _: u32, cancel: &Cancel) -> Result<f64> {
        let used = CpuUse::of_this_thread();
        perform(&mut connect(&self.private(DATABASE, cancel)?, cancel)?, statements)?;
        Ok(used.seconds())
    }
}

/// Runs statements for each table.
fn perform(client: &mut Client, statements: &[&str]) -> Result<()> {
    for table in tables(client)? {
        let column = columns(client, &table)?.into_iter().next().unwrap_or_default();
        let (table, column) = (quote_identifier(&table), quote_identifier(&column));
        for text in statements {
            let sql = filled(text, &[("table", &table), ("column", &column)]);
            client.run(&sql).map_err(failed_at(&sql))?;
        }
    }
    Ok(())
}
