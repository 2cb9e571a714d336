//! A pass-through VFS that times every call and passes it on to the default one.
//!
//! SQLite's contract for a VFS is at <https://www.sqlite.org/vfs.html>. Each of our files is a
//! [`TimedFile`] followed in the same memory by the file of the default VFS; every call is
//! delegated, with the default VFS's own pointers, because its functions look at them.

use super::recorder;
use super::wait_type::Event;
use rusqlite::ffi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

/// The name under which the timed VFS is registered.
pub const NAME: &CStr = c"steelbench";

/// The default VFS.
struct Base(*mut ffi::sqlite3_vfs);

// SAFETY: a VFS object is shared by all threads of a process by SQLite's own contract.
unsafe impl Send for Base {}
// SAFETY: as above; we never write to it.
unsafe impl Sync for Base {}

/// Found once, never unregistered; `None` when SQLite refuses ours.
static BASE: OnceLock<Option<Base>> = OnceLock::new();

/// Registers the timed VFS (not as the default one). Says false when SQLite refuses.
pub fn register() -> bool {
    let base = BASE.get_or_init(|| {
        // Calibrates the counter now and not while something is measured.
        recorder::stamp();
        // SAFETY: a null name asks for the default VFS, which lives as long as the process.
        let found = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        if found.is_null() {
            return None;
        }
        // SAFETY: `found` is a valid VFS. A bitwise copy keeps its version, its limits and the
        // functions that are not timed: those of SQLite's own VFS for Unix do not look at
        // the VFS that they are called with.
        let mut timed = unsafe { ptr::read(found) };
        timed.szOsFile += size_of::<TimedFile>() as c_int;
        timed.pNext = ptr::null_mut();
        timed.zName = NAME.as_ptr();
        timed.xOpen = Some(open);
        timed.xDelete = Some(delete);
        timed.xAccess = Some(access);
        timed.xSleep = Some(sleep);
        // SAFETY: the object is leaked, so it stays valid while it is registered.
        let rc = unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(timed)), 0) };
        (rc == ffi::SQLITE_OK).then_some(Base(found))
    });
    base.is_some()
}

/// Sleeps as SQLite does between two tries for a lock; recorded where the thread records.
pub(crate) fn sleep_us(microseconds: c_int) {
    if register() {
        // SAFETY: our function ignores its first argument.
        unsafe { sleep(ptr::null_mut(), microseconds) };
    }
}

/// Functions of the timed VFS, each of which calls that of the default VFS and hands the start of
/// the call to what records it.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*),
       $function:ident else $missing:expr, $record:expr;)*) => {$(
        unsafe extern "C" fn $name(_: *mut ffi::sqlite3_vfs $(, $argument: $type)*) -> c_int {
            let start = recorder::stamp();
            let base = BASE.get().and_then(Option::as_ref).map_or(ptr::null_mut(), |base| base.0);
            // SAFETY: the default VFS outlives the process's last connection, and the arguments are
            // those that SQLite gave us for the same function.
            let result = unsafe {
                match base.as_ref().and_then(|vfs| vfs.$function) {
                    Some(function) => function(base $(, $argument)*),
                    None => $missing,
                }
            };
            let record: fn(u64) = $record;
            record(start);
            result
        }
    )*};
}

functions! {
    open_real(name: *const c_char, file: *mut ffi::sqlite3_file, flags: c_int,
        out_flags: *mut c_int),
        xOpen else ffi::SQLITE_CANTOPEN, of_files;
    delete(name: *const c_char, sync_directory: c_int),
        xDelete else ffi::SQLITE_IOERR_DELETE, of_files;
    access(name: *const c_char, flags: c_int, result: *mut c_int),
        xAccess else ffi::SQLITE_IOERR_ACCESS, of_files;
    // SQLite sleeps here between two tries for a lock that another connection holds.
    sleep(microseconds: c_int), xSleep else 0, recorder::slept;
}

fn of_files(start: u64) {
    recorder::call(Event::FileOpen, start, 0);
}

/// Events that calls on a file count as.
struct Events {
    read: Event,
    write: Event,
    sync: Event,
    truncate: Event,
}

impl Events {
    const fn new(read: Event, write: Event, sync: Event, truncate: Event) -> Self {
        Self { read, write, sync, truncate }
    }

    /// By what SQLite opens the file for.
    fn from_flags(flags: c_int) -> &'static Self {
        use Event as E;
        const JOURNALS: c_int = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
        static DATA: Events = Events::new(E::DataRead, E::DataWrite, E::DataSync, E::DataTruncate);
        static WAL: Events = Events::new(E::WalRead, E::WalWrite, E::WalSync, E::WalTruncate);
        static JOURNAL: Events =
            Events::new(E::JournalRead, E::JournalWrite, E::JournalSync, E::JournalTruncate);
        static TEMP: Events = Events::new(E::TempRead, E::TempWrite, E::TempWrite, E::TempWrite);
        match flags {
            flags if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 => &DATA,
            flags if flags & ffi::SQLITE_OPEN_WAL != 0 => &WAL,
            flags if flags & JOURNALS != 0 => &JOURNAL,
            _ => &TEMP,
        }
    }
}

/// Our part of an open file; the default VFS's part follows it in memory.
#[repr(C)]
struct TimedFile {
    /// Must come first: SQLite sees the file as this.
    file: ffi::sqlite3_file,
    events: &'static Events,
}

// The part of the default VFS starts right behind ours and must be aligned for pointers.
const _: () = assert!(size_of::<TimedFile>().is_multiple_of(align_of::<usize>()));

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite allocated `szOsFile` bytes: ours, then those of the default VFS, whose methods
    // are null or those of an open file once its function has returned.
    unsafe {
        let timed = file.cast::<TimedFile>();
        let real = timed.add(1).cast::<ffi::sqlite3_file>();
        let rc = open_real(vfs, name, real, flags, out_flags);
        let version = (*real).pMethods.as_ref().map(|methods| methods.iVersion);
        // SQLite closes the file only when it has methods.
        let methods = version
            .map_or(ptr::null(), |version| &raw const METHODS[version.clamp(1, 3) as usize - 1]);
        timed.write(TimedFile {
            file: ffi::sqlite3_file { pMethods: methods },
            events: Events::from_flags(flags),
        });
        rc
    }
}

/// Our methods for each version of the real ones: SQLite uses a version's methods only when
/// the file says that it has them.
static METHODS: [ffi::sqlite3_io_methods; 3] = [methods(1), methods(2), methods(3)];

/// Methods of an open file, each of which calls that of the real file. A call with an event is
/// timed and recorded with the bytes that it moves; its result can be looked at and replaced.
macro_rules! methods {
    ($($name:ident($($argument:ident: $type:ty),*) -> $returns:ty, $method:ident else $missing:expr
        $(, $event:expr, $bytes:expr)? $(, then $rc:ident => $then:expr)?;)*) => {
        $(unsafe extern "C" fn $name(
            file: *mut ffi::sqlite3_file $(, $argument: $type)*
        ) -> $returns {
            // SAFETY: SQLite calls methods only on files that `open` has given them, so this is a
            // `TimedFile` and the real file behind it is open and has methods; the arguments are
            // those that SQLite gave us.
            unsafe {
                let timed = file.cast::<TimedFile>();
                $(
                    let event: fn(&Events) -> Event = $event;
                    let (event, start) = (event((*timed).events), recorder::stamp());
                )?
                let real = timed.add(1).cast::<ffi::sqlite3_file>();
                let result = match (*(*real).pMethods).$method {
                    Some(method) => method(real $(, $argument)*),
                    None => $missing,
                };
                $(recorder::call(event, start, $bytes as u64);)?
                $(let $rc = result; let result = $then;)?
                result
            }
        })*

        const fn methods(version: c_int) -> ffi::sqlite3_io_methods {
            ffi::sqlite3_io_methods { iVersion: version, $($method: Some($name)),* }
        }
    };
}

methods! {
    close() -> c_int, xClose else ffi::SQLITE_OK, |_| Event::FileOpen, 0;
    read(buffer: *mut c_void, length: c_int, offset: ffi::sqlite3_int64) -> c_int,
        xRead else ffi::SQLITE_IOERR_READ, |events| events.read, length;
    write(buffer: *const c_void, length: c_int, offset: ffi::sqlite3_int64) -> c_int,
        xWrite else ffi::SQLITE_IOERR_WRITE, |events| events.write, length;
    truncate(size: ffi::sqlite3_int64) -> c_int,
        xTruncate else ffi::SQLITE_IOERR_TRUNCATE, |events| events.truncate, 0;
    sync(flags: c_int) -> c_int, xSync else ffi::SQLITE_IOERR_FSYNC, |events| events.sync, 0;
    file_size(size: *mut ffi::sqlite3_int64) -> c_int, xFileSize else ffi::SQLITE_IOERR_FSTAT;
    lock(level: c_int) -> c_int, xLock else ffi::SQLITE_IOERR_LOCK, |_| Event::FileLock, 0,
        then rc => report_lock(lock_of_level(level), rc);
    unlock(level: c_int) -> c_int, xUnlock else ffi::SQLITE_IOERR_UNLOCK, |_| Event::FileLock, 0;
    check_reserved_lock(result: *mut c_int) -> c_int,
        xCheckReservedLock else ffi::SQLITE_IOERR_CHECKRESERVEDLOCK;
    file_control(operation: c_int, argument: *mut c_void) -> c_int,
        xFileControl else ffi::SQLITE_NOTFOUND;
    sector_size() -> c_int, xSectorSize else 0;
    device_characteristics() -> c_int, xDeviceCharacteristics else 0;
    shm_map(page: c_int, page_size: c_int, extend: c_int, mapped: *mut *mut c_void) -> c_int,
        xShmMap else ffi::SQLITE_IOERR_SHMMAP, |_| Event::ShmMap, 0,
        then rc => if rc == ffi::SQLITE_OK { allocate(mapped, page_size) } else { rc };
    shm_lock(slot: c_int, count: c_int, flags: c_int) -> c_int,
        xShmLock else ffi::SQLITE_IOERR_SHMLOCK, |_| Event::ShmLock, 0,
        then rc => if flags & ffi::SQLITE_SHM_LOCK == 0 { rc } else {
            report_lock(lock_of_slot(slot), rc)
        };
    shm_barrier() -> (), xShmBarrier else ();
    shm_unmap(delete: c_int) -> c_int, xShmUnmap else ffi::SQLITE_OK, |_| Event::ShmMap, 0;
    // Null means "not mapped".
    fetch(offset: ffi::sqlite3_int64, length: c_int, page: *mut *mut c_void) -> c_int,
        xFetch else { *page = ptr::null_mut(); ffi::SQLITE_OK };
    unfetch(offset: ffi::sqlite3_int64, page: *mut c_void) -> c_int, xUnfetch else ffi::SQLITE_OK;
}

/// The lock of the rollback-journal modes that a request for this level waits for.
fn lock_of_level(level: c_int) -> Event {
    match level {
        ffi::SQLITE_LOCK_SHARED => Event::SharedLock,
        ffi::SQLITE_LOCK_RESERVED => Event::WriterLock,
        _ => Event::ExclusiveLock,
    }
}

/// Returns the WAL lock of a slot of the shared memory: 0 writer, 1 checkpointer, 2 recovery, the
/// rest readers (<https://www.sqlite.org/walformat.html>).
fn lock_of_slot(slot: c_int) -> Event {
    match slot {
        0 => Event::WriterLock,
        1 => Event::CheckpointLock,
        _ => Event::SharedLock,
    }
}

/// Records a lock that was granted or refused; returns the result.
fn report_lock(lock: Event, rc: c_int) -> c_int {
    match rc {
        ffi::SQLITE_OK => recorder::lock_granted(lock),
        ffi::SQLITE_BUSY => recorder::lock_refused(lock),
        _ => {}
    }
    rc
}

/// Allocates the file's blocks behind shared memory that was just mapped; a full file system is
/// `SQLITE_FULL`.
///
/// SQLite extends the file by one byte for each 4 KiB. A file system with smaller blocks, or with
/// delayed allocation, allocates the rest when a page is first written, and without space for it
/// the kernel ends the process by SIGBUS.
///
/// # Safety
/// `mapped` points to a pointer that is null or begins a mapping of this many bytes.
unsafe fn allocate(mapped: *mut *mut c_void, bytes: c_int) -> c_int {
    // SAFETY: the caller's promise; the call changes no content of the memory.
    unsafe {
        if (*mapped).is_null()
            || libc::madvise(*mapped, bytes as usize, libc::MADV_POPULATE_WRITE) == 0
            // Kernels before 5.14 do not know this advice.
            || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
        {
            return ffi::SQLITE_OK;
        }
        // SQLite keeps the pointer also after an error.
        *mapped = ptr::null_mut();
    }
    ffi::SQLITE_FULL
}
