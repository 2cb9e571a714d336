//! The server's RSA key, for which a password is encrypted on a connection that is not
//! (<https://dev.mysql.com/doc/refman/8.4/en/caching-sha2-pluggable-authentication.html>).

use crate::client::error::{ConfigError, KeyError};
use rsa::pkcs8::DecodePublicKey;
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;
use sha1::Sha1;
use std::path::PathBuf;
use transport::files::read_file;

/// The source of the key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ServerKey {
    /// Not allowed by the URL.
    #[default]
    Unused,
    /// From the server, without verifying its identity: `get-server-public-key`.
    OfServer,
    /// From a file: `server-public-key-path`.
    File(PathBuf),
}

impl ServerKey {
    /// From options by their names, which are those of MySQL's programs.
    pub fn take(option: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let asks = option("get-server-public-key");
        Ok(match (option("server-public-key-path"), asks.as_deref()) {
            (Some(path), _) => Self::File(path.into()),
            (None, Some("" | "1" | "on" | "ON" | "true")) => Self::OfServer,
            (None, None | Some("0" | "off" | "OFF" | "false")) => Self::Unused,
            (None, Some(_)) => return Err(ConfigError::Value("get-server-public-key", "0 or 1")),
        })
    }

    /// The key in the file; `None`: it is requested from the server.
    pub fn known(&self) -> Result<Option<PublicKey>, KeyError> {
        match self {
            Self::Unused => Err(KeyError::Unused),
            Self::OfServer => Ok(None),
            Self::File(path) => {
                let pem = read_file(path).map_err(|source| KeyError::File(path.clone(), source))?;
                let key = PublicKey::from_pem(&pem);
                key.map(Some).ok_or_else(|| KeyError::NoKey(path.clone()))
            }
        }
    }
}

/// A public key of RSA, of 1,024 to 8,192 bits: servers have no longer ones.
#[derive(Debug)]
pub(crate) struct PublicKey(rsa::PublicKey);

impl PublicKey {
    /// From `BEGIN PUBLIC KEY` (RFC 5280, section 4.1.2.7; RFC 8017, appendix A.1.1); `None` if it
    /// is not an RSA key.
    pub fn from_pem(pem: &[u8]) -> Option<Self> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
        rsa::PublicKey::from_public_key_der(&der).ok().map(Self)
    }

    /// RSAES-OAEP with SHA-1 and no label (RFC 8017, section 7.1.1); `None` when the message is too
    /// long for the key, or there are no random bytes.
    pub fn encrypt(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.0.oaep_encrypt::<Sha1>(message).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::PublicKey;
    use std::process::Command;

    /// OpenSSL decrypts the encrypted password, for keys with different leading bits; other data is
    /// not a key.
    #[test]
    fn what_is_encrypted_is_what_openssl_decrypts() {
        let folder = tempfile::tempdir().unwrap();
        let openssl = |arguments: &str| {
            let mut openssl = Command::new("openssl");
            let ended =
                openssl.args(arguments.split(' ')).current_dir(folder.path()).output().unwrap();
            assert!(
                ended.status.success(),
                "{arguments}: {}",
                String::from_utf8_lossy(&ended.stderr)
            );
            ended.stdout
        };
        for bits in [1024, 2048, 3000] {
            openssl(&format!("genrsa -out private.pem {bits}"));
            let key = PublicKey::from_pem(&openssl("rsa -in private.pem -pubout")).unwrap();
            for message in [&b"secret\0"[..], b"", &[0xFF; 86]] {
                std::fs::write(folder.path().join("encrypted"), key.encrypt(message).unwrap())
                    .unwrap();
                let decrypt = "pkeyutl -decrypt -inkey private.pem -pkeyopt rsa_padding_mode:oaep \
                               -in encrypted";
                assert_eq!(openssl(decrypt), message, "{bits}");
            }
            assert!(key.encrypt(&vec![7; bits / 8 - 41]).is_none());
        }
        openssl("ecparam -name prime256v1 -genkey -noout -out private.pem");
        assert!(PublicKey::from_pem(&openssl("ec -in private.pem -pubout")).is_none());
        let cut = b"-----BEGIN PUBLIC KEY-----\nMIIBIjAN\n-----END PUBLIC KEY-----\n";
        assert!(PublicKey::from_pem(cut).is_none() && PublicKey::from_pem(b"key").is_none());
    }
}
