//! The protocol of MariaDB and MySQL: connection strings, login, a blocking client, and the packets
//! for who drives many connections by himself.
//!
//! - `config`: how to connect, from `url`, `option_file` (`~/.my.cnf`) and `environment`
//! - `tls`: how the connection is encrypted
//! - `login`: handshake; `proof`: what the authentication plugins send; `server_key`: a password
//!   encrypted for the server
//! - `client`: a connection that asks and waits; `channel`: its socket
//! - `packet`: packets and the values in them; `response`: what a server answers to one command
//! - `command`: what is sent
//!
//! <https://mariadb.com/kb/en/clientserver-protocol/>

mod channel;
#[expect(clippy::module_inception, reason = "the blocking client of the protocol's module")]
mod client;
pub mod command;
mod config;
mod environment;
mod error;
mod login;
mod option_file;
mod packet;
mod proof;
mod response;
mod server_key;
mod tls;
mod url;

pub use client::Client;
pub use config::Config;
pub use environment::Environment;
pub use error::{ConfigError, Error, KeyError, LoginError, ServerError};
pub use packet::{Packets, Reader, put_packet};
pub use response::{Column, ColumnType, Event, Kind, Prepared, Response, binary_row, text_row};

/// A name in backquotes.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text in quotes, for servers whose `sql_mode` lets backslashes escape, as the default does.
pub fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
