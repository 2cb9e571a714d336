//! Splits SQL text into tokens. It accepts any text, also one that a server has cut off: the last
//! token is then open.

mod lexer;
mod query;

pub use lexer::{Kind, Syntax, Token, Tokens, tokens};
pub use query::{QueryError, query, significant};
