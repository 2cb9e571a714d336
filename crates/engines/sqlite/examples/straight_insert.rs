//! The peer of the insert load in `cargo xtask bench`: the shortest loop that makes the same
//! inserts through SQLite's C interface, with no measuring inside.
//!
//! `straight_insert DIRECTORY FILES THREADS ROWS ROWS_PER_TRANSACTION`
//! prints the seconds from "go" until every thread has committed and every file is checkpointed.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a command line tool for benches")]

use rusqlite::ffi;
use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::Barrier;
use std::time::Instant;

const CREATE: &CStr = c"CREATE TABLE MyBigTable (c1 BLOB NOT NULL PRIMARY KEY, c2 TEXT NOT NULL \
                        DEFAULT CURRENT_TIMESTAMP, c3 TEXT NOT NULL DEFAULT \
                        'a                                                            \
                        \x20                                                 ', \
                        c4 INTEGER NOT NULL DEFAULT 1, c5 INTEGER NOT NULL DEFAULT 2, \
                        c6 INTEGER NOT NULL DEFAULT 42) WITHOUT ROWID";

struct Connection(*mut ffi::sqlite3, *mut ffi::sqlite3_stmt);

// SAFETY: each connection is used by one thread at a time.
unsafe impl Send for Connection {}

fn execute(db: *mut ffi::sqlite3, sql: &CStr) {
    // SAFETY: the database is open and the text ends with a zero.
    let rc = unsafe { ffi::sqlite3_exec(db, sql.as_ptr(), None, ptr::null_mut(), ptr::null_mut()) };
    assert_eq!(rc, ffi::SQLITE_OK, "{sql:?}");
}

fn open(path: &str) -> *mut ffi::sqlite3 {
    let (path, mut db) = (CString::new(path).unwrap(), ptr::null_mut());
    let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE | ffi::SQLITE_OPEN_NOMUTEX;
    // SAFETY: valid pointers; the default VFS.
    let rc = unsafe { ffi::sqlite3_open_v2(path.as_ptr(), &raw mut db, flags, ptr::null()) };
    assert_eq!(rc, ffi::SQLITE_OK);
    // SAFETY: the database is open.
    unsafe { ffi::sqlite3_busy_timeout(db, 60_000) };
    execute(db, c"PRAGMA journal_mode = wal");
    execute(db, c"PRAGMA synchronous = normal");
    db
}

fn connect(path: &str) -> Connection {
    let (db, mut statement) = (open(path), ptr::null_mut());
    let sql = c"INSERT INTO MyBigTable (c1) VALUES (?1)";
    // SAFETY: the database is open and the text ends with a zero.
    let rc = unsafe {
        ffi::sqlite3_prepare_v2(db, sql.as_ptr(), -1, &raw mut statement, ptr::null_mut())
    };
    assert_eq!(rc, ffi::SQLITE_OK);
    Connection(db, statement)
}

/// splitmix64: <https://prng.di.unimi.it/splitmix64.c> (public domain algorithm).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn insert(connections: &[Connection], mut state: u64, rows: u64, batch: u64) {
    let mut left = rows;
    while left > 0 {
        let file = random(&mut state) as usize % connections.len();
        let Connection(db, statement) = connections[file];
        execute(db, c"BEGIN IMMEDIATE");
        for _ in 0..left.min(batch) {
            let mut key = [0_u8; 16];
            key[..8].copy_from_slice(&random(&mut state).to_be_bytes());
            key[8..].copy_from_slice(&random(&mut state).to_be_bytes());
            // SAFETY: the statement is prepared; the key is copied by SQLite.
            unsafe {
                ffi::sqlite3_bind_blob(
                    statement,
                    1,
                    key.as_ptr().cast(),
                    16,
                    ffi::SQLITE_TRANSIENT(),
                );
                assert_eq!(ffi::sqlite3_step(statement), ffi::SQLITE_DONE);
                ffi::sqlite3_reset(statement);
            }
        }
        execute(db, c"COMMIT");
        left -= left.min(batch);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments[index].parse::<u64>().unwrap();
    let (files, threads, rows, batch) = (number(1), number(2), number(3), number(4));
    let paths: Vec<String> =
        (0..files).map(|file| format!("{}/straight-{file}.db", arguments[0])).collect();
    for path in &paths {
        let db = open(path);
        execute(db, CREATE);
        execute(db, c"PRAGMA wal_checkpoint(TRUNCATE)");
        // SAFETY: opened above, with no statements.
        unsafe { ffi::sqlite3_close(db) };
    }
    let (together, done) = (Barrier::new(threads as usize + 1), Barrier::new(threads as usize));
    let elapsed = std::thread::scope(|scope| {
        for thread in 0..threads {
            let (paths, together, done) = (&paths, &together, &done);
            scope.spawn(move || {
                let connections: Vec<Connection> = paths.iter().map(|path| connect(path)).collect();
                together.wait();
                insert(&connections, thread << 40 | 1, rows / threads, batch);
                done.wait();
                for file in (thread as usize..paths.len()).step_by(threads as usize) {
                    execute(connections[file].0, c"PRAGMA wal_checkpoint(PASSIVE)");
                }
                together.wait();
            });
        }
        together.wait();
        let start = Instant::now();
        together.wait();
        start.elapsed().as_secs_f64()
    });
    for path in &paths {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{path}{suffix}"));
        }
    }
    println!("{elapsed:.6}");
}
