//! Backups of a private server beside a load: `mariadb-dump` in one transaction, restored into a
//! database of the server.

use crate::admin::DATABASE;
use crate::backup_tools::{CLIENTS, DUMPS, PACKAGE, compressor};
use crate::client::{Client, Config, quote_identifier, quote_literal};
use crate::failed_at;
use crate::instance::MariaSchema;
use engine::backups::{
    BackgroundWork, Backup, BackupRequest, Fingerprint, Restored, StatementAction,
};
use engine::optimizer::filled;
use engine::{EngineError, lock};
use observe::CpuUse;
use servers::instance::Schema as _;
use servers::tool::{self, Pipes};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use work::Cancel;

/// The database into which a dump is restored.
const RESTORED: &str = "steelbench_restored";

impl MariaSchema {
    /// How to connect to the private server, in this database.
    fn private(&self, database: &str, cancel: &Cancel) -> Result<Config, EngineError> {
        let unsupported =
            EngineError::Unsupported { engine: "a server by URL", what: "background actions" };
        let server = self.common().target.private.as_ref().ok_or(unsupported)?;
        let config = lock(server).config();
        Ok(config.with_database(database).with_stop(cancel.stop()))
    }

    /// Bytes of the files of the tables.
    fn data_bytes(&self) -> Result<u64, EngineError> {
        let Some(server) = &self.common().target.private else { return Ok(0) };
        let files = self.table_files(&lock(server))?;
        Ok(files.iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum())
    }
}

/// A client program. It finds the server by its environment.
fn program(names: &[&str], config: &Config) -> Result<Command, EngineError> {
    let mut command = Command::new(helpers::program::find(names, None, PACKAGE)?);
    command.current_dir("/").arg("--no-defaults").arg(format!("--user={}", config.user));
    Ok(command)
}

fn connect(config: &Config, cancel: &Cancel) -> Result<Client, EngineError> {
    let mut client = Client::connect(config).map_err(failed_at("connecting"))?;
    client.set_stop(cancel.stop());
    Ok(client)
}

impl BackgroundWork for MariaSchema {
    fn take(&self, request: &BackupRequest, cancel: &Cancel) -> Result<Backup, EngineError> {
        let config = self.private(DATABASE, cancel)?;
        let path = request.folder.join("backup");
        let data_bytes = self.data_bytes()?;
        let output = Some(tool::make_file(&path)?.into());
        let mut dump = program(&DUMPS, &config)?;
        dump.args(["--single-transaction", "--quick", "--routines", "--hex-blob", DATABASE]);
        let (environment, pipes) = (config.client_environment(), Pipes { input: None, output });
        let cpu_s = match compressor(request.compression) {
            Some(own) => tool::run_piped([dump, own], &environment, pipes, cancel)?,
            None => tool::run(dump, &environment, pipes, cancel)?,
        };
        let file = File::open(&path).and_then(|file| file.sync_all());
        file.map_err(EngineError::at(&path))?;
        Ok(Backup { path, data_bytes, cpu_s, restarts: 0 })
    }

    fn restore(
        &self,
        request: &BackupRequest,
        backup: &Backup,
        _: &Path,
        cancel: &Cancel,
    ) -> Result<Restored, EngineError> {
        let mut admin = connect(&self.private(DATABASE, cancel)?, cancel)?;
        let drop_it = format!("DROP DATABASE IF EXISTS {RESTORED}");
        admin.run(&drop_it).map_err(failed_at("dropping the restored database"))?;
        let start = Instant::now();
        let create = format!("CREATE DATABASE {RESTORED}");
        admin.run(&create).map_err(failed_at("creating a database for the restore"))?;
        let config = self.private(RESTORED, cancel)?;
        let mut client = program(&CLIENTS, &config)?;
        client.args(["--batch", RESTORED]);
        let input = File::open(&backup.path).map_err(EngineError::at(&backup.path))?;
        let (environment, pipes) =
            (config.client_environment(), Pipes { input: Some(input.into()), output: None });
        match compressor(request.compression) {
            Some(mut own) => {
                own.arg("-d");
                tool::run_piped([own, client], &environment, pipes, cancel)?
            }
            None => tool::run(client, &environment, pipes, cancel)?,
        };
        let mut restored =
            Restored { placed_s: start.elapsed().as_secs_f64(), ..Restored::default() };
        let mut client = connect(&config, cancel)?;
        let found = tables(&mut client)?;
        restored.first_query_s = start.elapsed().as_secs_f64();
        for table in &found {
            restored.complaints.extend(complaints(&mut client, table)?);
        }
        restored.consistent_s = start.elapsed().as_secs_f64();
        restored.tables = fingerprints(&mut client)?;
        admin.run(&drop_it).map_err(failed_at("dropping the restored database"))?;
        Ok(restored)
    }

    fn fingerprints(&self) -> Result<Vec<Fingerprint>, EngineError> {
        let cancel = &self.common().cancel;
        fingerprints(&mut connect(&self.private(DATABASE, cancel)?, cancel)?)
    }

    fn perform(
        &self,
        action: &StatementAction,
        _: u32,
        cancel: &Cancel,
    ) -> Result<f64, EngineError> {
        let used = CpuUse::of_this_thread();
        perform(&mut connect(&self.private(DATABASE, cancel)?, cancel)?, action.statements)?;
        Ok(used.seconds())
    }

    fn undo(&self, action: &StatementAction) -> Result<(), EngineError> {
        let cancel = &self.common().cancel;
        perform(&mut connect(&self.private(DATABASE, cancel)?, cancel)?, action.undo)
    }
}

fn tables(client: &mut Client) -> Result<Vec<String>, EngineError> {
    let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = database() \
               AND table_type = 'BASE TABLE' ORDER BY table_name";
    let rows = client.query(sql).map_err(failed_at("reading the tables"))?.rows;
    Ok(rows.into_iter().flatten().flatten().collect())
}

fn columns(client: &mut Client, table: &str) -> Result<Vec<String>, EngineError> {
    let sql = format!(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = database() AND \
         table_name = {} ORDER BY ordinal_position",
        quote_literal(table)
    );
    let rows = client.query(&sql).map_err(failed_at("reading the columns"))?.rows;
    Ok(rows.into_iter().flatten().flatten().collect())
}

/// The complaints of the server's own check.
fn complaints(client: &mut Client, table: &str) -> Result<Vec<String>, EngineError> {
    let sql = format!("CHECK TABLE {}", quote_identifier(table));
    let rows = client.query(&sql).map_err(failed_at(&sql))?.rows;
    // Table, operation, kind of the message, message.
    let cell =
        |row: &[Option<String>], at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    let wrong = rows.iter().filter(|row| !(cell(row, 2) == "status" && cell(row, 3) == "OK"));
    Ok(wrong.map(|row| format!("{table}: {}", cell(row, 3))).collect())
}

/// Rows of each table, with the sum and the exclusive or of the CRC-32 of their values as literals.
fn fingerprints(client: &mut Client) -> Result<Vec<Fingerprint>, EngineError> {
    let mut all = Vec::new();
    for table in tables(client)? {
        let columns = columns(client, &table)?;
        let quoted: Vec<String> =
            columns.iter().map(|own| format!("QUOTE({})", quote_identifier(own))).collect();
        let crc = format!("CRC32(CONCAT_WS(',', {}))", quoted.join(", "));
        let sql = format!(
            "SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM({crc}), 0), '-', BIT_XOR({crc})) FROM {}",
            quote_identifier(&table)
        );
        let doing = format!("reading table {table}");
        let found = client.cell(&sql).map_err(failed_at(&doing))?.unwrap_or_default();
        let (rows, checksum) = found.split_once(' ').unwrap_or_default();
        let (rows, checksum) = (rows.parse().unwrap_or(0), checksum.to_owned());
        all.push(Fingerprint { table, rows, checksum });
    }
    Ok(all)
}

/// Runs statements for each table.
fn perform(client: &mut Client, statements: &[&str]) -> Result<(), EngineError> {
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
