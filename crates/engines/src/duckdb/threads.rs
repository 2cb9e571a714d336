//! DuckDB's own threads: which they are, and what they have used.

use observe::ProcessTimes;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Databases that were opened in this process.
static OPENED: AtomicU32 = AtomicU32::new(0);

/// The threads that work for one database. A thread has the name of the one that starts it, so that theirs is known when
/// DuckDB starts them from a thread with a name of its own.
#[derive(Debug, Clone)]
pub struct Workers(String);

impl Workers {
    /// Those of the next database.
    pub fn next() -> Self {
        // A name has 15 bytes at most.
        Self(format!("duckdb-{}", OPENED.fetch_add(1, Ordering::Relaxed) % 100_000_000))
    }

    /// Does something at which DuckDB may start them.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn starting<T: Send>(&self, action: impl FnOnce() -> T + Send) -> std::io::Result<T> {
        thread::scope(|scope| {
            let thread = thread::Builder::new().name(self.0.clone()).spawn_scoped(scope, action)?;
            thread.join().map_err(|_| std::io::Error::other("the thread that opens the database panicked"))
        })
    }

    /// Their numbers, and the nanoseconds that each has been on a processor.
    pub fn cpu_ns(&self) -> Vec<(i32, u64)> {
        let entries = Path::new("/proc/self/task").read_dir().into_iter().flatten().flatten();
        let is_one = |folder: &Path| {
            std::fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.trim_end() == self.0)
        };
        let found = entries.filter(|entry| is_one(&entry.path()));
        let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        found.filter_map(number).filter_map(|own| Some((own, ProcessTimes::of(own)?.cpu_ns))).collect()
    }
}
