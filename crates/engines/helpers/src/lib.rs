//! Helper programs (psql, `pg_restore`, `pg_dump`, the `mariadb` client): finding them, and logging
//! in for them on a server by URL.
//!
//! A helper program connects to a private socket and needs no password there. Steelbench's own
//! client logs in on the server, by its rules: no password in cleartext, no file of this machine.
//! From then on the relay passes bytes. The program never knows a password of the server.
//!
//! - [`program`]: finding a program and preparing its start; [`versions`]: the choice among
//!   installed versions; [`dump`]: formats and origins of dumps
//! - `relay`: the socket, its folder and its threads; [`Handshake`]: how a protocol begins
//! - `pump`: passing bytes in both directions
//! - [`libpq`]: how PostgreSQL's protocol begins; [`mysql`]: how MariaDB's and MySQL's does

pub mod dump;
pub mod libpq;
pub mod mysql;
pub mod program;
mod pump;
mod relay;
pub mod versions;

pub use relay::{Handshake, Relay};
