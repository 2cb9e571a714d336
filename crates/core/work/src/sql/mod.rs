//! Splits SQL text into tokens. It accepts any text, also one that a server has cut off: the last
//! token is then open. [`statement`]: texts of statements as they may be shown.

mod lexer;
mod named;
mod query;
pub mod statement;

pub use lexer::{Kind, Syntax, Token, Tokens, tokens};
pub use named::{NamedStatement, named_statements};
pub use query::{QueryError, query, significant};
