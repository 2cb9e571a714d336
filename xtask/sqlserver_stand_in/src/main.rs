//! A server that speaks T-SQL over TDS, for tests: the emulator Iridium, and what it lacks of
//! databases.
//!
//! Iridium executes statements, transactions, locks and bulk loads. It is not a Microsoft product,
//! and its performance says nothing about SQL Server's. It lacks `CREATE DATABASE`, extended
//! properties, application locks, backups and server settings: `server` and `backups` emulate
//! these, for the statements that Steelbench sends and no others. `calls` translates the messages
//! of the protocol that Iridium does not understand.
//!
//! `sqlserver_stand_in PORT_FILE [DATABASE...]` listens on a free port of 127.0.0.1, writes its
//! number to the file, and ends with its standard input. The databases are there already.

mod backups;
mod calls;
mod catalog;
mod hints;
mod limits;
mod server;

use iridium_server::{ServerConfig, TdsServer};
use std::io::Read as _;
use std::net::TcpListener;
use std::thread::Builder;

/// The login that is let in.
const USER: &str = "sa";
const PASSWORD: &str = "S3c";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: sqlserver_stand_in PORT_FILE")?;
    Builder::new().spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    })?;
    // A session that waits for a lock keeps its thread.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(64).enable_all().build()?;
    runtime.block_on(async {
        let mut config = ServerConfig::with_auth(USER, PASSWORD).disable_tls().port(0);
        (config.pool_min_size, config.pool_max_size) = (0, 200);
        let mut server =
            TdsServer::new_with_database(server::Server::with(std::env::args().skip(2)), config);
        let emulator = server.bind().await?.port();
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        // Renamed, so that a reader never sees part of the number.
        let new = format!("{file}.new");
        std::fs::write(&new, listener.local_addr()?.port().to_string())?;
        std::fs::rename(&new, &file)?;
        Builder::new().spawn(move || calls::serve(&listener, emulator))?;
        server.run().await
    })
}
