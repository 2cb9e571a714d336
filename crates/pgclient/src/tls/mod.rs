//! Encryption as libpq's `sslmode` defines it
//! (<https://www.postgresql.org/docs/current/libpq-ssl.html>).

mod certificate;
mod encryption;
mod settings;
mod verifier;

pub use certificate::end_point;
pub use encryption::Encryption;
pub use settings::{TlsMode, TlsSettings};
