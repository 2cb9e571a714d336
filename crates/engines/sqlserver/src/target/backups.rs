//! Backups of our database beside a load: `BACKUP DATABASE` to files of the server, restored into
//! a second database, which is marked as ours before it exists and dropped then.

use super::backup_statements::{
    MEDIA, Move, TABLES, backup, check, file_list, files, fingerprint, label, restore, sizes,
};
use super::database::{RESTORED, drop_restored, mark_restored};
use super::failures::failed_at;
use super::instance::MssqlInstance;
use super::layout::DATABASE;
use crate::live::client::{Client, Error};
use engine::backups::{BackgroundWork, Backup, BackupRequest, Fingerprint, Restore};
use engine::{EngineError, Result};
use std::path::Path;
use std::time::Instant;
use work::Cancel;

/// The database of sessions that make and restore backups.
const MASTER: &str = "master";

/// The server cannot open a file of a backup.
const CANNOT_OPEN: u32 = 3201;
/// Part of its message where the file does not exist: the operating system's error, in any
/// language.
const NO_FILE: &str = " 2(";

impl BackgroundWork for MssqlInstance {
    fn take(&self, request: &BackupRequest, _: &Cancel) -> Result<Backup> {
        let mut master = self.database.session(MASTER)?;
        let files = files(request);
        files.iter().try_for_each(|file| refuse_foreign(&mut master, file))?;
        let doing = "backing up the database";
        master.run(&backup(&files, request)).map_err(failed_at(doing))?;
        let sizes = master.query(&sizes()).map_err(failed_at("reading the size of the backup"))?;
        let size = |column: &str| sizes.first().and_then(|row| row.parse::<u64>(column));
        let unknown = || EngineError::failed(doing, "msdb.dbo.backupset does not list it");
        Ok(Backup {
            path: request.folder.clone(),
            server_bytes: Some(size("backup_bytes").ok_or_else(unknown)?),
            data_bytes: size("data_bytes").ok_or_else(unknown)?,
            cpu_s: None,
            restarts: 0,
        })
    }

    fn restore(
        &self,
        request: &BackupRequest,
        _: &Backup,
        _: &Path,
        _: &Cancel,
    ) -> Result<Restore> {
        let mut master = self.database.session(MASTER)?;
        mark_restored(&mut master)?;
        // One that an earlier restore has left.
        drop_restored(&mut master)?;
        let restored = self.restore_marked(&mut master, &files(request));
        let dropped = match self.database.session(MASTER) {
            Ok(mut again) => drop_restored(&mut again),
            Err(error) => Err(error),
        };
        let restored = restored?;
        dropped.map(|()| restored)
    }

    /// The files are the server's: the next backup replaces them.
    fn discard(&self, _: &Backup) -> Result<()> {
        Ok(())
    }

    fn fingerprints(&self) -> Result<Vec<Fingerprint>> {
        fingerprints(&mut self.database.session(DATABASE)?)
    }

    fn perform(&self, _: &[&str], _: u32, _: &Cancel) -> Result<f64> {
        Err(EngineError::Unsupported { engine: "sqlserver", what: "this action" })
    }
}

impl MssqlInstance {
    /// Restores into the marked database and reads it.
    fn restore_marked(&self, master: &mut Client, files: &[String]) -> Result<Restore> {
        let start = Instant::now();
        let doing = "reading the files in the backup";
        let listed = master.query(&file_list(files)).map_err(failed_at(doing))?;
        let moves: Vec<Move> = (1..)
            .zip(listed.iter())
            .map(|(number, row)| {
                Move::sibling(number, &row.text("LogicalName"), &row.text("PhysicalName"))
            })
            .collect();
        master.run(&restore(files, &moves)).map_err(failed_at("restoring the backup"))?;
        let placed_s = start.elapsed().as_secs_f64();
        let mut inside = self.database.session(RESTORED)?;
        inside.query(TABLES).map_err(failed_at("reading the tables"))?;
        let first_query_s = start.elapsed().as_secs_f64();
        let complaints = match master.run(&check()) {
            Ok(()) => Vec::new(),
            Err(Error::Server { number, message }) => vec![format!("error {number}: {message}")],
            Err(error) => return Err(failed_at("checking the restored database")(error)),
        };
        let consistent_s = start.elapsed().as_secs_f64();
        Ok(Restore {
            placed_s,
            first_query_s,
            consistent_s,
            caught_up_s: None,
            complaints,
            tables: fingerprints(&mut inside)?,
        })
    }
}

/// Refuses to replace a file without our label.
fn refuse_foreign(master: &mut Client, file: &str) -> Result<()> {
    let doing = format!("reading the label of {file} on the server");
    let foreign = |why: &str| {
        EngineError::failed(
            format!("writing {file} on the server"),
            format!(
                "it exists and Steelbench did not create it{why}; set background.server_folder"
            ),
        )
    };
    match master.query(&label(file)) {
        Ok(rows) if rows.first().is_some_and(|row| row.get("MediaName") == Some(MEDIA)) => Ok(()),
        Ok(_) => Err(foreign("")),
        Err(Error::Server { number: CANNOT_OPEN, message }) if message.contains(NO_FILE) => Ok(()),
        Err(Error::Server { number, message }) if number != CANNOT_OPEN => {
            Err(foreign(&format!(" (error {number}: {message})")))
        }
        Err(error) => Err(failed_at(&doing)(error)),
    }
}

/// Rows of each table, with their checksums.
fn fingerprints(client: &mut Client) -> Result<Vec<Fingerprint>> {
    let tables = client.query(TABLES).map_err(failed_at("reading the tables"))?;
    let mut all = Vec::new();
    for table in tables.iter() {
        let (schema, name) = (table.text("table_schema"), table.text("table_name"));
        let doing = format!("reading table {name}");
        let found = client.query(&fingerprint(&schema, &name)).map_err(failed_at(&doing))?;
        let row = found.first();
        let rows = row.and_then(|row| row.parse("row_count"));
        all.push(Fingerprint {
            table: format!("{schema}.{name}"),
            rows: rows
                .ok_or_else(|| EngineError::failed(&doing, "the answer is not a number of rows"))?,
            checksum: row.map(|row| row.text("checksum")).unwrap_or_default(),
        });
    }
    Ok(all)
}
