//! DuckDB's own threads: which they are, and what they have used.

use observe::{ProcessTimes, ThreadClock, processes};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

/// Databases that were opened in this process.
static OPENED: AtomicU32 = AtomicU32::new(0);

/// The threads that work for one database. A thread has the name of the one that starts it, so that
/// theirs is known when DuckDB starts them from a thread with a name of its own.
#[derive(Debug, Clone)]
pub struct Workers {
    name: String,
    /// Use by helper threads, added as they end.
    ended_ns: Arc<AtomicU64>,
}

impl Workers {
    /// Threads of the next database.
    pub fn next() -> Self {
        // A name has 15 bytes at most.
        let name = format!("duckdb-{}", OPENED.fetch_add(1, Ordering::Relaxed) % 100_000_000);
        Self { name, ended_ns: Arc::default() }
    }

    /// Does something at which DuckDB may start them.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn starting<T: Send>(&self, action: impl FnOnce() -> T + Send) -> std::io::Result<T> {
        thread::scope(|scope| {
            let thread =
                thread::Builder::new().name(self.name.clone()).spawn_scoped(scope, action)?;
            thread
                .join()
                .map_err(|_| std::io::Error::other("the thread that opens the database panicked"))
        })
    }

    /// Adds the CPU time of the calling thread, which worked for the database and ends, to that of
    /// the database's threads.
    pub fn ends(&self) {
        self.ended_ns.fetch_add(ThreadClock::of_this_thread().read().cpu_ns, Ordering::Relaxed);
    }

    /// Their numbers, and the nanoseconds that each has been on a processor; all that have ended
    /// have the number 0.
    pub fn cpu_ns(&self) -> Vec<(i32, u64)> {
        let threads = processes::threads(std::process::id() as i32);
        let found =
            threads.filter(|thread| processes::name(*thread).is_some_and(|name| name == self.name));
        let running = found.filter_map(|thread| Some((thread, ProcessTimes::read(thread)?.cpu_ns)));
        running.chain([(0, self.ended_ns.load(Ordering::Relaxed))]).collect()
    }
}
