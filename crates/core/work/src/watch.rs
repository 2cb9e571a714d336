use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, Builder};
use std::time::Duration;

/// Does work while a thread of this name looks after it at this interval, until the work is done
/// or `look` returns false.
///
/// # Errors
/// When the thread cannot be started; then nothing is done.
pub fn while_watched<T>(
    name: &str,
    every: Duration,
    mut look: impl FnMut() -> bool + Send,
    work: impl FnOnce() -> T,
) -> io::Result<T> {
    thread::scope(|scope| {
        // Closed with the end of the scope, also when the work panics.
        let (_done, waiting) = channel::<()>();
        Builder::new().name(name.into()).spawn_scoped(scope, move || {
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(every)
                && look()
            {}
        })?;
        Ok(work())
    })
}

#[cfg(test)]
mod tests {
    use super::while_watched;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn work_is_watched_until_it_is_done_or_the_watcher_has_enough() {
        let looks = AtomicU32::new(0);
        let result = while_watched(
            "test",
            Duration::from_millis(1),
            || looks.fetch_add(1, Ordering::Relaxed) < 1,
            || {
                while looks.load(Ordering::Relaxed) < 2 {
                    sleep(Duration::from_millis(1));
                }
                7
            },
        );
        assert_eq!((result.unwrap(), looks.load(Ordering::Relaxed)), (7, 2));
        let long = Duration::from_secs(1000);
        while_watched("test", long, || unreachable!("the work is done"), || ()).unwrap();
    }
}
