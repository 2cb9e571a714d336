//! The authentication plugins: what each sends to prove who one is
//! (<https://mariadb.com/kb/en/authentication-plugins/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/authentication-plugins.html>).

use crate::client::channel::Channel;
use crate::client::config::Config;
use crate::client::error::LoginError;
use crate::client::server_key::{PublicKey, ServerKey};
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use sha1::Sha1;
use sha2::digest::Output;
use sha2::{Digest, Sha256, Sha512};

/// A plugin that this client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plugin {
    Native,
    CachingSha2,
    Ed25519,
    /// The kernel identifies the user to the server.
    Socket,
    Sha256,
    /// The password as it is.
    Clear,
}

const PLUGINS: [(&str, Plugin); 7] = [
    ("mysql_native_password", Plugin::Native),
    ("caching_sha2_password", Plugin::CachingSha2),
    ("client_ed25519", Plugin::Ed25519),
    ("unix_socket", Plugin::Socket),
    ("auth_socket", Plugin::Socket),
    ("sha256_password", Plugin::Sha256),
    ("mysql_clear_password", Plugin::Clear),
];

impl Plugin {
    /// Finds the plugin of this name.
    pub fn named(name: &str) -> Result<Self, LoginError> {
        let found = PLUGINS.iter().find(|(known, _)| *known == name);
        found.map(|(_, plugin)| *plugin).ok_or_else(|| {
            LoginError::UnknownPlugin(name.into(), PLUGINS.map(|(known, _)| known).join(", "))
        })
    }

    pub fn name(self) -> &'static str {
        PLUGINS.iter().find(|(_, plugin)| *plugin == self).map_or("", |(name, _)| name)
    }

    /// Returns the proof in the answer to the greeting, before the account's plugin is known: only
    /// an answer to its challenge.
    pub fn first_proof(self, config: &Config, challenge: &[u8]) -> Vec<u8> {
        let password = config.password_bytes();
        match self {
            Self::Native | Self::CachingSha2 if password.is_empty() => Vec::new(),
            Self::Native => native(password, challenge),
            Self::CachingSha2 => caching_sha2(password, challenge),
            _ => Vec::new(),
        }
    }

    /// Answers a challenge of the account's plugin.
    pub fn proof(
        self,
        config: &Config,
        channel: &Channel,
        challenge: &[u8],
    ) -> Result<Vec<u8>, LoginError> {
        match self {
            Self::Ed25519 => Ok(ed25519(config.password_bytes(), challenge)),
            Self::Sha256 | Self::Clear => self.password(config, channel, challenge),
            _ => Ok(self.first_proof(config, challenge)),
        }
    }

    /// The password in clear over a private channel, or encrypted for the server, or the request
    /// for the key that this takes ([`key_request`](Self::key_request)). Any server can ask for it
    /// in clear, so this also requires that the server's identity is verified.
    pub fn password(
        self,
        config: &Config,
        channel: &Channel,
        challenge: &[u8],
    ) -> Result<Vec<u8>, LoginError> {
        let plugin = self.name();
        // The older plugin treats the unix socket, although it cannot be intercepted, like any
        // connection that is not encrypted.
        let is_private = channel.is_tls() || (channel.is_private() && self != Self::Sha256);
        if !is_private && let Some(request) = self.key_request() {
            let key = match &config.server_key {
                ServerKey::Unused if channel.is_private() => None,
                key => key.known().map_err(|cause| LoginError::NotEncrypted(plugin, cause))?,
            };
            return key.map_or(Ok(vec![request]), |key| self.encrypted(config, &key, challenge));
        }
        if !channel.is_private() {
            return Err(LoginError::Cleartext(plugin));
        }
        if self == Self::Clear && channel.is_tls() && !config.tls.verifies() {
            return Err(LoginError::Unverified(plugin));
        }
        Ok([config.password_bytes(), &[0]].concat())
    }

    /// Returns the request for the server's key, for plugins that encrypt passwords.
    pub fn key_request(self) -> Option<u8> {
        match self {
            Self::CachingSha2 => Some(2),
            Self::Sha256 => Some(1),
            _ => None,
        }
    }

    /// The password, hidden by the challenge and encrypted for the server.
    pub fn encrypted(
        self,
        config: &Config,
        key: &PublicKey,
        challenge: &[u8],
    ) -> Result<Vec<u8>, LoginError> {
        let password = [config.password_bytes(), &[0]].concat();
        let hidden: Vec<u8> =
            password.iter().zip(challenge.iter().cycle()).map(|(a, b)| a ^ b).collect();
        let encrypted = key.encrypt(&hidden).filter(|_| hidden.len() == password.len());
        encrypted.ok_or(LoginError::LongPassword(self.name()))
    }
}

fn hash<D: Digest>(parts: &[&[u8]]) -> Output<D> {
    parts.iter().fold(D::new(), Digest::chain_update).finalize()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// SHA1(password) XOR SHA1(challenge, SHA1(SHA1(password))).
fn native(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let once = hash::<Sha1>(&[password]);
    xor(&once, &hash::<Sha1>(&[challenge, &hash::<Sha1>(&[&once])]))
}

/// SHA256(password) XOR SHA256(SHA256(SHA256(password)), challenge).
fn caching_sha2(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let once = hash::<Sha256>(&[password]);
    xor(&once, &hash::<Sha256>(&[&hash::<Sha256>(&[&once]), challenge]))
}

/// The signature of the challenge (RFC 8032, section 5.1.6) by a key that is the password itself,
/// of any length, where the RFC has 32 bytes
/// (<https://mariadb.com/kb/en/authentication-plugin-ed25519/>).
fn ed25519(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let key = ExpandedSecretKey::from_bytes(&hash::<Sha512>(&[password]).into());
    // The public key is that of the secret one, without which a signature would reveal it.
    raw_sign::<Sha512>(&key, challenge, &VerifyingKey::from(&key)).to_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::{caching_sha2, ed25519, native};

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

    /// Test 1 of RFC 8032, section 7.1, whose key has the 32 bytes that a password need not have.
    #[test]
    fn with_a_password_of_32_bytes_a_signature_is_that_of_rfc_8032() {
        let key = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let key: Vec<u8> =
            (0..32).map(|at| u8::from_str_radix(&key[2 * at..2 * at + 2], 16).unwrap()).collect();
        assert_eq!(
            hex(&ed25519(&key, b"")),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555\
             fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        );
    }
}
