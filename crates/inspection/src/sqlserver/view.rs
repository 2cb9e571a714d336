//! Queries on a server. Every column is cast, so that its type is the same in all versions. A query
//! that the server rejects because a column or table is too new has an older form, which is tried
//! next: features are queried, never inferred from the version.

use engine::{AdminSession, Rows, ServerError};

/// A statement, and its replacement for servers that lack some of its columns or views.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// The subject, for messages about unreadable items.
    pub name: &'static str,
    /// The statement.
    pub sql: &'static str,
    /// The form for older servers.
    pub older: Option<&'static str>,
}

/// The code of the error that a statement has no result.
pub const NO_RESULT: &str = "0";

impl View {
    /// A view without an older form.
    pub const fn new(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, older: None }
    }

    /// Reads the view with this ending, in its older form where the server does not have all of it.
    ///
    /// # Errors
    /// When the connection is lost. The server's objections are the inner error.
    pub fn read(
        &self,
        session: &mut dyn AdminSession,
        end: &str,
    ) -> Result<Result<Rows, String>, ServerError> {
        let is_refused = |answer: &Result<Rows, ServerError>| {
            answer.as_ref().is_err_and(|error| !error.is_silence())
        };
        let mut answer = session.query(&format!("{}{end}", self.sql));
        if let Some(older) = self.older.filter(|_| is_refused(&answer)) {
            let of_older = session.query(&format!("{older}{end}"));
            if !is_refused(&of_older) {
                answer = of_older;
            }
        }
        match answer {
            Err(error) if !error.is_silence() => {
                // Messages of the server are sentences.
                let sentence = |text: &str| text.trim_end_matches('.').to_owned();
                let advice = error.advice.map(|advice| format!(". {}", sentence(advice)));
                let (name, what) = (self.name, sentence(&error.what));
                Ok(Err(format!("{name}: {what}{}", advice.unwrap_or_default())))
            }
            answer => answer.map(Ok),
        }
    }
}
