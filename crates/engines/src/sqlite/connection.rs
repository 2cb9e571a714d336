//! Opening connections: which VFS, which files, how to wait for a lock.

use super::{failed, vfs};
use crate::{Cancel, EngineError};
use rusqlite::{Connection, OpenFlags, ffi};
use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;

/// Milliseconds to sleep before each further try for a lock: the steps of SQLite's own busy
/// timeout (<https://www.sqlite.org/c3ref/busy_timeout.html>), the last one repeated.
const BACK_OFF_MS: [u32; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// How a session waits for a lock that another one holds: SQLite's own steps, given up at the
/// timeout or as soon as the trial is asked to stop.
#[derive(Debug)]
pub struct BusyWait {
    timeout_ms: u64,
    cancel: Cancel,
}

impl BusyWait {
    /// Gives up after so many seconds.
    pub fn new(timeout_s: f64, cancel: Cancel) -> Self {
        Self { timeout_ms: (timeout_s * 1e3) as u64, cancel }
    }

    /// Makes a connection wait like this.
    ///
    /// # Safety
    /// `self` must outlive the connection and must not move.
    pub unsafe fn install(&self, connection: &Connection) {
        let this: *const Self = self;
        // SAFETY: the connection is open; the caller keeps `self` in place while it is.
        unsafe {
            ffi::sqlite3_busy_handler(connection.handle(), Some(wait), this.cast_mut().cast());
        }
    }

    fn next_sleep_ms(&self, tries: usize) -> Option<u32> {
        let steps = &BACK_OFF_MS[..tries.min(BACK_OFF_MS.len())];
        let last = u64::from(BACK_OFF_MS[BACK_OFF_MS.len() - 1]);
        let repeated = tries.saturating_sub(BACK_OFF_MS.len()) as u64;
        let slept_ms = steps.iter().map(|ms| u64::from(*ms)).sum::<u64>() + repeated * last;
        let step = BACK_OFF_MS[tries.min(BACK_OFF_MS.len() - 1)];
        let left_ms = self.timeout_ms.saturating_sub(slept_ms).min(u64::from(step));
        (left_ms > 0 && !self.cancel.is_cancelled()).then_some(left_ms as u32)
    }
}

/// SQLite's busy handler: sleeps through the VFS, so that the timed one sees it.
unsafe extern "C" fn wait(context: *mut c_void, tries: c_int) -> c_int {
    // SAFETY: `install` gave this pointer and its caller keeps the target in place.
    let busy = unsafe { &*context.cast_const().cast::<BusyWait>() };
    let Some(sleep_ms) = busy.next_sleep_ms(tries.max(0) as usize) else { return 0 };
    vfs::sleep_us(sleep_ms as c_int * 1000);
    1
}

/// Waits for a lock for the first step, through the VFS, so that the timed one sees it.
pub fn wait_once() {
    vfs::sleep_us(BACK_OFF_MS[0] as c_int * 1000);
}

/// Opens (and creates) a data file.
pub fn open(path: &Path, timed: bool) -> Result<Connection, EngineError> {
    // One thread uses a connection at a time, so SQLite's own mutex on it is not needed.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = if timed && vfs::register() {
        Connection::open_with_flags_and_vfs(path, flags, vfs::NAME)
    } else {
        Connection::open_with_flags(path, flags)
    };
    opened.map_err(|error| failed(format!("opening {}", path.display()), &error))
}

/// Attaches a data file under a name of ours.
pub fn attach(connection: &Connection, path: &Path, schema: &str) -> Result<(), EngineError> {
    let path_text = path.to_string_lossy();
    connection
        .execute(&format!("ATTACH DATABASE ?1 AS {schema}"), [path_text.as_ref()])
        .map(|_| ())
        .map_err(|error| failed(format!("attaching {}", path.display()), &error))
}

/// The number of files that this build of SQLite attaches to one connection.
pub fn attached_max() -> u64 {
    let limit = Connection::open_in_memory()
        .and_then(|connection| connection.limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED));
    limit.map_or(0, |limit| limit.max(0) as u64)
}

/// Makes SQLite grow a data file in pieces of this size.
pub fn set_growth(connection: &Connection, growth_bytes: u64) -> Result<(), EngineError> {
    let mut chunk = c_int::try_from(growth_bytes).map_err(|_| EngineError::SettingIgnored {
        setting: "target.file_growth".into(),
        wanted: growth_bytes.to_string(),
        got: format!("a limit of {} bytes", c_int::MAX),
    })?;
    // SAFETY: the connection is open, a null name means `main`, and the argument of this
    // operation is a pointer to an int.
    let rc = unsafe {
        ffi::sqlite3_file_control(
            connection.handle(),
            ptr::null(),
            ffi::SQLITE_FCNTL_CHUNK_SIZE,
            (&raw mut chunk).cast(),
        )
    };
    if rc == ffi::SQLITE_OK {
        return Ok(());
    }
    Err(EngineError::Engine {
        doing: "setting target.file_growth".into(),
        message: format!("SQLite error {rc}"),
    })
}
