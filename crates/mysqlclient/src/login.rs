//! The handshake, and the ways to prove who one is
//! (<https://mariadb.com/kb/en/connection/>, <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>).

use crate::client::Channel;
use crate::config::Config;
use crate::packet::put_text;
use crate::{Error, Reader, ServerError};
use ring::digest::{self, Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

/// What a connection can do, as bits of the handshake (<https://mariadb.com/kb/en/connection/#capabilities>).
mod capability {
    /// Of a server: it is MySQL, or a MariaDB older than 10.2.
    pub const MYSQL: u64 = 1;
    pub const CONNECT_WITH_DB: u64 = 1 << 3;
    pub const LOCAL_FILES: u64 = 1 << 7;
    pub const PROTOCOL_41: u64 = 1 << 9;
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
    /// What is asked for where the server has it.
    pub const WANTED: u64 = LOCAL_FILES
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
    /// What this client cannot do without.
    pub const NEEDED: u64 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | DEPRECATE_EOF;
}

/// `utf8mb4_general_ci`.
const CHARSET: u8 = 45;
/// Most bytes of a packet that we take.
const PACKET_BYTES_MAX: u32 = 64 << 20;
const PROTOCOL: u8 = 10;

/// What the first answers of the server's exchange mean.
const OK: u8 = 0x00;
const MORE: u8 = 0x01;
const SWITCH: u8 = 0xFE;
const ERROR: u8 = 0xFF;
/// Of `caching_sha2_password`: the server has the password's hash in its cache, or needs all of the password.
const FAST: u8 = 3;
const FULL: u8 = 4;

/// What the server said of itself.
#[derive(Debug, Clone, Default)]
pub struct Greeting {
    pub version: String,
    pub connection_id: u32,
    /// Those of the connection, which both sides have.
    capabilities: u64,
}

impl Greeting {
    /// Whether it is MariaDB, not MySQL.
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

/// Logs in on a channel that was just opened.
pub fn login(channel: &mut Channel, config: &Config) -> Result<Greeting, Error> {
    let refused = |why: String| Error::Login(config.place.to_string(), why);
    let packet = channel.receive()?;
    if let Some((&ERROR, rest)) = packet.split_first() {
        return Err(Error::Server(ServerError::parse(rest)));
    }
    let (mut greeting, challenge, plugin) = greeting(&packet).ok_or_else(Error::malformed)?;
    if greeting.capabilities & capability::NEEDED != capability::NEEDED {
        let version = &greeting.version;
        let why = format!("server {version} is too old; MariaDB from 10.2 and MySQL from 5.7 can be used");
        return Err(refused(why));
    }
    greeting.capabilities &= capability::WANTED;
    let first = proof(&plugin, config, &challenge).map_err(refused)?;
    let response = response(config, &greeting, &plugin, &first);
    channel.send(|out| out.extend_from_slice(&response))?;
    let mut plugin = plugin;
    loop {
        let packet = channel.receive()?;
        let (&kind, rest) = packet.split_first().ok_or_else(Error::malformed)?;
        match kind {
            OK => return Ok(greeting),
            ERROR => return Err(Error::Server(ServerError::parse(rest))),
            SWITCH => {
                let mut reader = Reader(rest);
                let name = reader.until_zero().ok_or_else(Error::malformed)?;
                plugin = String::from_utf8_lossy(name).into_owned();
                let challenge = reader.0.strip_suffix(&[0]).unwrap_or(reader.0);
                let proof = proof(&plugin, config, challenge).map_err(refused)?;
                channel.send(|out| out.extend_from_slice(&proof))?;
            }
            MORE if rest == [FAST] => {}
            MORE if rest == [FULL] && channel.is_private() => {
                let password = config.password.as_deref().unwrap_or_default();
                channel.send(|out| out.extend_from_slice(&[password.as_bytes(), &[0]].concat()))?;
            }
            MORE if rest == [FULL] => return Err(refused(needs_private_channel(&plugin))),
            _ => return Err(Error::malformed()),
        }
    }
}

fn needs_private_channel(plugin: &str) -> String {
    format!(
        "{plugin} asks for the password as it is, which is not sent over a connection that is not encrypted; connect over \
         the unix socket"
    )
}

/// What the server greets with: itself, a challenge, and the plugin that it begins with.
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
    let own = reader.u32()?;
    if capabilities & capability::MYSQL == 0 {
        capabilities |= u64::from(own) << 32;
    }
    let second = reader.bytes(usize::from(length).saturating_sub(8).max(13))?;
    challenge.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
    let plugin =
        String::from_utf8_lossy(reader.until_zero().unwrap_or(b"mysql_native_password")).into_owned();
    // Before 10.2 and in a replication setup MariaDB hides behind another version.
    let version = version.strip_prefix("5.5.5-").map(str::to_owned).unwrap_or(version);
    Some((Greeting { version, connection_id, capabilities }, challenge, plugin))
}

fn response(config: &Config, greeting: &Greeting, plugin: &str, proof: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let database = config.database.as_deref();
    let capabilities =
        greeting.capabilities | if database.is_some() { capability::CONNECT_WITH_DB } else { 0 };
    out.extend_from_slice(&(capabilities as u32).to_le_bytes());
    out.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
    out.push(CHARSET);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&((capabilities >> 32) as u32).to_le_bytes());
    out.extend_from_slice(config.user.as_bytes());
    out.push(0);
    put_text(&mut out, proof);
    for text in database.into_iter().chain([plugin]) {
        out.extend_from_slice(text.as_bytes());
        out.push(0);
    }
    out
}

/// What a plugin answers to a challenge; what cannot be answered is an error in words.
fn proof(plugin: &str, config: &Config, challenge: &[u8]) -> Result<Vec<u8>, String> {
    let password = config.password.as_deref().unwrap_or_default().as_bytes();
    match plugin {
        // The kernel tells the server who we are.
        "auth_socket" | "unix_socket" => Ok(Vec::new()),
        "mysql_native_password" | "caching_sha2_password" if password.is_empty() => Ok(Vec::new()),
        "mysql_native_password" => Ok(native(password, challenge)),
        "caching_sha2_password" => Ok(caching_sha2(password, challenge)),
        other => Err(format!(
            "the account wants authentication plugin {other}, which this client does not have; it has mysql_native_password, \
             caching_sha2_password and unix_socket"
        )),
    }
}

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut context = digest::Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish().as_ref().to_vec()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// SHA1(password) XOR SHA1(challenge, SHA1(SHA1(password))).
fn native(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let sha1 = |parts: &[&[u8]]| hash(&SHA1_FOR_LEGACY_USE_ONLY, parts);
    let once = sha1(&[password]);
    xor(&once, &sha1(&[challenge, &sha1(&[&once])]))
}

/// SHA256(password) XOR SHA256(SHA256(SHA256(password)), challenge).
fn caching_sha2(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let sha256 = |parts: &[&[u8]]| hash(&SHA256, parts);
    let once = sha256(&[password]);
    xor(&once, &sha256(&[&sha256(&[&once]), challenge]))
}

#[cfg(test)]
mod tests {
    use super::{caching_sha2, native};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
    }

    /// Computed with Python's hashlib from the formulas in MySQL's and MariaDB's documentation.
    #[test]
    fn proofs_are_as_the_documentation_defines_them() {
        let challenge: Vec<u8> = (1..=20).collect();
        assert_eq!(hex(&native(b"secret", &challenge)), "b32bb3a583e1340c0a1108d58b1be49781ad8c2f");
        assert_eq!(
            hex(&caching_sha2(b"secret", &challenge)),
            "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9"
        );
    }
}
