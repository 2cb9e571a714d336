//! The methods of an open file: each is timed, recorded and delegated.

use crate::sqlite::recorder;
use crate::sqlite::wait_type::Event;
use rusqlite::ffi;
use std::ffi::{c_int, c_void};
use std::ptr;

/// What SQLite uses a file for, which decides the names of its waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Data,
    Wal,
    Journal,
    Temp,
}

impl FileKind {
    fn from_flags(flags: c_int) -> Self {
        if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 {
            Self::Data
        } else if flags & ffi::SQLITE_OPEN_WAL != 0 {
            Self::Wal
        } else if flags & (ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL) != 0 {
            Self::Journal
        } else {
            Self::Temp
        }
    }

    fn read(self) -> Event {
        match self {
            Self::Data => Event::DataRead,
            Self::Wal => Event::WalRead,
            Self::Journal => Event::JournalRead,
            Self::Temp => Event::TempRead,
        }
    }

    fn write(self) -> Event {
        match self {
            Self::Data => Event::DataWrite,
            Self::Wal => Event::WalWrite,
            Self::Journal => Event::JournalWrite,
            Self::Temp => Event::TempWrite,
        }
    }

    fn sync(self) -> Event {
        match self {
            Self::Data => Event::DataSync,
            Self::Wal => Event::WalSync,
            Self::Journal => Event::JournalSync,
            Self::Temp => Event::TempWrite,
        }
    }

    fn truncate(self) -> Event {
        match self {
            Self::Data => Event::DataTruncate,
            Self::Wal => Event::WalTruncate,
            Self::Journal => Event::JournalTruncate,
            Self::Temp => Event::TempWrite,
        }
    }
}

/// Our part of an open file; the default VFS's part follows it in memory.
#[repr(C)]
pub struct TimedFile {
    /// Must come first: SQLite sees the file as this.
    file: ffi::sqlite3_file,
    kind: FileKind,
}

// The part of the default VFS starts right behind ours and must be aligned for pointers.
const _: () = assert!(size_of::<TimedFile>().is_multiple_of(align_of::<usize>()));

impl TimedFile {
    /// The part of the default VFS.
    ///
    /// # Safety
    /// `file` must point to memory of the size that our VFS declares.
    pub unsafe fn real(file: *mut Self) -> *mut ffi::sqlite3_file {
        // SAFETY: the caller promises that the memory goes on behind our part.
        unsafe { file.add(1).cast() }
    }

    /// Takes over after the default VFS has tried to open its part. SQLite closes the file when
    /// (and only when) it has methods, so ours are set exactly when the real ones are.
    ///
    /// # Safety
    /// As for [`TimedFile::real`]; the real part must be initialised or zeroed.
    pub unsafe fn opened(file: *mut Self, flags: c_int) {
        // SAFETY: the caller promises valid memory for both parts.
        unsafe {
            let methods = (*Self::real(file)).pMethods;
            (*file).kind = FileKind::from_flags(flags);
            (*file).file.pMethods = match methods.as_ref().map(|methods| methods.iVersion) {
                None => ptr::null(),
                Some(1) => &raw const METHODS[0],
                Some(2) => &raw const METHODS[1],
                Some(_) => &raw const METHODS[2],
            };
        }
    }
}

/// Our methods for each version of the real ones: SQLite uses a version's methods only when
/// the file says that it has them.
static METHODS: [ffi::sqlite3_io_methods; 3] = [methods(1), methods(2), methods(3)];

const fn methods(version: c_int) -> ffi::sqlite3_io_methods {
    ffi::sqlite3_io_methods {
        iVersion: version,
        xClose: Some(close),
        xRead: Some(read),
        xWrite: Some(write),
        xTruncate: Some(truncate),
        xSync: Some(sync),
        xFileSize: Some(file_size),
        xLock: Some(lock),
        xUnlock: Some(unlock),
        xCheckReservedLock: Some(check_reserved_lock),
        xFileControl: Some(file_control),
        xSectorSize: Some(sector_size),
        xDeviceCharacteristics: Some(device_characteristics),
        xShmMap: Some(shm_map),
        xShmLock: Some(shm_lock),
        xShmBarrier: Some(shm_barrier),
        xShmUnmap: Some(shm_unmap),
        xFetch: Some(fetch),
        xUnfetch: Some(unfetch),
    }
}

/// Calls the method of the real file.
macro_rules! pass_on {
    ($file:ident, $method:ident, $missing:expr $(, $argument:expr)*) => {{
        // SAFETY: SQLite calls methods only on files that `opened` has accepted, so the real
        // file is open and has methods; the arguments are those that SQLite gave us.
        unsafe {
            let real = TimedFile::real($file.cast());
            match (*(*real).pMethods).$method {
                Some(method) => method(real $(, $argument)*),
                None => $missing,
            }
        }
    }};
}

unsafe fn kind(file: *mut ffi::sqlite3_file) -> FileKind {
    // SAFETY: every file with our methods is a `TimedFile`.
    unsafe { (*file.cast::<TimedFile>()).kind }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xClose, ffi::SQLITE_OK);
    recorder::call(Event::FileOpen, start, 0);
    rc
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    length: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xRead, ffi::SQLITE_IOERR_READ, buffer, length, offset);
    // SAFETY: SQLite's file, see `kind`.
    recorder::call(unsafe { kind(file) }.read(), start, length as u64);
    rc
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buffer: *const c_void,
    length: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xWrite, ffi::SQLITE_IOERR_WRITE, buffer, length, offset);
    // SAFETY: SQLite's file, see `kind`.
    recorder::call(unsafe { kind(file) }.write(), start, length as u64);
    rc
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xTruncate, ffi::SQLITE_IOERR_TRUNCATE, size);
    // SAFETY: SQLite's file, see `kind`.
    recorder::call(unsafe { kind(file) }.truncate(), start, 0);
    rc
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xSync, ffi::SQLITE_IOERR_FSYNC, flags);
    // SAFETY: SQLite's file, see `kind`.
    recorder::call(unsafe { kind(file) }.sync(), start, 0);
    rc
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
    pass_on!(file, xFileSize, ffi::SQLITE_IOERR_FSTAT, size)
}

/// The lock of the rollback-journal modes that a request for this level waits for.
fn refused_by_level(level: c_int) -> Event {
    match level {
        ffi::SQLITE_LOCK_SHARED => Event::SharedLock,
        ffi::SQLITE_LOCK_RESERVED => Event::WriterLock,
        _ => Event::ExclusiveLock,
    }
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xLock, ffi::SQLITE_IOERR_LOCK, level);
    recorder::call(Event::FileLock, start, 0);
    report_lock(refused_by_level(level), rc);
    rc
}

fn report_lock(lock: Event, rc: c_int) {
    match rc {
        ffi::SQLITE_OK => recorder::lock_granted(lock),
        ffi::SQLITE_BUSY => recorder::lock_refused(lock),
        _ => {}
    }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xUnlock, ffi::SQLITE_IOERR_UNLOCK, level);
    recorder::call(Event::FileLock, start, 0);
    rc
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, result: *mut c_int) -> c_int {
    pass_on!(file, xCheckReservedLock, ffi::SQLITE_IOERR_CHECKRESERVEDLOCK, result)
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    pass_on!(file, xFileControl, ffi::SQLITE_NOTFOUND, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    pass_on!(file, xSectorSize, 0)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    pass_on!(file, xDeviceCharacteristics, 0)
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    page_size: c_int,
    extend: c_int,
    mapped: *mut *mut c_void,
) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xShmMap, ffi::SQLITE_IOERR_SHMMAP, page, page_size, extend, mapped);
    recorder::call(Event::ShmMap, start, 0);
    rc
}

/// Which of the WAL's locks a slot of the shared memory is:
/// 0 writer, 1 checkpointer, 2 recovery, the rest readers (<https://www.sqlite.org/walformat.html>).
fn refused_by_slot(slot: c_int) -> Event {
    match slot {
        0 => Event::WriterLock,
        1 => Event::CheckpointLock,
        _ => Event::SharedLock,
    }
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    slot: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xShmLock, ffi::SQLITE_IOERR_SHMLOCK, slot, count, flags);
    recorder::call(Event::ShmLock, start, 0);
    if flags & ffi::SQLITE_SHM_LOCK != 0 {
        report_lock(refused_by_slot(slot), rc);
    }
    rc
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    pass_on!(file, xShmBarrier, ());
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(file, xShmUnmap, ffi::SQLITE_OK, delete);
    recorder::call(Event::ShmMap, start, 0);
    rc
}

unsafe extern "C" fn fetch(
    file: *mut ffi::sqlite3_file,
    offset: ffi::sqlite3_int64,
    length: c_int,
    page: *mut *mut c_void,
) -> c_int {
    // SAFETY: `page` is SQLite's place for the result; null says "not mapped".
    pass_on!(file, xFetch, no_page(page), offset, length, page)
}

unsafe fn no_page(page: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's pointer is valid.
    unsafe { *page = ptr::null_mut() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn unfetch(
    file: *mut ffi::sqlite3_file,
    offset: ffi::sqlite3_int64,
    page: *mut c_void,
) -> c_int {
    pass_on!(file, xUnfetch, ffi::SQLITE_OK, offset, page)
}
