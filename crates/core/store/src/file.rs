use crate::claim::RunLock;
use crate::schema::{self, APPLICATION_ID};
use crate::{Fault, Result, StoreError};
use observations::{Recording, Roles};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time to wait for another process: a reader of a large file keeps a writer waiting no longer.
const BUSY_WAIT: Duration = Duration::from_secs(30);
/// Longest time of one read. A large file takes seconds; one that takes longer is not a genuine
/// results file.
const READING_MAX: Duration = Duration::from_secs(60);
/// Most bytes of a row that is read; nothing that we write comes near to it, and reading takes
/// several times its memory.
const ROW_BYTES_MAX: i32 = 128 << 20;
/// Steps of SQLite's machine between two looks at the time: some milliseconds.
const STEPS: i32 = 100_000;
/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// SQLite has no smaller page: whatever begins like SQLite and is shorter was cut off.
const PAGE_BYTES_MIN: u64 = 512;
const WRITING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE;

/// Derives the roles of settings from declarations, for runs that recorded none.
#[derive(Clone)]
pub struct DeclaredRoles(Arc<dyn Fn(&Recording) -> Roles + Send + Sync>);

impl DeclaredRoles {
    /// Roles by this function.
    pub fn new(derive: impl Fn(&Recording) -> Roles + Send + Sync + 'static) -> Self {
        Self(Arc::new(derive))
    }

    pub(crate) fn roles(&self, recording: &Recording) -> Roles {
        (self.0)(recording)
    }
}

impl std::fmt::Debug for DeclaredRoles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DeclaredRoles")
    }
}

/// An open results file.
///
/// The file is kept in rollback-journal mode (`journal_mode = DELETE`), not WAL: between
/// transactions the results are one file that can be copied, mailed or put on a read-only share.
/// What is committed survives the end of every process, and the file a power failure (`synchronous
/// = NORMAL`). A trial of a second or more survives that too: `EXTRA` also syncs the journal's
/// header, and the folder when the journal is gone.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// The time that one reading may take.
    pub(crate) reading_max: Duration,
    /// Roles of the settings of a run that recorded none.
    pub(crate) declared: DeclaredRoles,
    /// When the reading at hand has to be over; `None` while the file is written.
    deadline: Arc<Mutex<Option<Instant>>>,
}

impl Store {
    /// Opens a results file for writing; creates it when it does not exist and brings an older
    /// format up to date. Fails as [`Store::open`] does save with `Missing` and `Empty`; with
    /// `ReadOnly` when it cannot be written.
    pub fn create_or_open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        refuse_foreign_journals(path)?;
        if path.exists() {
            refuse_other_files(path)?;
        }
        let mut store = Self::connect(path, WRITING | OpenFlags::SQLITE_OPEN_CREATE)?;
        // SQLite silently opens a file that may not be written for reading only.
        if store.sql(|connection| connection.is_readonly("main"))? {
            return Err(Fault::ReadOnly.at(path));
        }
        if store.version()? < schema::NEWEST {
            store.write(schema::migrate)?;
        }
        Ok(store)
    }

    /// Opens a results file for reading. Writing to the store is then a `ReadOnly` error.
    ///
    /// The file is touched only to roll back what a killed run left half written: of an older
    /// format, a copy in memory is brought up to date. Fails with `Missing`, `Empty`,
    /// `Foreign`, `ForeignJournal`, `Damaged`, `Older`, `Newer`, `Busy`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        // A reader opens for writing too: only then can SQLite roll back a killed run's journal.
        Self::open_with(path.as_ref(), WRITING)
    }

    /// Opens a file without touching it. Fails likewise, and with `ReadOnly` where a killed run's
    /// journal must be rolled back.
    pub(crate) fn open_untouched(path: &Path) -> Result<Self> {
        Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn open_with(path: &Path, flags: OpenFlags) -> Result<Self> {
        refuse_foreign_journals(path)?;
        if refuse_other_files(path)? == 0 {
            return Err(Fault::Empty.at(path));
        }
        let mut store = Self::connect(path, flags)?;
        match store.version()? {
            0 => return Err(Fault::Empty.at(path)),
            schema::NEWEST => {}
            _ => store.bring_copy_up_to_date()?,
        }
        store.sql(|connection| {
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX)?;
            connection.pragma_update(None, "query_only", true)
        })?;
        Ok(store)
    }

    /// Continues with a copy in memory, in the newest format.
    fn bring_copy_up_to_date(&mut self) -> Result<()> {
        let mut copy = || {
            let mut copy = Connection::open_in_memory()?;
            let bytes = self.connection.serialize("main")?;
            copy.deserialize_read_exact("main", &*bytes, bytes.len(), false)?;
            Ok(copy)
        };
        self.connection =
            copy().map_err(|error: rusqlite::Error| Fault::from(error).at(&self.path))?;
        self.watch_deadline()?;
        self.write(schema::migrate)
    }

    /// Derives the roles of settings from today's declarations for runs of versions that recorded
    /// none.
    #[must_use]
    pub fn with_declared_roles(self, declared: DeclaredRoles) -> Self {
        Self { declared, ..self }
    }

    /// The file's path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Claims the file for one run until the guard is dropped or the process dies. Readers need no
    /// claim. Fails with `InUse`, with the process that has it.
    pub fn lock_for_run(&self) -> Result<RunLock> {
        RunLock::acquire(&self.path).map_err(|fault| self.fault(fault))
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self> {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let connection = connection.map_err(|error| Fault::from(error).at(path))?;
        let (path, deadline) = (path.to_owned(), Arc::default());
        let declared = DeclaredRoles::new(|_| Roles::default());
        let mut store = Self { connection, path, reading_max: READING_MAX, declared, deadline };
        store.watch_deadline()?;
        store.sql(|connection| {
            connection.busy_timeout(BUSY_WAIT)?;
            // Nothing in the file may call functions that do more than compute.
            connection.pragma_update(None, "trusted_schema", false)?;
            connection.pragma_update(None, "foreign_keys", true)
        })?;
        Ok(store)
    }

    /// Has SQLite stop a reading that takes too long.
    fn watch_deadline(&mut self) -> Result<()> {
        let deadline = self.deadline.clone();
        let set = self.connection.progress_handler(
            STEPS,
            Some(move || {
                deadline
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .is_some_and(|end| Instant::now() > end)
            }),
        );
        set.map_err(|error| self.fault(error.into()))
    }

    /// The format of the file; 0 when nothing was written yet.
    fn version(&self) -> Result<i64> {
        let found = self.sql(schema::inspect)?;
        self.refuse_cut_file()?;
        match found {
            // A new file, or one whose creation was interrupted.
            (0, 0, 0) => Ok(0),
            (APPLICATION_ID, version, _) if version < schema::FIRST => {
                Err(self.fault(Fault::Older(version)))
            }
            (APPLICATION_ID, version, _) if version > schema::NEWEST => {
                Err(self.fault(Fault::Newer(version)))
            }
            (APPLICATION_ID, version, _) => {
                match self.sql(|connection| schema::foreign(connection, version))? {
                    Some(what) => Err(self.fault(Fault::Altered(what))),
                    None => Ok(version),
                }
            }
            (id, ..) => {
                let what = format!("another program's database (application id {id})");
                Err(self.fault(Fault::Foreign(what)))
            }
        }
    }

    /// SQLite counts a last page that was cut as whole and reads zeros there.
    fn refuse_cut_file(&self) -> Result<()> {
        let (pages, page_size): (u64, u64) = self.sql(|connection| {
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
            Ok((pragma("page_count")?, pragma("page_size")?))
        })?;
        let metadata =
            self.path.metadata().map_err(|error| self.fault(Fault::io("read it", error)))?;
        if metadata.len() < pages * page_size {
            let detail =
                format!("truncated: {} bytes instead of {}", metadata.len(), pages * page_size);
            return Err(self.fault(Fault::Damaged(detail)));
        }
        Ok(())
    }

    /// Runs SQL that reads, within the time for it, naming the file in the error.
    pub(crate) fn sql<'c, T>(
        &'c self,
        work: impl FnOnce(&'c Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.end_at(Some(Instant::now() + self.reading_max));
        work(&self.connection).map_err(|error| self.fault(error.into()))
    }

    /// Writes in a transaction that takes the writers' lock first: two processes may write
    /// concurrently.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.write_with("NORMAL", work)
    }

    /// Writes with the durability of SQLite's `synchronous` of this name.
    pub(crate) fn write_with<T>(
        &mut self,
        synchronous: &str,
        work: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.end_at(None);
        let set = self.connection.pragma_update(None, "synchronous", synchronous);
        let transaction = set.and_then(|()| {
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)
        });
        let written = transaction.and_then(|transaction| {
            let result = work(&transaction)?;
            transaction.commit().map(|()| result)
        });
        written.map_err(|error| Fault::from(error).at(&self.path))
    }

    fn end_at(&self, end: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// An error of this file.
    pub(crate) fn fault(&self, fault: Fault) -> StoreError {
        fault.at(&self.path)
    }
}

/// Refuses journals beside a results file that are not regular files: SQLite would open them, and
/// opening a named pipe waits for its other end.
fn refuse_foreign_journals(path: &Path) -> Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for ending in ["-journal", "-wal", "-shm"] {
        let mut journal = real.clone().into_os_string();
        journal.push(ending);
        if Path::new(&journal).symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Fault::ForeignJournal(ending).at(path));
        }
    }
    Ok(())
}

/// Refuses what SQLite would not, or not in our words. Returns the length of the file.
///
/// Looks at the file from outside: a process that opens and closes a file loses the locks that it
/// has on it, here those of other stores (fcntl(2)). A file that is shorter than the smallest page
/// may be opened: it is not a database, so there are no locks on it.
fn refuse_other_files(path: &Path) -> Result<u64> {
    let unreadable = |error| Fault::io("read it", error).at(path);
    let metadata = path.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Fault::Foreign("not a regular file".into()).at(path));
    }
    if (1..PAGE_BYTES_MIN).contains(&metadata.len()) {
        let start = std::fs::read(path).map_err(unreadable)?;
        let fault = if MAGIC.starts_with(&start[..start.len().min(MAGIC.len())]) {
            Fault::Damaged(format!("truncated to {} bytes", metadata.len()))
        } else {
            Fault::Foreign("not an SQLite database".into())
        };
        return Err(fault.at(path));
    }
    Ok(metadata.len())
}
