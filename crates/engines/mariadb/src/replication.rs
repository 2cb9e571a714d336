//! Replication of private servers by global transaction identifiers
//! (<https://mariadb.com/kb/en/gtid/>,
//! <https://mariadb.com/kb/en/semisynchronous-replication/>).
//!
//! A replica reaches its primary by TCP only. The primary then listens on 127.0.0.1, where it knows
//! one account: that of the replica, with a random password.

use crate::admin::DATABASE;
use crate::client::{Client, Config, quote_literal};
use crate::errors::failed_at;
use crate::load::LoadConfig;
use crate::server::{MariaProduct, PrivateServer, SOCKET, SUPERUSER, ServerOptions};
use crate::session::Session;
use engine::{
    AdminSession, ConnectionSet, EngineError, Program, ProgramNames, Result, Results, Rows,
};
use servers::files::clone_folder;
use servers::load::{Ending, LoadConnections, Sessions};
use servers::pair::Replicating;
use servers::private::{Options, Server, Settings, Stop};
use servers::wait_for;
use std::fs::File;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;
use work::Cancel;

/// The time that an answer may take.
const ANSWER: Duration = Duration::from_secs(60);
/// The time in which a replica follows, or has applied what it received.
const FOLLOWS: Duration = Duration::from_secs(60);
/// Account of the replica.
const ACCOUNT: &str = "steelbench_replica";
/// Bytes of its password.
const PASSWORD_BYTES: usize = 24;
const RANDOM: &str = "/dev/urandom";

impl Replicating for MariaProduct {
    const SOCKET: &'static str = SOCKET;
    const SUPERUSER: &'static str = SUPERUSER;
    const DATABASE: &'static str = DATABASE;

    fn in_database(config: Config, database: &str) -> Config {
        config.with_database(database)
    }

    fn admin_session(config: Config, cancel: &Cancel) -> Result<Box<dyn AdminSession>> {
        let connected = Client::connect_until(&config, &cancel.stop());
        let client = connected.map_err(failed_at("connecting"))?;
        Ok(Box::new(Session::of_client(client, config)))
    }

    fn environment(config: &Config) -> Vec<(String, Option<String>)> {
        config.client_environment()
    }

    fn client_program(&self, program: ProgramNames) -> Result<Program> {
        self.installation.client_program(program)
    }

    fn replicate(
        primary: &mut PrivateServer,
        options: ServerOptions,
        cancel: &Cancel,
    ) -> Result<PrivateServer> {
        if options.product.installation.is_mysql() {
            return Err(EngineError::Unsupported { engine: "mysql", what: "replicas" });
        }
        let settings = primary.in_force.clone().unwrap_or_default();
        let password = random_password()?;
        admit_replica(&mut primary.connect_until(cancel)?, &password)?;
        primary.stop(Stop::Clean, cancel)?;
        let mut replica = Server::with_data(options, |options, data| copy(primary, options, data))?;
        let port = free_port()?;
        primary.start_with(of_primary(settings.clone(), port), cancel)?;
        replica.start_with(of_replica(settings), cancel)?;
        let host = Ipv4Addr::LOCALHOST;
        let follow = format!(
            "CHANGE MASTER TO MASTER_HOST = '{host}', MASTER_PORT = {port}, MASTER_USER = \
             '{ACCOUNT}', MASTER_PASSWORD = {}, MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY \
             = 1",
            quote_literal(&password)
        );
        let mut client = replica.connect_until(cancel)?;
        client.run(&follow).map_err(failed_at("naming the primary of a replica"))?;
        start_following(&mut client, cancel)?;
        Ok(replica)
    }

    fn confirm(primary: &PrivateServer, replica: &PrivateServer, cancel: &Cancel) -> Result<()> {
        let doing = "turning semi-synchronous replication on";
        let (mut client, mut other) =
            (primary.connect_until(cancel)?, replica.connect_until(cancel)?);
        client.run("SET GLOBAL rpl_semi_sync_master_enabled = ON").map_err(failed_at(doing))?;
        // A replica asks for it when it connects.
        let again = "SET GLOBAL rpl_semi_sync_slave_enabled = ON; STOP SLAVE";
        other.run(again).map_err(failed_at(doing))?;
        start_following(&mut other, cancel)?;
        let sql = "SELECT variable_value FROM information_schema.global_status WHERE variable_name \
                   = 'RPL_SEMI_SYNC_MASTER_CLIENTS'";
        let found = wait_for(FOLLOWS, cancel, || {
            let clients = client.cell(sql).map_err(failed_at(doing))?;
            Ok((clients.as_deref() == Some("1")).then_some(()))
        })?;
        found.ok_or_else(|| late(doing, "the replica does not confirm", &mut other))
    }

    fn hand_over(
        primary: &mut PrivateServer,
        replica: &PrivateServer,
        cancel: &Cancel,
    ) -> Result<()> {
        let doing = "shutting the primary down";
        let sql = "SHUTDOWN WAIT FOR ALL SLAVES";
        primary.connect_until(cancel)?.run(sql).map_err(failed_at(doing))?;
        primary.stop(Stop::Clean, cancel)?;
        // Until then bytes may be on their way.
        let mut client = replica.connect_until(cancel)?;
        let lost = wait_for(FOLLOWS, cancel, || {
            let status = status(&mut client)?;
            Ok((value(&status, "Slave_IO_Running") != Some("Yes")).then_some(()))
        })?;
        lost.ok_or_else(|| late(doing, "the replica still reads from it", &mut client))
    }

    fn promote(replica: &PrivateServer, cancel: &Cancel) -> Result<()> {
        let doing = "promoting the replica";
        let mut client = replica.connect_until(cancel)?;
        // A semi-synchronous one would ask the primary, which may not answer, to end its session.
        let stop = "SET GLOBAL rpl_semi_sync_slave_enabled = OFF; STOP SLAVE IO_THREAD";
        client.run(stop).map_err(failed_at(doing))?;
        // It has applied what it received.
        let status = status(&mut client)?;
        let received = quote_literal(value(&status, "Gtid_IO_Pos").unwrap_or_default());
        let seconds = FOLLOWS.as_secs();
        let wait = format!("SELECT MASTER_GTID_WAIT({received}, {seconds})");
        if client.cell(&wait).map_err(failed_at(doing))?.as_deref() != Some("0") {
            return Err(late(doing, "it did not apply all that it received", &mut client));
        }
        let free = "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = OFF";
        client.run(free).map_err(failed_at(doing))
    }

    fn session(
        config: &Config,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Box<dyn ConnectionSet>> {
        let mut config = config.clone().with_database(DATABASE).with_stop(cancel.stop());
        config.connect_timeout = Some(patience);
        let load = LoadConfig { config, session: Vec::new() };
        let ending = Ending { checkpoint: None, cancel: cancel.clone() };
        Ok(Box::new(LoadConnections::open(&load, &[].into(), 1, Sessions::default(), ending)?))
    }

    fn ask(config: &Config, sql: &str, cancel: &Cancel) -> Result<Results> {
        let config = config.clone().with_database(DATABASE);
        let connected = Client::connect_until(&config, &cancel.stop());
        let mut client = connected.map_err(failed_at("connecting"))?;
        client.set_answer_timeout(Some(ANSWER));
        let rows = client.query(sql).map_err(failed_at("asking the server"))?;
        let mut results = Results { columns: rows.columns().to_vec(), ..Results::default() };
        rows.iter().for_each(|row| results.add(row.values(), true));
        Ok(results)
    }
}

/// Settings of the primary, which listens for its replica.
fn of_primary(mut settings: Settings, port: u16) -> Settings {
    let (host, port) = (Ipv4Addr::LOCALHOST.to_string(), port.to_string());
    let primary_settings = [
        ("server_id", "1"),
        ("log_bin", "ON"),
        ("skip_networking", "OFF"),
        ("bind_address", &host),
        ("port", &port),
        // With names 127.0.0.1 would be localhost, where the superuser needs no password.
        ("skip_name_resolve", "ON"),
    ];
    settings.extend(primary_settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
    settings
}

/// Settings of the replica.
fn of_replica(mut settings: Settings) -> Settings {
    let replica_settings =
        [("server_id", "2"), ("log_bin", "ON"), ("log_slave_updates", "ON"), ("read_only", "ON")];
    settings.extend(replica_settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
    settings
}

/// Makes the replica's account, and drops all others that could come by TCP.
fn admit_replica(client: &mut Client, password: &str) -> Result<()> {
    let doing = "making the account of the replica";
    let others = "SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.global_priv WHERE host \
                  <> 'localhost'";
    for row in client.query(others).map_err(failed_at(doing))?.iter() {
        client.run(&format!("DROP USER {}", row.text(0))).map_err(failed_at(doing))?;
    }
    let (account, password) =
        (format!("{ACCOUNT}@'{}'", Ipv4Addr::LOCALHOST), quote_literal(password));
    let sql = format!(
        "CREATE USER {account} IDENTIFIED BY {password}; GRANT REPLICATION SLAVE ON *.* TO \
         {account}"
    );
    client.run(&sql).map_err(failed_at(doing))
}

/// A password that no other user can guess.
fn random_password() -> Result<String> {
    let path = Path::new(RANDOM);
    let mut bytes = [0; PASSWORD_BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(EngineError::at(path))?;
    Ok(bytes.map(|byte| format!("{byte:02x}")).concat())
}

/// A port that no process of this machine listens at.
fn free_port() -> Result<u16> {
    let found =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    found
        .map(|address| address.port())
        .map_err(|error| EngineError::failed("finding a free port", error))
}

/// Copies the data directory of a primary that was shut down.
fn copy(primary: &PrivateServer, options: &Options<MariaProduct>, data: &Path) -> Result<()> {
    clone_folder(primary.data_directory(), data, &options.account)?;
    let Some(log) = &primary.options.log_directory else { return Ok(()) };
    let redo_log = options.product.installation.redo_log();
    clone_folder(&log.join(redo_log), &data.join(redo_log), &options.account)
}

/// Starts the threads of a replica, and waits until both run.
fn start_following(client: &mut Client, cancel: &Cancel) -> Result<()> {
    let doing = "attaching the replica";
    client.run("START SLAVE").map_err(failed_at(doing))?;
    let found = wait_for(FOLLOWS, cancel, || {
        let status = status(client)?;
        let mut threads = ["Slave_IO_Running", "Slave_SQL_Running"].into_iter();
        match refusal(&status) {
            Some(why) => Err(EngineError::failed(doing, why)),
            None => Ok(threads.all(|name| value(&status, name) == Some("Yes")).then_some(())),
        }
    })?;
    found.ok_or_else(|| late(doing, "it did not follow", client))
}

/// The state of a replica, a column for each of the server's names.
fn status(client: &mut Client) -> Result<Rows> {
    let sql = "SHOW SLAVE STATUS";
    client.query(sql).map_err(failed_at(sql))
}

fn value<'s>(status: &'s Rows, name: &str) -> Option<&'s str> {
    status.first()?.get(name)
}

/// The error of the thread that reads from the primary, or of the one that applies.
fn refusal(status: &Rows) -> Option<String> {
    let errors = ["Last_IO_Error", "Last_SQL_Error"].map(|name| value(status, name));
    errors.into_iter().flatten().find(|error| !error.is_empty()).map(str::to_owned)
}

fn late(doing: &str, what: &str, client: &mut Client) -> EngineError {
    let why = status(client).ok().as_ref().and_then(refusal);
    let why = why.map(|reason| format!(": {reason}")).unwrap_or_default();
    EngineError::failed(doing, format!("{what} within {} s{why}", FOLLOWS.as_secs()))
}
