//! Work that waits for a server, ended when the trial is asked to stop.

use crate::Cancel;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Between two looks whether the trial is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Does some work. When the trial is asked to stop meanwhile, `stop` is called in another thread, with
/// a way to wait for the end of the work: true when it goes on for longer than that.
pub fn until_cancelled<T>(
    cancel: &Cancel,
    stop: impl FnOnce(&dyn Fn(Duration) -> bool) + Send,
    work: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|scope| {
        let (working, done) = channel::<()>();
        scope.spawn(move || {
            // Nothing is ever sent: at its end the work hangs up.
            let goes_on_for = |time| matches!(done.recv_timeout(time), Err(RecvTimeoutError::Timeout));
            while goes_on_for(LOOK_EVERY) {
                if cancel.is_cancelled() {
                    stop(&goes_on_for);
                    return;
                }
            }
        });
        let result = work();
        drop(working);
        result
    })
}
