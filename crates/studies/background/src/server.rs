//! Backups of private servers by client programs, and statements on their tables: the frame of
//! products that differ in programs and SQL.

use engine::backups::{BackgroundWork, Backup, BackupRequest, Fingerprint, Restore};
use engine::{
    AdminSession, Engine, EngineError, PrivateServer, Program, ProgramNames, Result, Rows,
    ServerError, failed_at,
};
use experiment::Configuration;
use observe::CpuUse;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use work::Cancel;
use work::sql::statement::filled;

/// The database into which a dump is restored.
pub const RESTORED: &str = "steelbench_restored";

/// Programs and SQL of the backups of a product's servers.
pub struct Product {
    /// Creates [`RESTORED`].
    pub create_restored: &'static str,
    /// Drops it, if it exists.
    pub drop_restored: &'static str,
    /// Lists the tables, in a row for each: `label`, and texts for the other statements by the
    /// names in their braces.
    pub tables: &'static str,
    /// Lists the columns of a table: `column`, quoted, and `value`, as its fingerprint wants it.
    pub columns: &'static str,
    /// Reads the number of rows of a table and their checksum. `{values}`: those of all columns.
    pub fingerprint: &'static str,
    /// The complaints of the server's own check of a table, where it has one.
    pub complaints: Option<Complaints>,
    /// Codes of the server's errors at a full disk.
    pub disk_full: &'static [&'static str],
    /// Names what a tool needs and this machine lacks.
    pub missing: fn(&ToolUse<'_>) -> Option<String>,
    /// States a difference between a tool and the server that it backs up.
    pub note: fn(&ToolUse<'_>) -> Option<String>,
    /// Returns the bytes of the data that a backup would have now.
    pub data_bytes: fn(&Task<'_>) -> Result<u64>,
    /// Makes a backup at a path. Returns the CPU seconds of its programs.
    pub take: fn(&Task<'_>, &Path) -> Result<f64>,
    /// Restores a backup, in this folder that is marked as ours.
    pub restore: fn(&Task<'_>, &Path, &Path) -> Result<Restore>,
}

/// The server's own check of a table.
pub struct Complaints {
    /// The statement.
    pub check: &'static str,
    /// Reads the complaints in its rows.
    pub read: fn(&Rows) -> Vec<String>,
}

/// The refusal of servers by URL.
pub const PRIVATE_ONLY: &str = "backups are measured on private servers; remove target.url";

/// The use of a backup tool by a configuration.
pub struct ToolUse<'a> {
    /// Name of the tool.
    pub tool: &'static str,
    /// Name of the compression; `none`: none.
    pub compression: &'static str,
    /// The settings of the trial.
    pub configuration: &'a Configuration,
    /// The engine.
    pub engine: &'static Engine,
}

impl ToolUse<'_> {
    /// Finds a client program for the private server; `None`: there is no such server.
    pub fn program(&self, program: ProgramNames) -> Option<Result<Program>> {
        self.engine.prerequisites?.program(self.configuration, program)
    }
}

/// A private server as the target of background work.
pub struct ServerWork<'a> {
    /// The server.
    pub server: &'a dyn PrivateServer,
    /// The product.
    pub product: &'static Product,
    /// The stop request of the trial.
    pub cancel: &'a Cancel,
}

impl ServerWork<'_> {
    fn task<'b>(&'b self, request: &'b BackupRequest, cancel: &'b Cancel) -> Task<'b> {
        Task { server: self.server, product: self.product, request, cancel }
    }
}

impl BackgroundWork for ServerWork<'_> {
    fn take(&self, request: &BackupRequest, cancel: &Cancel) -> Result<Backup> {
        let (task, path) = (self.task(request, cancel), request.folder.join("backup"));
        let data_bytes = (self.product.data_bytes)(&task)?;
        let cpu_s = Some((self.product.take)(&task, &path)?);
        Ok(Backup { path, server_bytes: None, data_bytes, cpu_s, restarts: 0 })
    }

    fn restore(
        &self,
        request: &BackupRequest,
        backup: &Backup,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<Restore> {
        (self.product.restore)(&self.task(request, cancel), &backup.path, folder)
    }

    fn fingerprints(&self) -> Result<Vec<Fingerprint>> {
        Session::open(self.server, self.product, None, self.cancel)?.fingerprints()
    }

    fn perform(&self, statements: &[&str], workers: u32, cancel: &Cancel) -> Result<f64> {
        let used = CpuUse::of_this_thread();
        let mut session = Session::open(self.server, self.product, None, cancel)?;
        for mut table in session.tables()? {
            session.add_columns(&mut table)?;
            table.texts.push(("workers".into(), workers.to_string()));
            for text in statements {
                let sql = table.fill(text);
                session.run(&sql, &sql)?;
            }
        }
        Ok(used.seconds())
    }
}

/// A backup of a private server, or its restore.
pub struct Task<'a> {
    /// The server.
    pub server: &'a dyn PrivateServer,
    /// The product.
    pub product: &'static Product,
    /// The settings of the backup.
    pub request: &'a BackupRequest,
    /// The stop request.
    pub cancel: &'a Cancel,
}

/// Variables by which programs find a server.
pub type Variables = Vec<(String, Option<String>)>;

impl Task<'_> {
    /// Opens a session in the database in which trials work.
    pub fn session(&self) -> Result<Session> {
        Session::open(self.server, self.product, None, self.cancel)
    }

    /// A command of a client program of the server's version.
    pub fn command(&self, program: ProgramNames) -> Result<Command> {
        let mut command = Command::new(self.server.program(program)?.path);
        command.current_dir("/");
        Ok(command)
    }

    /// Restores statements into a database of the server, which is dropped then. `run` runs the
    /// program, which finds that database by its variables.
    pub fn restore_database(&self, run: impl FnOnce(&Variables) -> Result<()>) -> Result<Restore> {
        let mut admin = self.session()?;
        let (drop_it, dropping) = (self.product.drop_restored, "dropping the restored database");
        admin.run(drop_it, dropping)?;
        let start = Instant::now();
        admin.run(self.product.create_restored, "creating a database for the restore")?;
        run(&self.server.environment(Some(RESTORED)))?;
        let placed_s = start.elapsed().as_secs_f64();
        let mut session = Session::open(self.server, self.product, Some(RESTORED), self.cancel)?;
        let restored = session.examine(start, placed_s, |_| Ok(None))?;
        drop(session);
        admin.run(drop_it, dropping)?;
        Ok(restored)
    }

    /// Starts a server on restored files with these settings in addition, and examines and removes
    /// it. `catch_up` has it catch up with its original, if it can.
    pub fn restore_server(
        &self,
        start: Instant,
        copy: Box<dyn PrivateServer>,
        more: &[(&str, String)],
        catch_up: impl FnOnce(&dyn PrivateServer, &mut Session) -> Result<bool>,
    ) -> Result<Restore> {
        let placed_s = start.elapsed().as_secs_f64();
        copy.start(more, self.cancel)?;
        let mut session = Session::open(&*copy, self.product, None, self.cancel)?;
        let restored = session.examine(start, placed_s, |session| {
            let has_caught_up = catch_up(&*copy, session)?;
            Ok(has_caught_up.then(|| start.elapsed().as_secs_f64()))
        })?;
        drop(session);
        copy.remove()?;
        Ok(restored)
    }
}

/// A table of the user or of a trial.
pub struct ServerTable {
    label: String,
    /// Texts by the names in the braces of statements.
    texts: Vec<(String, String)>,
}

impl ServerTable {
    fn fill(&self, statement: &str) -> String {
        let texts = self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        filled(statement, &texts.collect::<Vec<_>>())
    }
}

/// A session as superuser of a private server.
pub struct Session {
    inner: Box<dyn AdminSession>,
    product: &'static Product,
}

impl Session {
    fn open(
        server: &dyn PrivateServer,
        product: &'static Product,
        database: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Self> {
        Ok(Self { inner: server.session(database, None, cancel)?, product })
    }

    fn failed(&self, doing: &str, error: ServerError) -> EngineError {
        match &error.code {
            Some(code) if self.product.disk_full.contains(&code.as_str()) => {
                EngineError::DiskFull { doing: format!("{doing}: {error}") }
            }
            _ => failed_at(doing)(error),
        }
    }

    /// Runs a query.
    pub fn query(&mut self, sql: &str, doing: &str) -> Result<Rows> {
        self.inner.query(sql).map_err(|error| self.failed(doing, error))
    }

    /// The first value of a query's first row; empty for NULL, and where there is no row.
    pub fn cell(&mut self, sql: &str, doing: &str) -> Result<String> {
        Ok(self.query(sql, doing)?.cell().unwrap_or_default().to_owned())
    }

    /// Runs a statement that returns nothing.
    pub fn run(&mut self, sql: &str, doing: &str) -> Result<()> {
        self.inner.run(sql).map(drop).map_err(|error| self.failed(doing, error))
    }

    /// The tables of the database.
    fn tables(&mut self) -> Result<Vec<ServerTable>> {
        let rows = self.query(self.product.tables, "reading the tables")?;
        let names = rows.columns();
        let tables = rows.iter().map(|row| ServerTable {
            label: row.text("label"),
            texts: names.iter().map(|name| (name.clone(), row.text(name.as_str()))).collect(),
        });
        Ok(tables.collect())
    }

    /// Adds the texts of a table's columns.
    fn add_columns(&mut self, table: &mut ServerTable) -> Result<()> {
        let rows = self.query(&table.fill(self.product.columns), "reading the columns")?;
        let values: Vec<String> = rows.iter().map(|row| row.text("value")).collect();
        let first = rows.first().map(|row| row.text("column")).unwrap_or_default();
        table.texts.extend([("column".into(), first), ("values".into(), values.join(", "))]);
        Ok(())
    }

    /// Rows and checksum of each table.
    fn fingerprints(&mut self) -> Result<Vec<Fingerprint>> {
        let mut all = Vec::new();
        for mut table in self.tables()? {
            self.add_columns(&mut table)?;
            let doing = format!("reading table {}", table.label);
            let found = self.query(&table.fill(self.product.fingerprint), &doing)?;
            let row = found.first();
            all.push(Fingerprint {
                table: table.label,
                rows: row.and_then(|row| row.parse(0)).unwrap_or(0),
                checksum: row.map(|row| row.text(1)).unwrap_or_default(),
            });
        }
        Ok(all)
    }

    /// The complaints of the server's own check.
    fn complaints(&mut self, tables: &[ServerTable], check: &Complaints) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for table in tables {
            let sql = table.fill(check.check);
            let complaints = (check.read)(&self.query(&sql, &sql)?);
            all.extend(complaints.iter().map(|text| format!("{}: {text}", table.label)));
        }
        Ok(all)
    }

    /// Examines a restored database, whose files were in place after `placed_s`. `catch_up` returns
    /// when it had caught up, if it can.
    fn examine(
        &mut self,
        start: Instant,
        placed_s: f64,
        catch_up: impl FnOnce(&mut Self) -> Result<Option<f64>>,
    ) -> Result<Restore> {
        let tables = self.tables()?;
        let first_query_s = start.elapsed().as_secs_f64();
        // Without a check of its own a server answers as soon as its data is consistent.
        let (mut complaints, mut consistent_s) = (Vec::new(), first_query_s);
        if let Some(check) = &self.product.complaints {
            complaints = self.complaints(&tables, check)?;
            consistent_s = start.elapsed().as_secs_f64();
        }
        let caught_up_s = catch_up(self)?;
        let tables = self.fingerprints()?;
        Ok(Restore { placed_s, first_query_s, consistent_s, caught_up_s, complaints, tables })
    }
}
