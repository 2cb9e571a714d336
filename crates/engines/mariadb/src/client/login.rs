//! The handshake (<https://mariadb.com/kb/en/connection/>,
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>).

use crate::client::Reader;
use crate::client::channel::Channel;
use crate::client::config::{Config, Place};
use crate::client::error::{Error, LoginError, ServerError};
use crate::client::packet::put_text;
use crate::client::proof::Plugin;
use crate::client::server_key::PublicKey;
use crate::client::tls::TlsMode;
use std::io;

/// Capabilities of a connection, as bits of the handshake
/// (<https://mariadb.com/kb/en/connection/#capabilities>).
mod capability {
    /// Of a server: it is MySQL, or a MariaDB older than 10.2.
    pub const MYSQL: u64 = 1;
    pub const CONNECT_WITH_DB: u64 = 1 << 3;
    pub const LOCAL_FILES: u64 = 1 << 7;
    pub const PROTOCOL_41: u64 = 1 << 9;
    /// TLS begins after the first 32 bytes of the client's answer.
    pub const SSL: u64 = 1 << 11;
    pub const TRANSACTIONS: u64 = 1 << 13;
    pub const SECURE_CONNECTION: u64 = 1 << 15;
    pub const MULTI_STATEMENTS: u64 = 1 << 16;
    pub const MULTI_RESULTS: u64 = 1 << 17;
    pub const PS_MULTI_RESULTS: u64 = 1 << 18;
    pub const PLUGIN_AUTH: u64 = 1 << 19;
    pub const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
    pub const DEPRECATE_EOF: u64 = 1 << 24;
    /// MariaDB's own: one statement for many rows of parameters,
    pub const STMT_BULK: u64 = 1 << 34;
    /// and results without the description of columns that the client has.
    pub const CACHE_METADATA: u64 = 1 << 36;
    /// Requested where the server has it.
    pub const REQUESTED: u64 = LOCAL_FILES
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_STATEMENTS
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH
        | PLUGIN_AUTH_LENENC
        | DEPRECATE_EOF
        | STMT_BULK
        | CACHE_METADATA;
    /// Used by a login.
    pub const LOGIN: u64 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | PLUGIN_AUTH_LENENC;
    /// Required by this client.
    pub const NEEDED: u64 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | DEPRECATE_EOF;
}

/// `utf8mb4_general_ci`.
const CHARSET: u8 = 45;
/// Most bytes of a packet that we take.
const PACKET_BYTES_MAX: u32 = 64 << 20;
const PROTOCOL: u8 = 10;

/// First bytes of the server's answers during login.
const OK: u8 = 0x00;
const MORE: u8 = 0x01;
const SWITCH: u8 = 0xFE;
const ERROR: u8 = 0xFF;
/// Of `caching_sha2_password`: the server has the password's hash in its cache, or needs all of the
/// password.
const FAST: u8 = 3;
const FULL: u8 = 4;

/// The server's greeting.
#[derive(Debug, Clone, Default)]
pub struct Greeting {
    pub version: String,
    pub connection_id: u32,
    /// Capabilities of the server,
    pub offered: u64,
    /// and of the connection, which both sides have.
    capabilities: u64,
}

impl Greeting {
    /// Returns whether it is MariaDB, not MySQL.
    pub fn is_mariadb(&self) -> bool {
        self.version.contains("MariaDB")
    }

    pub fn caches_metadata(&self) -> bool {
        self.capabilities & capability::CACHE_METADATA != 0
    }

    pub fn has_bulk(&self) -> bool {
        self.capabilities & capability::STMT_BULK != 0
    }
}

/// Packets of a login at most: an account can have several plugins, each of which takes a few.
const ROUNDS_MAX: usize = 32;

/// Logs in on a channel that was just opened.
pub fn login(channel: &mut Channel, config: &Config) -> Result<Greeting, Error> {
    let refused = |why| Error::Login(config.place.to_string(), why);
    let packet = channel.receive()?;
    if let Some((&ERROR, rest)) = packet.split_first() {
        return Err(Error::Server(ServerError::parse(rest)));
    }
    let (mut greeting, mut challenge, name) = greeting(&packet).ok_or_else(Error::malformed)?;
    if greeting.capabilities & capability::NEEDED != capability::NEEDED {
        return Err(refused(LoginError::TooOld(greeting.version)));
    }
    let is_encrypted =
        wants_tls(config, greeting.capabilities & capability::SSL != 0).map_err(refused)?;
    greeting.capabilities &= config
        .program
        .map_or(capability::REQUESTED, |login| login.capabilities | capability::LOGIN);
    let head = head(config, &greeting, is_encrypted);
    if is_encrypted {
        encrypt(channel, config, &head)?;
    }
    // The server names the account's plugin later; this one is the server's default.
    let mut plugin = Plugin::named(&name).unwrap_or(Plugin::Native);
    let first = plugin.first_proof(config, &challenge);
    let response = response(config, &head, plugin, &first);
    channel.send(|out| out.extend_from_slice(&response))?;
    let mut asked_for_key = false;
    for _ in 0..ROUNDS_MAX {
        let packet = channel.receive()?;
        let (&kind, rest) = packet.split_first().ok_or_else(Error::malformed)?;
        let reply = match kind {
            OK => return Ok(greeting),
            ERROR => return Err(Error::Server(ServerError::parse(rest))),
            SWITCH => {
                let mut reader = Reader(rest);
                let name = reader.until_zero().ok_or_else(Error::malformed)?;
                plugin = Plugin::named(&String::from_utf8_lossy(name)).map_err(refused)?;
                challenge = reader.0.strip_suffix(&[0]).unwrap_or(reader.0).to_vec();
                plugin.proof(config, channel, &challenge)
            }
            MORE if plugin == Plugin::CachingSha2 && rest == [FAST] => continue,
            MORE if plugin == Plugin::CachingSha2 && rest == [FULL] => {
                plugin.password(config, channel, &challenge)
            }
            MORE if asked_for_key => {
                let key = PublicKey::from_pem(rest);
                let key = key.ok_or_else(|| refused(LoginError::NoKey))?;
                plugin.encrypted(config, &key, &challenge)
            }
            _ => return Err(Error::malformed()),
        };
        let reply = reply.map_err(refused)?;
        asked_for_key = plugin.key_request().is_some_and(|request| reply == [request]);
        channel.send(|out| out.extend_from_slice(&reply))?;
    }
    Err(refused(LoginError::Endless))
}

/// Decides whether to encrypt this connection.
fn wants_tls(config: &Config, server_can: bool) -> Result<bool, LoginError> {
    let is_unix = matches!(config.place, Place::Unix(_));
    match (config.tls.mode, server_can) {
        (TlsMode::Disabled, _) => Ok(false),
        (TlsMode::Preferred, _) if !config.tls.verifies() => Ok(server_can && !is_unix),
        (_, true) => Ok(true),
        (_, false) => Err(LoginError::NoTls),
    }
}

fn encrypt(channel: &mut Channel, config: &Config, head: &[u8]) -> Result<(), Error> {
    let refused = |why| Error::Login(config.place.to_string(), why);
    channel.send(|out| out.extend_from_slice(head))?;
    let host = match &config.place {
        Place::Tcp { host, .. } => host.as_str(),
        Place::Unix(_) => "localhost",
    };
    let tls = config.tls.ready(host).map_err(refused)?;
    channel.encrypt(&tls).map_err(|error| match Error::of_socket(error) {
        Error::Lost(error) if error.kind() == io::ErrorKind::UnexpectedEof => Error::Lost(error),
        Error::Lost(error) => refused(LoginError::Tls(error)),
        other => other,
    })
}

/// Parses the greeting: server, challenge, and first plugin.
fn greeting(packet: &[u8]) -> Option<(Greeting, Vec<u8>, String)> {
    let mut reader = Reader(packet);
    if reader.u8()? != PROTOCOL {
        return None;
    }
    let version = String::from_utf8_lossy(reader.until_zero()?).into_owned();
    let connection_id = reader.u32()?;
    let mut challenge = reader.bytes(8)?.to_vec();
    reader.bytes(1)?;
    let low = reader.u16()?;
    // Character set, status.
    reader.bytes(3)?;
    let high = reader.u16()?;
    let mut capabilities = u64::from(low) | u64::from(high) << 16;
    let length = reader.u8()?;
    reader.bytes(6)?;
    let id = reader.u32()?;
    if capabilities & capability::MYSQL == 0 {
        capabilities |= u64::from(id) << 32;
    }
    let second = reader.bytes(usize::from(length).saturating_sub(8).max(13))?;
    challenge.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
    let plugin = String::from_utf8_lossy(reader.until_zero().unwrap_or(b"mysql_native_password"))
        .into_owned();
    // Before 10.2 and in a replication setup MariaDB hides behind another version.
    let version = version.strip_prefix("5.5.5-").map(str::to_owned).unwrap_or(version);
    let offered = capabilities;
    Some((Greeting { version, connection_id, offered, capabilities }, challenge, plugin))
}

/// Returns the beginning of an answer to the greeting, which is all that is sent of it before TLS:
/// what this connection is to be able to do, the longest packet, the character set.
fn head(config: &Config, greeting: &Greeting, is_encrypted: bool) -> Vec<u8> {
    let mut capabilities = greeting.capabilities;
    if config.database.is_some() {
        capabilities |= capability::CONNECT_WITH_DB;
    }
    if is_encrypted {
        capabilities |= capability::SSL;
    }
    let mut out = Vec::new();
    out.extend_from_slice(&(capabilities as u32).to_le_bytes());
    out.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
    out.push(config.program.map_or(CHARSET, |login| login.charset));
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&((capabilities >> 32) as u32).to_le_bytes());
    out
}

fn response(config: &Config, head: &[u8], plugin: Plugin, proof: &[u8]) -> Vec<u8> {
    let mut out = head.to_vec();
    out.extend_from_slice(config.user.as_bytes());
    out.push(0);
    put_text(&mut out, proof);
    for text in config.database.as_deref().into_iter().chain([plugin.name()]) {
        out.extend_from_slice(text.as_bytes());
        out.push(0);
    }
    out
}
