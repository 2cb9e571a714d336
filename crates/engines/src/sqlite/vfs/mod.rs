//! A pass-through VFS that times every call and passes it on to the default one.
//!
//! SQLite's contract for a VFS is at <https://www.sqlite.org/vfs.html>. Each of our files is a
//! [`file::TimedFile`] followed in the same memory by the file of the default VFS; every call is
//! delegated, with the default VFS's own pointers, because its functions look at them.

mod file;

use super::recorder;
use super::wait_type::Event;
use file::TimedFile;
use rusqlite::ffi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

/// The name under which the timed VFS is registered.
pub const NAME: &CStr = c"steelbench";

/// The default VFS; found once, never unregistered.
struct Base(*mut ffi::sqlite3_vfs);

// SAFETY: a VFS object is shared by all threads of a process by SQLite's own contract.
unsafe impl Send for Base {}
// SAFETY: as above; we never write to it.
unsafe impl Sync for Base {}

static BASE: OnceLock<Base> = OnceLock::new();

fn base() -> *mut ffi::sqlite3_vfs {
    BASE.get().map_or(ptr::null_mut(), |base| base.0)
}

/// Registers the timed VFS (not as the default one). Says false when SQLite refuses.
pub fn register() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| {
        // Calibrates the counter now and not while something is measured.
        recorder::stamp();
        // SAFETY: a null name asks for the default VFS, which lives as long as the process.
        let found = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        if found.is_null() {
            return false;
        }
        BASE.get_or_init(|| Base(found));
        // SAFETY: `found` is a valid VFS; a bitwise copy keeps its version, limits and the
        // function pointers that need no VFS of ours.
        let mut timed = unsafe { ptr::read(found) };
        timed.szOsFile += size_of::<TimedFile>() as c_int;
        timed.pNext = ptr::null_mut();
        timed.zName = NAME.as_ptr();
        timed.xOpen = Some(open);
        timed.xDelete = Some(delete);
        timed.xAccess = Some(access);
        timed.xFullPathname = Some(full_pathname);
        timed.xDlOpen = Some(dl_open);
        timed.xDlError = Some(dl_error);
        timed.xDlSym = Some(dl_sym);
        timed.xDlClose = Some(dl_close);
        timed.xRandomness = Some(randomness);
        timed.xSleep = Some(sleep);
        timed.xCurrentTime = Some(current_time);
        timed.xGetLastError = Some(get_last_error);
        timed.xCurrentTimeInt64 = Some(current_time_int64);
        timed.xSetSystemCall = Some(set_system_call);
        timed.xGetSystemCall = Some(get_system_call);
        timed.xNextSystemCall = Some(next_system_call);
        // SAFETY: the object is leaked, so it stays valid while it is registered.
        let rc = unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(timed)), 0) };
        rc == ffi::SQLITE_OK
    })
}

/// Sleeps as SQLite does between two tries for a lock; recorded where the thread records.
pub fn sleep_us(microseconds: c_int) {
    if register() {
        // SAFETY: our function ignores its first argument.
        unsafe { sleep(ptr::null_mut(), microseconds) };
    }
}

/// Calls a function of the default VFS, with its own pointer first.
macro_rules! pass_on {
    ($method:ident, $missing:expr $(, $argument:expr)*) => {{
        let base = base();
        // SAFETY: the default VFS outlives the process's last connection, and the arguments are
        // those that SQLite gave us for the same method.
        unsafe {
            match (*base).$method {
                Some(method) => method(base $(, $argument)*),
                None => $missing,
            }
        }
    }};
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let start = recorder::stamp();
    let timed = file.cast::<TimedFile>();
    // SAFETY: SQLite allocated `szOsFile` bytes: ours, then those of the default VFS.
    let real = unsafe { TimedFile::real(timed) };
    let rc = pass_on!(xOpen, ffi::SQLITE_CANTOPEN, name, real, flags, out_flags);
    // SAFETY: both parts of the file are valid memory of ours; see above.
    unsafe { TimedFile::opened(timed, flags) };
    recorder::call(Event::FileOpen, start, 0);
    rc
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync_directory: c_int) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(xDelete, ffi::SQLITE_IOERR_DELETE, name, sync_directory);
    recorder::call(Event::FileOpen, start, 0);
    rc
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    result: *mut c_int,
) -> c_int {
    let start = recorder::stamp();
    let rc = pass_on!(xAccess, ffi::SQLITE_IOERR_ACCESS, name, flags, result);
    recorder::call(Event::FileOpen, start, 0);
    rc
}

unsafe extern "C" fn full_pathname(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    length: c_int,
    out: *mut c_char,
) -> c_int {
    pass_on!(xFullPathname, ffi::SQLITE_CANTOPEN, name, length, out)
}

unsafe extern "C" fn dl_open(_: *mut ffi::sqlite3_vfs, name: *const c_char) -> *mut c_void {
    pass_on!(xDlOpen, ptr::null_mut(), name)
}

unsafe extern "C" fn dl_error(_: *mut ffi::sqlite3_vfs, length: c_int, message: *mut c_char) {
    pass_on!(xDlError, (), length, message);
}

unsafe extern "C" fn dl_sym(
    _: *mut ffi::sqlite3_vfs,
    library: *mut c_void,
    symbol: *const c_char,
) -> Option<unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *mut c_void, *const c_char)> {
    pass_on!(xDlSym, None, library, symbol)
}

unsafe extern "C" fn dl_close(_: *mut ffi::sqlite3_vfs, library: *mut c_void) {
    pass_on!(xDlClose, (), library);
}

unsafe extern "C" fn randomness(_: *mut ffi::sqlite3_vfs, length: c_int, out: *mut c_char) -> c_int {
    pass_on!(xRandomness, 0, length, out)
}

/// SQLite sleeps here between two tries for a lock that another connection holds.
unsafe extern "C" fn sleep(_: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    let start = recorder::stamp();
    let slept = pass_on!(xSleep, 0, microseconds);
    recorder::slept(start);
    slept
}

unsafe extern "C" fn current_time(_: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    pass_on!(xCurrentTime, ffi::SQLITE_ERROR, out)
}

unsafe extern "C" fn get_last_error(_: *mut ffi::sqlite3_vfs, length: c_int, out: *mut c_char) -> c_int {
    pass_on!(xGetLastError, 0, length, out)
}

unsafe extern "C" fn current_time_int64(_: *mut ffi::sqlite3_vfs, out: *mut ffi::sqlite3_int64) -> c_int {
    pass_on!(xCurrentTimeInt64, ffi::SQLITE_ERROR, out)
}

unsafe extern "C" fn set_system_call(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    call: ffi::sqlite3_syscall_ptr,
) -> c_int {
    pass_on!(xSetSystemCall, ffi::SQLITE_NOTFOUND, name, call)
}

unsafe extern "C" fn get_system_call(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
) -> ffi::sqlite3_syscall_ptr {
    pass_on!(xGetSystemCall, None, name)
}

unsafe extern "C" fn next_system_call(_: *mut ffi::sqlite3_vfs, name: *const c_char) -> *const c_char {
    pass_on!(xNextSystemCall, ptr::null(), name)
}
