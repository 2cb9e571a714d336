//! Questions to servers of several versions. Features are queried, never inferred from the version:
//! a query that a server rejects because a column or a table is too new has an older form, which is
//! tried next.

use crate::{Rows, ServerError};
use work::sql::named_statements;

/// A statement in a file of statements ([`named_statements`]). A part `{newer|older}` is another
/// one for servers that lack some of its columns or views.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// The subject, for messages about unreadable items; the name of the statement.
    pub name: &'static str,
    /// The text of the file.
    file: &'static str,
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
    /// The statement of this name in the text of a file.
    pub const fn new(name: &'static str, file: &'static str) -> Self {
        Self { name, file }
    }

    /// The statement.
    ///
    /// # Panics
    /// When the file has no statement of this name.
    pub fn sql(&self) -> String {
        self.form(true)
    }

    /// The form for a server that has all columns and views of the statement, or the older one.
    ///
    /// # Panics
    /// When the file has no statement of this name.
    pub fn form(&self, has_all: bool) -> String {
        let [newer, older] = self.forms();
        if has_all { newer } else { older }
    }

    /// The form for older servers, if it is another one.
    ///
    /// # Panics
    /// When the file has no statement of this name.
    pub fn older(&self) -> Option<String> {
        let [newer, older] = self.forms();
        (older != newer).then_some(older)
    }

    fn forms(&self) -> [String; 2] {
        let mut statements = named_statements(self.file);
        let statement = statements.find(|statement| statement.name == self.name);
        let statement = statement.expect("the file has each of its views");
        [true, false].map(|is_newer| {
            let form = statement.filled(|part| {
                let (newer, older) = part.split_once('|').unwrap_or((part, part));
                (if is_newer { newer } else { older }).to_owned()
            });
            form.trim().to_owned()
        })
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
        let mut read = |sql: String| shown(self.name, query(&(sql + end)));
        let newest = read(self.sql())?;
        if newest.is_err()
            && let Some(older) = self.older()
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
    let refusal: ServerError = error.clone().into();
    if refusal.is_silence() {
        return Err(error);
    }
    // Messages of servers are sentences.
    let sentence = |text: &str| text.trim_end_matches('.').to_owned();
    let advice = refusal.advice.map(|advice| format!(". {}", sentence(advice))).unwrap_or_default();
    Ok(Err(NotShown::new(view, sentence(&refusal.words()) + &advice)))
}
