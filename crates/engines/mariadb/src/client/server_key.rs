//! The server's RSA key, for which a password is encrypted on a connection that is not
//! (<https://dev.mysql.com/doc/refman/8.4/en/caching-sha2-pluggable-authentication.html>).

use crate::client::ConfigError;
use num_bigint::BigUint;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY as SHA1, digest};
use ring::rand::{SecureRandom, SystemRandom};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;
use std::path::PathBuf;
use transport::files::read_file;

/// Where the key comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ServerKey {
    /// Nobody has said that it may be used.
    #[default]
    Unused,
    /// From the server, whoever that is: `get-server-public-key`.
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
            (None, Some(_)) => return Err(ConfigError("get-server-public-key is 0 or 1".into())),
        })
    }

    /// The key in the file; `None`: the server is asked for it. An error in words where it may not
    /// be used, or is none.
    pub fn known(&self) -> Result<Option<PublicKey>, String> {
        match self {
            Self::Unused => Err("name its key (server-public-key-path, or \
                                 get-server-public-key=1 where nobody can be in between)"
                .into()),
            Self::OfServer => Ok(None),
            Self::File(path) => {
                let place = path.display();
                let pem = read_file(path)
                    .map_err(|error| format!("server-public-key-path: {place}: {error}"))?;
                let key = PublicKey::from_pem(&pem);
                key.map(Some).ok_or_else(|| {
                    format!(
                        "server-public-key-path: {place} holds no RSA key in PEM format (BEGIN \
                         PUBLIC KEY)"
                    )
                })
            }
        }
    }
}

/// Bytes of a hash.
const HASH: usize = 20;
/// Bytes of a modulus: keys of 1,024 to 16,384 bits.
const MODULUS: std::ops::RangeInclusive<usize> = 128..=2048;
/// Bytes of an exponent at most: those in use have three.
const EXPONENT_MAX: usize = 4;

/// A public key of RSA.
#[derive(Debug)]
pub struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    /// Of the modulus.
    bytes: usize,
}

impl PublicKey {
    /// From `BEGIN PUBLIC KEY` (RFC 5280, section 4.1.2.7; RFC 8017, appendix A.1.1); `None` where
    /// it is none of RSA.
    pub fn from_pem(pem: &[u8]) -> Option<Self> {
        const SEQUENCE: u8 = 0x30;
        const INTEGER: u8 = 0x02;
        const BITS: u8 = 0x03;
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
        let mut info = value(&mut der.as_ref(), SEQUENCE)?;
        value(&mut info, SEQUENCE)?;
        let mut key = value(&mut info, BITS)?.strip_prefix(&[0])?;
        let mut key = value(&mut key, SEQUENCE)?;
        let mut number = || {
            let bytes = value(&mut key, INTEGER)?;
            Some(bytes.strip_prefix(&[0]).unwrap_or(bytes))
        };
        let (modulus, exponent) = (number()?, number()?);
        let is_usable =
            MODULUS.contains(&modulus.len()) && modulus[0] > 0 && exponent.len() <= EXPONENT_MAX;
        is_usable.then(|| Self {
            bytes: modulus.len(),
            modulus: BigUint::from_bytes_be(modulus),
            exponent: BigUint::from_bytes_be(exponent),
        })
    }

    /// RSAES-OAEP with SHA-1 and no label (RFC 8017, section 7.1.1); `None` when the message is too
    /// long for the key, or there are no random bytes.
    pub fn encrypt(&self, message: &[u8]) -> Option<Vec<u8>> {
        let padding = self.bytes.checked_sub(message.len() + 2 * HASH + 2)?;
        let mut seed = [0; HASH];
        SystemRandom::new().fill(&mut seed).ok()?;
        let empty = digest(&SHA1, b"");
        let mut block = [empty.as_ref(), &vec![0; padding], &[1], message].concat();
        mask(&mut block, &seed);
        mask(&mut seed, &block);
        let encoded = BigUint::from_bytes_be(&[&seed[..], &block].concat());
        let encrypted = encoded.modpow(&self.exponent, &self.modulus).to_bytes_be();
        Some([vec![0; self.bytes - encrypted.len()], encrypted].concat())
    }
}

/// MGF1 with SHA-1 (RFC 8017, appendix B.2.1), applied.
fn mask(bytes: &mut [u8], seed: &[u8]) {
    for (number, part) in (0_u32..).zip(bytes.chunks_mut(HASH)) {
        let pad = digest(&SHA1, &[seed, &number.to_be_bytes()].concat());
        part.iter_mut().zip(pad.as_ref()).for_each(|(byte, pad)| *byte ^= pad);
    }
}

/// The next value of DER, which has this tag.
fn value<'a>(der: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&first, rest) = der.split_first()?;
    let (&length, mut rest) = rest.split_first()?;
    let mut bytes = usize::from(length);
    if length >= 0x80 {
        let (long, behind) = rest
            .split_at_checked(usize::from(length & 0x7F))
            .filter(|(long, _)| long.len() <= 4)?;
        bytes = long.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        rest = behind;
    }
    let (value, behind) = rest.split_at_checked(bytes)?;
    *der = behind;
    (first == tag).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::PublicKey;
    use std::process::Command;

    /// What openssl decrypts with the private key, for keys whose numbers begin differently, and
    /// what is no key.
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
