//! Answers of a server to questions about a view.

use super::client::{Client, Error};
use super::views::View;
use engine::Rows;

/// A view that the server does not show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{view}: {message}")]
pub(crate) struct NotShown {
    /// Name of the view.
    pub view: String,
    /// The server's message, and what to do about it.
    pub message: String,
}

/// The rows of a view, or why there are none.
pub type Answer = Result<Rows, NotShown>;

/// Asks for a view, in its older form where the server does not have all of it.
///
/// # Errors
/// When the connection is lost. The server's objections are an [`Answer`].
pub fn ask(client: &mut Client, view: &View) -> Result<Answer, Error> {
    let newest = ask_of(client, view.name, view.sql)?;
    if let (Err(_), Some(older)) = (&newest, view.older)
        && let Ok(rows) = ask_of(client, view.name, older)?
    {
        return Ok(Ok(rows));
    }
    Ok(newest)
}

/// Asks with a statement that reads what is called so; fails as [`ask`] does.
pub(crate) fn ask_of(client: &mut Client, name: &str, sql: &str) -> Result<Answer, Error> {
    match client.query(sql) {
        // Messages of the server are sentences.
        Err(error) if !error.is_lost() => {
            let text = error.to_string();
            let message = text.trim_end_matches('.');
            let advice = error.advice().map(|advice| format!(". {}", advice.trim_end_matches('.')));
            let message = format!("{message}{}", advice.unwrap_or_default());
            Ok(Err(NotShown { view: name.to_owned(), message }))
        }
        answer => answer.map(Ok),
    }
}

#[cfg(test)]
pub mod tests {
    use crate::live::answer::NotShown;

    pub fn not_shown(view: &str, message: &str) -> NotShown {
        NotShown { view: view.to_owned(), message: message.to_owned() }
    }
}
