//! The runtime of the mock server.

use tokio::runtime::Runtime;

/// Ends its tasks when dropped, without waiting for one that a client in between has confused.
pub struct Background(pub Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
