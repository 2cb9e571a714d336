//! Errors of connection strings.

/// Why a connection string, or what completes it, is not usable. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text is neither a URL nor `keyword=value` pairs.
    #[error("malformed connection string: {0}")]
    Syntax(String),
    /// A keyword that PostgreSQL does not have, and the known one that looks most like it.
    #[error(
        "unknown connection parameter `{0}`{meant}",
        meant = .1.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    )]
    Unknown(String, Option<&'static str>),
    /// A value that the keyword does not have, and why not.
    #[error("connection parameter `{0}`: {1}")]
    Value(&'static str, String),
    /// A demand (keyword and value) that this client cannot fulfil, and that must not be ignored;
    /// what could be given instead.
    #[error("connection parameter `{0}={1}` is not supported; supported: {2}")]
    Unsupported(&'static str, String, String),
}
