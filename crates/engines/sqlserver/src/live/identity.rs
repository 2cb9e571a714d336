//! Which server it is: version, edition, trace flags.

use super::client::{Client, Error, OURS};
use super::views;
use engine::{ServerError, View, while_doing};

/// `EngineEdition` of Azure SQL Database.
pub(crate) const AZURE_DATABASE: i32 = 5;

/// Identity of a server.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    version: String,
    edition: String,
    engine_edition: Option<i32>,
}

impl Identity {
    /// Asks a server for it.
    pub fn read(client: &mut Client) -> Result<Self, ServerError> {
        let rows =
            client.query(&views::IDENTITY.sql()).map_err(while_doing("reading its version"))?;
        let row = rows
            .first()
            .ok_or_else(|| ServerError::new("the server does not report its version"))?;
        // The lines below are the build's date, copyright and operating system.
        let version = row.text("version").lines().next().unwrap_or_default().trim().to_owned();
        Ok(Self {
            version,
            edition: row.text("edition"),
            engine_edition: row.parse("engine_edition"),
        })
    }

    /// `Microsoft SQL Server 2022 (RTM-CU14) (KB5038325) - 16.0.4135.4 (X64), Developer Edition
    /// (64-bit)`.
    pub fn shown(&self) -> String {
        let Self { version, edition, .. } = self;
        if edition.is_empty() { version.clone() } else { format!("{version}, {edition}") }
    }

    /// The view of its waits.
    pub fn waits(&self) -> &'static View {
        if self.is_azure_database() { &views::DATABASE_WAITS } else { &views::WAITS }
    }

    /// Returns whether it is Azure SQL Database.
    pub fn is_azure_database(&self) -> bool {
        self.engine_edition == Some(AZURE_DATABASE)
    }
}

/// The server's trace flags; a server without any answers with no result.
pub(crate) fn trace_flags(client: &mut Client) -> Result<String, Error> {
    let flags = match client.query(views::TRACE_FLAGS) {
        Ok(rows) => rows.iter().map(|row| row.text("TraceFlag")).collect::<Vec<_>>().join(", "),
        Err(Error::Server { number: OURS, .. }) => String::new(),
        Err(error) => return Err(error),
    };
    Ok(if flags.is_empty() { "none".into() } else { flags })
}
