//! Questions to servers of several versions. Features are queried, never inferred from the version:
//! a query that a server rejects because a column or a table is too new has an older form, which is
//! tried next.

use crate::{Fault, Rows, ServerError};

/// A statement, and its replacement for servers that lack some of its columns or views.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// The subject, for messages about unreadable items.
    pub name: &'static str,
    /// The statement.
    pub sql: &'static str,
    /// The form for older servers, and for those without some of the views.
    pub older: Option<&'static str>,
}

/// A view that the server does not show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{view}: {message}")]
pub struct NotShown {
    /// Name of the view.
    pub view: String,
    /// The server's message, and what to do about it.
    pub message: String,
}

impl NotShown {
    /// Why a view is not shown.
    pub fn new(view: &str, message: impl Into<String>) -> Self {
        Self { view: view.to_owned(), message: message.into() }
    }
}

/// The rows of a view, or why there are none.
pub type ViewRows = Result<Rows, NotShown>;

impl View {
    /// A view without an older form.
    pub const fn new(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, older: None }
    }

    /// Reads the view with this ending, in its older form where the server does not have all of it.
    ///
    /// # Errors
    /// When the connection is lost. The server's objections are the inner error.
    pub fn read<E: Clone + Into<ServerError>>(
        &self,
        end: &str,
        mut query: impl FnMut(&str) -> Result<Rows, E>,
    ) -> Result<ViewRows, E> {
        let mut read = |sql| shown(self.name, query(&format!("{sql}{end}")));
        let newest = read(self.sql)?;
        if let (Err(_), Some(older)) = (&newest, self.older)
            && let Ok(rows) = read(older)?
        {
            return Ok(Ok(rows));
        }
        Ok(newest)
    }
}

/// Takes a server's objections out of an answer about what is called so.
///
/// # Errors
/// When the connection is lost. The server's objections are the inner error.
pub fn shown<E: Clone + Into<ServerError>>(
    view: &str,
    answer: Result<Rows, E>,
) -> Result<ViewRows, E> {
    let error = match answer {
        Ok(rows) => return Ok(Ok(rows)),
        Err(error) => error,
    };
    let ServerError { what, advice, fault, .. } = error.clone().into();
    if fault != Fault::Refusal {
        return Err(error);
    }
    // Messages of servers are sentences.
    let sentence = |text: &str| text.trim_end_matches('.').to_owned();
    let advice = advice.map(|advice| format!(". {}", sentence(advice))).unwrap_or_default();
    Ok(Err(NotShown::new(view, sentence(&what) + &advice)))
}
