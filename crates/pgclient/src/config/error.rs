//! What is wrong with a connection string.

use std::io;
use std::path::PathBuf;

/// Why a connection string, or what completes it, is not usable. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text is neither a URL nor `keyword=value` pairs.
    #[error("malformed connection string: {0}")]
    Syntax(String),
    /// A keyword that PostgreSQL does not have.
    #[error("unknown connection parameter `{keyword}`{}", did_you_mean(*.nearest))]
    Unknown {
        /// As given.
        keyword: String,
        /// The known one that looks most like it.
        nearest: Option<&'static str>,
    },
    /// A value that the keyword does not have.
    #[error("connection parameter `{keyword}`: {reason}")]
    Value {
        /// The keyword.
        keyword: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A demand that this client cannot fulfil, and that must not be ignored.
    #[error("connection parameter `{keyword}={value}` is not supported; supported: {supported}")]
    Unsupported {
        /// The keyword.
        keyword: &'static str,
        /// The value.
        value: String,
        /// What could be given instead.
        supported: String,
    },
    /// A file that completes it cannot be read.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// No service file defines the service.
    #[error("no service `{name}` in {files}")]
    Service {
        /// The service.
        name: String,
        /// The files looked into.
        files: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
