//! Backups beside a load: `EXPORT DATABASE` as Parquet files, imported into another database.

use super::dialect::{SQL, literal};
use super::instance::DuckDbInstance;
use super::library::{Connection, failed};
use engine::backups::{BackgroundWork, Backup, BackupRequest, Fingerprint, Restore};
use engine::{EngineError, Instance as _, Result};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Instant;
use work::Cancel;

impl BackgroundWork for DuckDbInstance {
    fn take(&self, request: &BackupRequest, _: &Cancel) -> Result<Backup> {
        let path = request.folder.join("backup");
        let data_bytes = self.space_bytes().unwrap_or(0);
        // A backup has all the data.
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(EngineError::at(&path))?;
        let compression =
            if request.compression == "none" { "uncompressed" } else { request.compression };
        let to = literal(&path.to_string_lossy());
        let sql = format!("EXPORT DATABASE {to} (FORMAT parquet, COMPRESSION {compression})");
        self.target.connect()?.run(&sql).map_err(failed("exporting the database"))?;
        Ok(Backup { path, server_bytes: None, data_bytes, cpu_s: None, restarts: 0 })
    }

    fn restore(
        &self,
        _: &BackupRequest,
        backup: &Backup,
        folder: &Path,
        _: &Cancel,
    ) -> Result<Restore> {
        let (start, path) = (Instant::now(), folder.join("restored"));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(EngineError::at(&path))?;
        let database = self.target.open_at(&path.join("data.duckdb"))?;
        let connection = self.target.connect_to(&database)?;
        let from = literal(&backup.path.to_string_lossy());
        let import = format!("IMPORT DATABASE {from}");
        connection.run(&import).map_err(failed("importing the database"))?;
        connection.run("CHECKPOINT").map_err(failed("checkpoint after the import"))?;
        let placed_s = start.elapsed().as_secs_f64();
        tables(&connection)?;
        let first_query_s = start.elapsed().as_secs_f64();
        let found = fingerprints(&connection)?;
        drop((connection, database));
        std::fs::remove_dir_all(&path).map_err(EngineError::at(&path))?;
        Ok(Restore::by_statements(placed_s, first_query_s, found))
    }

    fn fingerprints(&self) -> Result<Vec<Fingerprint>> {
        fingerprints(&self.target.connect()?)
    }

    fn perform(&self, _: &[&str], _: u32, _: &Cancel) -> Result<f64> {
        Err(EngineError::Unsupported { engine: "duckdb", what: "this action" })
    }
}

/// Names of the tables of a database.
fn tables(connection: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_name";
    let found = connection.prepare(sql).and_then(|mut prepare| prepare.execute());
    let mut found = found.map_err(failed("reading the tables"))?;
    Ok((0..found.rows()).filter_map(|row| found.cell(0, row)).collect())
}

/// Rows of each table, and the sum of their hashes.
fn fingerprints(connection: &Connection) -> Result<Vec<Fingerprint>> {
    let mut all = Vec::new();
    for table in tables(connection)? {
        let sql = format!(
            "SELECT count(*), coalesce(sum(hash(own)::HUGEINT), 0)::VARCHAR FROM {} AS own",
            SQL.quote(&table)
        );
        let found = connection.prepare(&sql).and_then(|mut prepare| prepare.execute());
        let mut found = found.map_err(failed(format!("reading table {table}")))?;
        let rows = found.cell(0, 0).and_then(|cell| cell.parse().ok()).unwrap_or(0);
        let checksum = found.cell(1, 0).unwrap_or_default();
        all.push(Fingerprint { table, rows, checksum });
    }
    Ok(all)
}
