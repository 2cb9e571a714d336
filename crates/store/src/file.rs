use crate::schema::{self, Found};
use crate::{Result, RunLock, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for another process: a reader of a large file keeps a writer waiting no longer.
const BUSY_WAIT: Duration = Duration::from_secs(30);
/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// An open results file.
///
/// The file is kept in rollback-journal mode (`journal_mode = DELETE`), not WAL: between
/// transactions the results are one file that can be copied, mailed or put on a read-only share.
/// A commit is rare (one a trial), so it may cost what it costs: `synchronous = EXTRA` also syncs
/// the folder, and a trial that was announced as finished survives a power failure.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens a results file for writing; creates it when it does not exist and brings an older
    /// format up to date.
    ///
    /// # Errors
    /// Those of [`Store::open`] save `Missing` and `Empty`; `ReadOnly` when it cannot be written.
    pub fn create_or_open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path.exists() {
            refuse_other_files(path)?;
        }
        let mut store = Self::connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        // SQLite silently opens a file that may not be written for reading only.
        if store.sql(|connection| connection.is_readonly("main"))? {
            return Err(StoreError::ReadOnly { path: path.to_owned() });
        }
        if store.version()? < schema::NEWEST {
            store.sql_mut(schema::migrate)?;
        }
        Ok(store)
    }

    /// Opens a results file for reading. Writing to the store is then a `ReadOnly` error.
    ///
    /// The file itself is touched only to bring an older format up to date or to roll back what a
    /// killed run left half written.
    ///
    /// # Errors
    /// `Missing`, `Empty`, `Foreign`, `Damaged`, `Newer`, `Busy`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if refuse_other_files(path)? == 0 {
            return Err(StoreError::Empty { path: path.to_owned() });
        }
        let mut store = Self::connect(path, OpenFlags::empty())?;
        match store.version()? {
            0 => return Err(StoreError::Empty { path: path.to_owned() }),
            schema::NEWEST => {}
            _ => store.sql_mut(schema::migrate)?,
        }
        store.sql(|connection| connection.pragma_update(None, "query_only", true))?;
        Ok(store)
    }

    /// The file's path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Claims the file for one run until the guard is dropped or the process dies. Readers need no claim.
    ///
    /// # Errors
    /// `InUse`, with the process that has it.
    pub fn lock_for_run(&self) -> Result<RunLock> {
        RunLock::acquire(&self.path)
    }

    /// Checks the whole file: pages, indexes and references between tables. Takes as long as reading it.
    ///
    /// # Errors
    /// `Damaged`, with the first finding.
    pub fn check_integrity(&self) -> Result<()> {
        let finding: String =
            self.sql(|connection| connection.pragma_query_value(None, "integrity_check", |row| row.get(0)))?;
        let orphans: i64 = self.sql(|connection| {
            connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
        })?;
        let detail = match (finding.as_str(), orphans) {
            ("ok", 0) => return Ok(()),
            ("ok", orphans) => format!("{orphans} rows refer to rows that are missing"),
            (finding, _) => finding.to_owned(),
        };
        Err(StoreError::Damaged { path: self.path.clone(), detail })
    }

    fn connect(path: &Path, create: OpenFlags) -> Result<Self> {
        // A reader opens for writing too: only then can SQLite roll back a killed run's journal.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| StoreError::sqlite(path, error))?;
        let store = Self { connection, path: path.to_owned() };
        store.sql(|connection| {
            connection.busy_timeout(BUSY_WAIT)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            connection.pragma_update(None, "synchronous", "EXTRA")
        })?;
        Ok(store)
    }

    /// The format of the file; 0 when nothing was written yet.
    fn version(&self) -> Result<i64> {
        let path = self.path.clone();
        let found = self.sql(schema::inspect)?;
        self.refuse_cut_file()?;
        match found {
            Found::Nothing => Ok(0),
            Found::Ours(version) if version > schema::NEWEST => {
                Err(StoreError::Newer { path, found: version, known: schema::NEWEST })
            }
            Found::Ours(version) => Ok(version),
            Found::Foreign(id) => Err(StoreError::Foreign {
                path,
                what: format!("another program's database (application id {id})"),
            }),
        }
    }

    /// SQLite counts a last page that was cut as whole and reads zeros there.
    fn refuse_cut_file(&self) -> Result<()> {
        let (pages, page_size): (u64, u64) = self.sql(|connection| {
            let sql = "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size";
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        let length = std::fs::metadata(&self.path)
            .map_err(|error| StoreError::io(&self.path, "read it", error))?
            .len();
        if length < pages * page_size {
            let detail = format!("truncated: {length} bytes instead of {}", pages * page_size);
            return Err(StoreError::Damaged { path: self.path.clone(), detail });
        }
        Ok(())
    }

    /// Runs SQL, naming the file in the error.
    pub(crate) fn sql<'c, T>(
        &'c self,
        work: impl FnOnce(&'c Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|error| StoreError::sqlite(&self.path, error))
    }

    /// The same for what needs a transaction.
    pub(crate) fn sql_mut<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&mut self.connection).map_err(|error| StoreError::sqlite(&self.path, error))
    }
}

/// Looks at the first bytes before SQLite does, which would call a short file of another program
/// a new database. Returns the length of the file.
fn refuse_other_files(path: &Path) -> Result<u64> {
    let foreign = |what: &str| StoreError::Foreign { path: path.to_owned(), what: what.to_owned() };
    let read_error = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => StoreError::Missing { path: path.to_owned() },
        _ => StoreError::io(path, "read it", error),
    };
    let mut file = File::open(path).map_err(read_error)?;
    let metadata = file.metadata().map_err(read_error)?;
    if !metadata.is_file() {
        return Err(foreign("not a regular file"));
    }
    let mut start = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).map_err(read_error)?;
    if !MAGIC.starts_with(&start) {
        return Err(foreign("no SQLite database"));
    }
    // 512 is the smallest page: whatever begins like SQLite and is shorter was cut off.
    if !start.is_empty() && metadata.len() < 512 {
        let detail = format!("truncated to {} bytes", metadata.len());
        return Err(StoreError::Damaged { path: path.to_owned(), detail });
    }
    Ok(metadata.len())
}
