//! The tables of one's own: SQL files and a dump that make what trials work on. They are run once;
//! every trial begins with a copy of what they made.

use crate::{EngineError, Result};
use experiment::{Configuration, Invalid, Kind, NamedFile, Value, settings};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use work::sql::{Kind as Part, Syntax, Token, tokens};

settings! {
    /// SQL file (or list of files, run in this order) that creates your own tables. It runs once;
    /// every trial starts with a copy of the result. Paths are relative to the experiment file.
    pub SETUP_SQL: Vec<String> =
        "target.setup.sql", Kind::TextList => @Files, Shown "[\"schema.sql\"]";
    /// Dump to restore before target.setup.sql runs: PostgreSQL: pg_dump output (custom, directory,
    /// tar or plain); MariaDB: mariadb-dump output; SQLite, DuckDB: a database file or SQL.
    pub SETUP_DUMP: Option<String> =
        "target.setup.dump", Kind::Text => @Files, Shown "\"prod.dump\"";
    /// Variables for the files of target.setup.sql, with psql's syntax: :name, :'name', :"name";
    /// for MariaDB user variables: @name.
    pub SETUP_VARIABLES: Option<Value> =
        "target.setup.variables.*", Kind::Scalar => @Trial, Shown "10";
}

const VARIABLES: &str = "target.setup.variables";

/// The source of a configuration's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The dump that is restored first.
    pub dump: Option<Arc<NamedFile>>,
    /// SQL that runs then, in this order.
    pub sql: Vec<Arc<NamedFile>>,
    /// Names and values of the variables of that SQL.
    pub variables: Vec<(String, String)>,
    /// All files, also those that the SQL names.
    files: Vec<Arc<NamedFile>>,
}

impl Setup {
    /// The files that a configuration names, each with the path of the setting that does.
    pub fn files(configuration: &Configuration) -> Vec<(&'static str, String)> {
        let dump = configuration.get(SETUP_DUMP).map(|path| (SETUP_DUMP.path(), path));
        let sql = configuration.get(SETUP_SQL).into_iter().map(|path| (SETUP_SQL.path(), path));
        dump.into_iter().chain(sql).collect()
    }

    /// Returns the setup that a configuration names, with its files read.
    pub fn from_settings(configuration: &Configuration) -> Option<Self> {
        let files: Vec<Arc<NamedFile>> = [SETUP_DUMP.path(), SETUP_SQL.path()]
            .into_iter()
            .flat_map(|path| configuration.files_of(path))
            .cloned()
            .collect();
        let named = |(setting, path): (&str, String)| {
            files.iter().find(|file| file.named_by == setting && file.path == path).cloned()
        };
        let dump = configuration.get(SETUP_DUMP).and_then(|path| named((SETUP_DUMP.path(), path)));
        let sql = configuration.get(SETUP_SQL).into_iter();
        let sql = sql.filter_map(|path| named((SETUP_SQL.path(), path))).collect();
        let variables = configuration.below("target.setup.variables.");
        let variables =
            variables.map(|(name, value)| (name.to_owned(), value.to_string())).collect();
        (!files.is_empty()).then_some(Self { dump, sql, variables, files })
    }

    /// Objections that any engine has.
    pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
        let mut variables =
            configuration.below("target.setup.variables.").map(|(name, _)| name).peekable();
        let mut invalid = Vec::new();
        if variables.peek().is_some() && configuration.get(SETUP_SQL).is_empty() {
            invalid.push(Invalid::new(
                VARIABLES,
                "needs target.setup.sql, whose files use the \
                                               variables",
            ));
        }
        let wrong = variables.find(|name| !is_name(name));
        invalid.extend(wrong.map(|name| {
            let message = format!(
                "`{name}` is not a valid variable name; use letters, digits and underscores"
            );
            Invalid::new(VARIABLES, message)
        }));
        invalid
    }

    /// Returns the identity of the tables, for the name of their template: a line for each file,
    /// with its hash, and for each variable.
    pub fn identity(&self) -> String {
        let files = self
            .files
            .iter()
            .map(|file| format!("{}: {} {}\n", file.named_by, file.path, file.sha256()));
        let variables = self.variables.iter().map(|(name, value)| format!("{name} = {value:?}\n"));
        files.chain(variables).collect()
    }

    /// Makes sure that the files are those that were read when the run was begun.
    ///
    /// # Errors
    /// When one has changed since.
    pub fn verify_unchanged(&self) -> Result<()> {
        match self.files.iter().find(|file| !file.is_unchanged()) {
            Some(file) => Err(EngineError::failed(
                format!("{}: {}", file.named_by, file.path),
                "it has changed since the run started; restore the original file",
            )),
            None => Ok(()),
        }
    }
}

/// A variable without a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("variable `{name}` is not set; add it to target.setup.variables")]
pub struct NotSet {
    /// The name.
    pub name: String,
}

/// Treatment of `:name` where no such variable is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// An error: SQLite would take it for a parameter that is NULL.
    IsError,
    /// It stays as it is: a slice or a record of DuckDB.
    Stays,
}

/// SQL with the values of variables in their places, as psql puts them there
/// (<https://www.postgresql.org/docs/current/app-psql.html#APP-PSQL-INTERPOLATION>): `:name` as it
/// is, `:'name'` as a literal, `:"name"` as a name; nothing within quotes and comments.
///
/// # Errors
/// When a name is not set and must be.
pub fn substituted(
    sql: &str,
    variables: &[(String, String)],
    syntax: Syntax,
    unset: Unset,
) -> Result<String, NotSet> {
    let mut out = String::new();
    let mut tokens = tokens(sql, syntax).peekable();
    while let Some(token) = tokens.next() {
        // The colons of a cast.
        if let Some(second) = tokens.next_if(|next| token.text == ":" && next.text == ":") {
            out.extend([token.text, second.text]);
            out.push_str(tokens.next().map_or("", |next| next.text));
            continue;
        }
        let next = tokens.peek().filter(|_| token.text == ":").and_then(|next| variable(*next));
        let Some((name, quote)) = next else {
            out.push_str(token.text);
            continue;
        };
        let value = variables.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let Some(value) = value else {
            if unset == Unset::IsError {
                return Err(NotSet { name: name.to_owned() });
            }
            out.push_str(token.text);
            continue;
        };
        match quote {
            Some(quote) => {
                let doubled = value.replace(quote, &format!("{quote}{quote}"));
                out.extend([quote.to_string(), doubled, quote.to_string()]);
            }
            None => out.push_str(value),
        }
        tokens.next();
    }
    Ok(out)
}

/// The name and the quotes of a variable, by the token behind its colon.
fn variable(token: Token<'_>) -> Option<(&str, Option<char>)> {
    let (name, quote) = match token.kind {
        Part::Word | Part::Number => (token.text, None),
        Part::Literal | Part::Name if token.is_closed => {
            (&token.text[1..token.text.len() - 1], token.text.chars().next())
        }
        _ => return None,
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && quote.is_none_or(|quote| "'\"".contains(quote))).then_some((name, quote))
}

/// Returns whether psql takes this for the name of a variable.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The first bytes of a file, which determine its format; empty for a folder or an unreadable file.
pub fn first_bytes(path: &Path) -> Vec<u8> {
    let mut first = Vec::new();
    // The actual read reports the reason.
    let _ = File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut first));
    first
}

#[cfg(test)]
mod tests {
    use super::{Syntax, Unset, substituted};

    #[test]
    fn variables_stand_where_psql_would_put_them() {
        let variables = [("n", "10"), ("t", "it's"), ("i", "a\"b")]
            .map(|(name, value)| (name.into(), value.into()));
        for (sql, expected) in [
            ("SELECT :n, :'n', :\"n\"", "SELECT 10, '10', \"10\""),
            ("SELECT :'t' AS :\"i\"", "SELECT 'it''s' AS \"a\"\"b\""),
            (
                "SELECT ':n', \":n\", [:n], `:n` -- :n\n, :n/* :n */",
                "SELECT ':n', \":n\", [:n], `:n` -- :n\n, 10/* :n */",
            ),
            ("SELECT 'it''s :n', ':n", "SELECT 'it''s :n', ':n"),
            ("SELECT 1 :", "SELECT 1 :"),
            ("SELECT '\u{e9}' || :n", "SELECT '\u{e9}' || 10"),
        ] {
            assert_eq!(
                substituted(sql, &variables, Syntax::Sqlite, Unset::IsError).unwrap(),
                expected
            );
        }
        let kept = "SELECT a[1:2], {'k':1}, b::int, :n::text";
        let put = substituted(kept, &variables, Syntax::Postgres, Unset::Stays).unwrap();
        assert_eq!(put, "SELECT a[1:2], {'k':1}, b::int, 10::text");
        let error = substituted("SELECT :missing", &variables, Syntax::Sqlite, Unset::IsError)
            .unwrap_err()
            .to_string();
        assert!(error.contains("`missing` is not set"), "{error}");
    }
}
