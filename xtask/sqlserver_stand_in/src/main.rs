//! A server that speaks T-SQL over TDS, for tests: the emulator Iridium, and what it lacks of
//! databases.
//!
//! Iridium executes statements, transactions, locks and bulk loads by itself; it is no product of
//! Microsoft's, and no oracle for performance. It has neither databases that can be created, nor
//! extended properties, application locks and settings of the server: these are kept by `server`,
//! which understands the statements that Steelbench sends for them and no others. `calls`
//! translates what it does not understand of the protocol.
//!
//! `sqlserver_stand_in PORT_FILE [DATABASE...]` listens on a free port of 127.0.0.1, writes its
//! number to the file, and ends with its standard input. The databases are there already.

mod calls;
mod catalog;
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
        // Whoever waits for the file finds the whole number in it.
        let new = format!("{file}.new");
        std::fs::write(&new, listener.local_addr()?.port().to_string())?;
        std::fs::rename(&new, &file)?;
        Builder::new().spawn(move || calls::serve(&listener, emulator))?;
        server.run().await
    })
}
