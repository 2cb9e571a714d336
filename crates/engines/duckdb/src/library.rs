//! DuckDB's C interface, declared by hand for the functions that are used, and safe types around
//! it. All that is unsafe about this engine is here.
//!
//! <https://duckdb.org/docs/stable/clients/c/api>. Functions are those of its stable part, as
//! DuckDB 1.2 has them, and two older ones that turn any value into text and that later versions
//! still have. There are no callbacks from DuckDB, so no panic can unwind through it.

mod append;
mod interface;

pub use append::{Appender, Chunk, ChunkType};
use engine::{EngineError, RetryCause};
use interface::{Handle, Interface, RawResult, Unsigned128};
use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use work::Parameter;

/// Why DuckDB does not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DuckDbError {
    /// It objects.
    #[error("{message}")]
    Refused {
        /// DuckDB's message.
        message: String,
    },
    /// A setting does not take its value.
    #[error("{name} does not accept {value}")]
    Setting {
        /// The setting.
        name: String,
        /// The value.
        value: String,
    },
    /// The limit of connections is reached.
    #[error("the database accepts no more connections")]
    Connections,
    /// The answer to an internal query is not a number.
    #[error("no number for {sql}")]
    NoNumber {
        /// The query.
        sql: String,
    },
    /// The text holds no statement.
    #[error("no statement")]
    NoStatement,
    /// A parameter does not take its value.
    #[error("parameter {number} cannot be bound: {message}")]
    Parameter {
        /// The number, from 1.
        number: u64,
        /// DuckDB's message.
        message: String,
    },
}

impl DuckDbError {
    /// Takes over a text that DuckDB keeps.
    ///
    /// # Safety
    /// As for [`text`].
    unsafe fn refused(message: *const c_char) -> Self {
        // SAFETY: the caller's.
        Self::Refused { message: unsafe { text(message) } }
    }
}

/// The answer of DuckDB, or its objection.
pub type Answered<T> = Result<T, DuckDbError>;

/// Converts a DuckDB error. Its message starts with the kind of the error.
pub fn failed(doing: impl Into<String>) -> impl FnOnce(DuckDbError) -> EngineError {
    move |error| {
        let (message, doing) = (error.to_string(), doing.into());
        if ["No space left on device", "Disk quota exceeded"]
            .iter()
            .any(|full| message.contains(full))
        {
            return EngineError::DiskFull { doing };
        }
        if message.starts_with("INTERRUPT Error") {
            return EngineError::Cancelled;
        }
        // "Conflict on update!", "Catalog write-write conflict on ...".
        if message.starts_with("TransactionContext Error")
            && message.to_lowercase().contains("conflict")
        {
            return EngineError::Retry { doing, message, cause: RetryCause::Conflict };
        }
        if message.starts_with("Constraint Error") {
            return EngineError::Violation { doing, message };
        }
        EngineError::Engine { doing, message }
    }
}

/// A libduckdb in this process. It is never unloaded: its threads and its threads' data would not
/// survive that.
pub struct Library {
    interface: Interface,
    /// As the library reports it, without the `v`: `1.2.2`.
    pub version: String,
    _loaded: Loaded,
}

type LibraryVersion = unsafe extern "C" fn() -> *const c_char;

/// Why a file is not a library that we can use.
pub enum Unusable {
    /// It cannot be loaded, in the loader's words.
    NotLoaded(String),
    /// It lacks the function with this name.
    Lacks { function: &'static str, version: Option<String> },
}

impl Library {
    /// Loads a library: a path, or a name that the loader looks for.
    pub fn load(name: &OsStr) -> Result<Self, Unusable> {
        // SAFETY: loading runs what the library does when it begins; the user has named it. Its
        // names are not made known to other libraries, so that two versions do not meet.
        let loaded = unsafe { Loaded::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        let loaded = loaded.map_err(|error| Unusable::NotLoaded(words(&error)))?;
        // SAFETY: this function has had this type in every version of DuckDB.
        let version = unsafe {
            loaded.get::<LibraryVersion>(b"duckdb_library_version\0").map(|version| text(version()))
        };
        let version = version.ok().map(|version| version.trim_start_matches('v').to_owned());
        let interface = Interface::find(&loaded)
            .map_err(|function| Unusable::Lacks { function, version: version.clone() })?;
        let version = version.unwrap_or_default();
        Ok(Self { interface, version, _loaded: loaded })
    }

    /// Rows of a [`Chunk`] at most.
    pub fn chunk_rows(&self) -> usize {
        // SAFETY: a constant of the library.
        unsafe { (self.interface.duckdb_vector_size)() as usize }
    }
}

/// The loader's error, which `libloading` keeps as the cause of its own.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// A text that DuckDB keeps.
///
/// # Safety
/// Null, or a text that ends with 0 and lives until this returns.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: as the caller guarantees.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// A text for DuckDB. One with a 0 in it ends there, as it does for every function that takes such
/// a text.
fn terminated(text: impl AsRef<[u8]>) -> CString {
    let bytes = text.as_ref();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

/// An open database. Dropping it closes it once its last connection is gone.
pub struct Database {
    library: &'static Library,
    handle: Handle,
}

// SAFETY: DuckDB permits any thread to connect to a database, several at a time.
unsafe impl Send for Database {}
// SAFETY: as above; nothing else is done with it but closing, which needs it alone.
unsafe impl Sync for Database {}

impl Database {
    /// Opens a file, creating it where it is not there, or a database in memory, with these
    /// settings.
    pub fn open(
        library: &'static Library,
        path: Option<&Path>,
        settings: &[(String, String)],
    ) -> Answered<Arc<Self>> {
        let path = path.map(|path| terminated(path.as_os_str().as_bytes()));
        let path = path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        let interface = &library.interface;
        let (mut config, mut handle, mut error) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: the places for answers are valid; a configuration that was made is destroyed, an
        // error freed.
        unsafe {
            (interface.duckdb_create_config)(&raw mut config);
            let set = settings.iter().find(|(name, value)| {
                let (name, value) = (terminated(name), terminated(value));
                (interface.duckdb_set_config)(config, name.as_ptr(), value.as_ptr()) != 0
            });
            let state = match set {
                Some(_) => 1,
                None => (interface.duckdb_open_ext)(path, &raw mut handle, config, &raw mut error),
            };
            (interface.duckdb_destroy_config)(&raw mut config);
            let objection = match set {
                Some((name, value)) => {
                    DuckDbError::Setting { name: name.clone(), value: value.clone() }
                }
                None => DuckDbError::refused(error),
            };
            if !error.is_null() {
                (interface.duckdb_free)(error.cast());
            }
            if state == 0 { Ok(Arc::new(Self { library, handle })) } else { Err(objection) }
        }
    }

    /// A new connection.
    pub fn connect(self: &Arc<Self>) -> Answered<Connection> {
        let mut handle = ptr::null_mut();
        // SAFETY: the database is open, the place for the answer valid.
        let state =
            unsafe { (self.library.interface.duckdb_connect)(self.handle, &raw mut handle) };
        if state != 0 {
            return Err(DuckDbError::Connections);
        }
        Ok(Connection(Arc::new(Handles { database: self.clone(), handle })))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: it is open; connections hold the database, so that none is left.
        unsafe { (self.library.interface.duckdb_close)(&raw mut self.handle) }
    }
}

/// A connection's handle, which those share who may interrupt it.
pub(crate) struct Handles {
    database: Arc<Database>,
    handle: Handle,
}

// SAFETY: DuckDB permits a connection to move between threads.
unsafe impl Send for Handles {}
// SAFETY: others than its owner only interrupt it, which DuckDB permits at any time.
unsafe impl Sync for Handles {}

impl Handles {
    /// Has the statement that runs, if one does, end with an error.
    pub fn interrupt(&self) {
        // SAFETY: the connection is open as long as this is.
        unsafe { (self.database.library.interface.duckdb_interrupt)(self.handle) }
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: it is open, and this is the last use.
        unsafe { (self.database.library.interface.duckdb_disconnect)(&raw mut self.handle) }
    }
}

/// A connection, used by one thread at a time.
pub struct Connection(Arc<Handles>);

impl Connection {
    /// Returns the part that others need to interrupt it.
    pub fn shared(&self) -> &Arc<Handles> {
        &self.0
    }

    /// The library that it belongs to.
    pub fn library(&self) -> &'static Library {
        self.0.database.library
    }

    /// Prepares the only statement of a text, or the last of several after running those before it.
    pub fn prepare(&self, sql: &str) -> Answered<Prepared> {
        let mut last = None;
        self.each(sql, |statement| {
            last.replace(statement)
                .map_or(Ok(()), |mut before: Prepared| before.execute().map(drop))
        })?;
        last.ok_or(DuckDbError::NoStatement)
    }

    /// Prepares each statement of a text, when those before it have been dealt with.
    pub fn each(&self, sql: &str, mut deal: impl FnMut(Prepared) -> Answered<()>) -> Answered<()> {
        let interface = &self.library().interface;
        let (sql, mut extracted) = (terminated(sql), ptr::null_mut());
        // SAFETY: the connection is open, the text ends with 0; what was extracted is destroyed
        // below, and its error is read before.
        unsafe {
            let handle = self.0.handle;
            let count =
                (interface.duckdb_extract_statements)(handle, sql.as_ptr(), &raw mut extracted);
            let text = text((interface.duckdb_extract_statements_error)(extracted));
            let mut result =
                if text.is_empty() { Ok(()) } else { Err(DuckDbError::Refused { message: text }) };
            for index in 0..count {
                result = result.and_then(|()| {
                    let mut statement = ptr::null_mut();
                    let prepare = interface.duckdb_prepare_extracted_statement;
                    let state = prepare(handle, extracted, index, &raw mut statement);
                    let statement = Prepared { connected: self.0.clone(), handle: statement };
                    if state != 0 {
                        return Err(DuckDbError::refused((interface.duckdb_prepare_error)(
                            statement.handle,
                        )));
                    }
                    deal(statement)
                });
            }
            (interface.duckdb_destroy_extracted)(&raw mut extracted);
            result
        }
    }

    /// Runs the statements of a text.
    pub fn run(&self, sql: &str) -> Answered<()> {
        self.each(sql, |mut statement| statement.execute().map(drop))
    }

    /// Begins to append rows that have these columns of a table.
    pub fn appender(&self, table: &str, columns: &[&str]) -> Answered<Appender> {
        let interface = &self.library().interface;
        let (table, mut handle) = (terminated(table), ptr::null_mut());
        // SAFETY: the connection is open, the text ends with 0, and no schema means the default
        // one.
        let state = unsafe {
            (interface.duckdb_appender_create)(
                self.0.handle,
                ptr::null(),
                table.as_ptr(),
                &raw mut handle,
            )
        };
        let appender = Appender { connected: self.0.clone(), handle };
        appender.check(state)?;
        for column in columns {
            let column = terminated(column);
            // SAFETY: the appender exists, the text ends with 0.
            appender.check(unsafe {
                (interface.duckdb_appender_add_column)(handle, column.as_ptr())
            })?;
        }
        Ok(appender)
    }
}

/// A prepared statement. Parameters are numbered from 1 and keep their values.
pub struct Prepared {
    connected: Arc<Handles>,
    handle: Handle,
}

// SAFETY: a statement moves with the connection that it is of, whose owner has it.
unsafe impl Send for Prepared {}

impl Prepared {
    fn interface(&self) -> &'static Interface {
        &self.connected.database.library.interface
    }

    /// Number of parameters.
    pub fn parameters(&self) -> u64 {
        // SAFETY: the statement exists.
        unsafe { (self.interface().duckdb_nparams)(self.handle) }
    }

    /// Gives a parameter its value.
    pub fn bind(&mut self, number: u64, value: &Parameter) -> Answered<()> {
        let (interface, handle) = (self.interface(), self.handle);
        // SAFETY: the statement exists; DuckDB checks the number and copies the value.
        let state = unsafe {
            match value {
                Parameter::Null => (interface.duckdb_bind_null)(handle, number),
                Parameter::Bool(value) => (interface.duckdb_bind_boolean)(handle, number, *value),
                Parameter::Integer(value) => (interface.duckdb_bind_int64)(handle, number, *value),
                Parameter::Double(value) => (interface.duckdb_bind_double)(handle, number, *value),
                Parameter::Text(value) => {
                    let (start, length) = (value.as_ptr().cast(), value.len() as u64);
                    (interface.duckdb_bind_varchar_length)(handle, number, start, length)
                }
            }
        };
        self.bound(state, number)
    }

    /// Gives a parameter a UUID.
    pub fn bind_uuid(&mut self, number: u64, value: u128) -> Answered<()> {
        let interface = self.interface();
        // SAFETY: as in `bind`; the value that is made is destroyed.
        let state = unsafe {
            let halves = Unsigned128 { lower: value as u64, upper: (value >> 64) as u64 };
            let mut value = (interface.duckdb_create_uuid)(halves);
            let state = (interface.duckdb_bind_value)(self.handle, number, value);
            (interface.duckdb_destroy_value)(&raw mut value);
            state
        };
        self.bound(state, number)
    }

    fn bound(&self, state: u32, number: u64) -> Answered<()> {
        // SAFETY: the statement exists.
        let text = || unsafe { text((self.interface().duckdb_prepare_error)(self.handle)) };
        if state == 0 { Ok(()) } else { Err(DuckDbError::Parameter { number, message: text() }) }
    }

    /// Runs it to its end.
    pub fn execute(&mut self) -> Answered<Answer> {
        let raw = RawResult { counts: [0; 3], pointers: [ptr::null_mut(); 3] };
        let mut answer = Answer { library: self.connected.database.library, raw };
        // SAFETY: the statement exists; the answer is destroyed when it is dropped, also that of a
        // failure.
        unsafe {
            let state =
                (self.interface().duckdb_execute_prepared)(self.handle, &raw mut answer.raw);
            if state == 0 {
                return Ok(answer);
            }
            Err(DuckDbError::refused((self.interface().duckdb_result_error)(&raw mut answer.raw)))
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: it exists, also when preparing failed.
        unsafe { (self.interface().duckdb_destroy_prepare)(&raw mut self.handle) }
    }
}

/// The rows that a statement answered with.
pub struct Answer {
    library: &'static Library,
    raw: RawResult,
}

impl Answer {
    /// Names of the columns.
    pub fn columns(&mut self) -> Vec<String> {
        let interface = &self.library.interface;
        // SAFETY: the answer exists, and column numbers are below their count.
        unsafe {
            let count = (interface.duckdb_column_count)(&raw mut self.raw);
            (0..count)
                .map(|at| text((interface.duckdb_column_name)(&raw mut self.raw, at)))
                .collect()
        }
    }

    /// Number of rows.
    pub fn rows(&mut self) -> u64 {
        // SAFETY: the answer exists.
        unsafe { (self.library.interface.duckdb_row_count)(&raw mut self.raw) }
    }

    /// A cell as text; `None` for NULL, and for what is not there.
    pub fn cell(&mut self, column: u64, row: u64) -> Option<String> {
        let interface = &self.library.interface;
        // SAFETY: the answer exists; DuckDB answers with null for a place outside of it, and what
        // it gives is freed.
        unsafe {
            let cell = (interface.duckdb_value_varchar)(&raw mut self.raw, column, row);
            let value = (!cell.is_null()).then(|| text(cell));
            (interface.duckdb_free)(cell.cast());
            value
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: it was filled by DuckDB or is all zero, which means empty.
        unsafe { (self.library.interface.duckdb_destroy_result)(&raw mut self.raw) }
    }
}
