use super::mix::FILE_WEIGHT_MAX;

/// Something in a script that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{script}:{line}:{column}: {message}")]
pub struct ParseError {
    /// Name of the script.
    pub script: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// What can be wrong with a set of scripts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MixError {
    /// In a script's text.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A name that is not, or not only, the beginning of one built-in script's name.
    #[error("{0}")]
    Builtin(String),
    /// What follows the last `@` is not a weight.
    #[error(
        "`{0}`: the weight after `@` is to be a whole number from 0 to {FILE_WEIGHT_MAX}; a file whose name \
         has an `@` is given with a weight: `a@b.sql@1`"
    )]
    Weight(String),
    /// There is nothing to run.
    #[error("no script has a weight above 0")]
    NoWeight,
    /// Not the name of a variable.
    #[error("`{0}` is not a variable's name: letters, digits and underscores, the first no digit")]
    Variable(String),
}

/// A script that failed while it ran.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{script}:{line}:{column}: {fault}")]
pub struct ScriptError {
    /// Name of the script.
    pub script: String,
    /// Line of the command, from 1.
    pub line: usize,
    /// Column of the command in characters, from 1.
    pub column: usize,
    /// What happened.
    pub fault: Fault,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    /// `/` or `%` by 0.
    #[error("division by zero")]
    DivisionByZero,
    /// Beyond 64 bits.
    #[error("{0} is out of the range of 64 bit integers")]
    OutOfRange(&'static str),
    /// A double that no integer can hold.
    #[error("{0} does not fit into an integer")]
    NotAnInteger(f64),
    /// A value of another type is needed.
    #[error("a {wanted} is needed where there is {got}")]
    Type {
        /// `number`, `boolean`.
        wanted: &'static str,
        /// `a boolean`, `NULL`.
        got: &'static str,
    },
    /// A variable that has not been set so far.
    #[error("variable `{0}` is not set")]
    Undefined(String),
    /// A variable's text that is no value of an expression.
    #[error("variable `{name}` has the value `{text}`, which is not NULL, a boolean or a number")]
    Malformed {
        /// The variable.
        name: String,
        /// Its text.
        text: String,
    },
    /// An argument of a function has a value that it does not take.
    #[error("{function}: {message}")]
    Argument {
        /// The function.
        function: &'static str,
        /// What it takes, and what it was given.
        message: String,
    },
    /// `\sleep` with a variable that holds no number.
    #[error("\\sleep: variable `{name}` has the value `{text}`, which is not a whole number")]
    Sleep {
        /// The variable.
        name: String,
        /// Its text.
        text: String,
    },
    /// `\gset` after a query that did not return one row.
    #[error("\\gset takes the columns of one row, but the query returned {0} rows")]
    Rows(u64),
}

/// Something wrong at a place of a script's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located {
    /// In bytes.
    pub offset: usize,
    pub message: String,
}

impl Located {
    pub fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }

    pub fn in_script(self, script: &str, text: &str) -> ParseError {
        let (line, column) = line_and_column(text, self.offset);
        ParseError { script: script.to_owned(), line, column, message: self.message }
    }
}

/// Line and column (in characters) of an offset, both from 1.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
