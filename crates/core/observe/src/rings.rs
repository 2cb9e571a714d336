//! The permission for `io_uring(7)`.

use io_uring::IoUring;
use std::io;

/// Why the system gives no ring.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The kernel or the container forbids `io_uring`.
    #[error(
        "io_uring is not permitted (kernel.io_uring_disabled, or a seccomp filter, as in \
         containers)"
    )]
    Forbidden(#[source] io::Error),
    /// The kernel was built without `io_uring`.
    #[error("this kernel does not support io_uring")]
    Absent,
    /// The kernel's `io_uring` cannot wait for a time.
    #[error("io_uring needs Linux 5.11 or later")]
    Old,
    /// Any other refusal.
    #[error("io_uring: {0}")]
    Refused(#[source] io::Error),
}

impl From<io::Error> for RingError {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Self::Forbidden(error),
            Some(libc::ENOSYS) => Self::Absent,
            _ => Self::Refused(error),
        }
    }
}

/// Tries whether the system gives rings.
///
/// # Errors
/// When it does not.
pub fn rings_permitted() -> Result<(), RingError> {
    let ring = IoUring::new(1)?;
    // Waiting for a time, that is.
    if ring.params().is_feature_ext_arg() { Ok(()) } else { Err(RingError::Old) }
}
