//! Why a script cannot be understood, or one of its commands fails.

/// A command of a script that cannot be understood, or that failed while it ran.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{script}:{line}:{column}: {fault}")]
pub struct ScriptError {
    /// Name of the script.
    pub script: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The cause.
    #[source]
    pub fault: Fault,
}

impl From<ScriptError> for probe::ProbeError {
    fn from(error: ScriptError) -> Self {
        Self::study(error)
    }
}

/// Why scripts do not make a mix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MixError {
    /// A script cannot be understood.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A variable that is given has no name that scripts can use.
    #[error(transparent)]
    Variable(Fault),
    /// No script would ever run.
    #[error("no script has a weight above 0")]
    NoWeight,
    /// No built-in script has this name.
    #[error("{}", experiment::unknown_name("built-in script", name, known))]
    Unknown {
        /// The name.
        name: String,
        /// The names of the built-in scripts.
        known: Vec<&'static str>,
    },
    /// Several built-in scripts begin so.
    #[error("`{name}` is the beginning of several built-in scripts: {first}, {second}")]
    Ambiguous {
        /// The beginning.
        name: String,
        /// A script.
        first: &'static str,
        /// Another script.
        second: &'static str,
    },
    /// The part after `@` is not a weight.
    #[error(
        "`{argument}`: the weight after `@` must be a whole number from 0 to {most}; a file name \
         with `@` needs a weight: `a@b.sql@1`"
    )]
    Weight {
        /// File and weight.
        argument: String,
        /// The largest weight.
        most: u32,
    },
    /// A file that is named only after the experiment was read.
    #[error("{0}: was not read")]
    NotRead(String),
}

/// A fault of a command, without its place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The text is not a command, a statement or an expression.
    #[error("{0}")]
    Syntax(String),
    /// A name with other signs.
    #[error(
        "`{0}` is not a variable name: letters, digits and underscores, not starting with a \
         digit"
    )]
    NotAName(String),
    /// A variable in quotes, which a prepared statement cannot replace.
    #[error(
        "variable `{0}` in quotes: a prepared statement cannot take a value there; write \
         `'...' || :{0}`, or use the simple protocol"
    )]
    Quoted(String),
    /// No command of any script sets the variable.
    #[error(
        "{}; if it is not a variable, put a space after the colon",
        experiment::unknown_name(
            "variable",
            name,
            &known.iter().map(String::as_str).collect::<Vec<_>>()
        )
    )]
    NeverSet {
        /// The variable.
        name: String,
        /// The variables that are set.
        known: Vec<String>,
    },
    /// The variable has no value yet.
    #[error("variable `{0}` is not set")]
    NotSet(String),
    /// The variable has a text that expressions cannot use.
    #[error("variable `{name}` has the value `{value}`, which is not NULL, a boolean or a number")]
    NotTyped {
        /// The variable.
        name: String,
        /// The value.
        value: String,
    },
    /// The time of a `\sleep` is not a number.
    #[error("\\sleep: variable `{name}` has the value `{value}`, which is not a whole number")]
    NotWhole {
        /// The variable.
        name: String,
        /// The value.
        value: String,
    },
    /// A value of another type.
    #[error("expected a {expected}, found {found}")]
    Type {
        /// The type that is needed.
        expected: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// A double beyond the integers.
    #[error("{0} does not fit into an integer")]
    NoInteger(f64),
    /// A result beyond the integers.
    #[error("{0} is out of the range of 64 bit integers")]
    Overflow(&'static str),
    /// A division by 0.
    #[error("division by zero")]
    DivisionByZero,
    /// A permutation of no numbers.
    #[error("permute: the size must be above 0, not {0}")]
    PermuteSize(i64),
    /// A range without integers, or with more than 2^63 - 1 of them.
    #[error("{function}: the range from {least} to {most} is {size}")]
    Range {
        /// The function that draws from it.
        function: &'static str,
        /// The beginning.
        least: i64,
        /// The end.
        most: i64,
        /// `empty`, or `too large`.
        size: &'static str,
    },
    /// A parameter with which a distribution cannot be drawn.
    #[error("{function}: the parameter has to be {bound}, not {parameter}")]
    Parameter {
        /// The function.
        function: &'static str,
        /// The values that it takes.
        bound: String,
        /// The parameter.
        parameter: f64,
    },
    /// Too few or too many digits.
    #[error("random_digits: {groups} groups of {digits} digits are outside 1 to {most} digits")]
    Digits {
        /// Groups of digits.
        groups: i64,
        /// Digits of each.
        digits: i64,
        /// Most digits in all.
        most: i64,
    },
    /// A text of no or too many characters.
    #[error("{function}: the length must be from 1 to {most}, not {length}")]
    Length {
        /// The function.
        function: &'static str,
        /// The wanted length.
        length: i64,
        /// The largest.
        most: i64,
    },
    /// A `\gset` after a query without exactly one row.
    #[error("\\gset needs exactly one row, but the query returned {0} rows")]
    Rows(u64),
}

/// A fault at a place of a script's text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    /// In bytes.
    pub offset: usize,
    pub fault: Fault,
}

impl Problem {
    /// A text that cannot be read.
    pub fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, fault: Fault::Syntax(message.into()) }
    }

    /// Returns the error with its place in a script of this name and text.
    pub fn in_script(self, name: &str, text: &str) -> ScriptError {
        let (line, column) = line_and_column(text, self.offset);
        ScriptError { script: name.to_owned(), line, column, fault: self.fault }
    }
}

/// Line and column (in characters) of an offset, both from 1.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
