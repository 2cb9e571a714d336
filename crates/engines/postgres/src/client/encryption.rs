//! Encrypting a connection.

use crate::client::address::{Address, failed};
use crate::client::config::{Config, Host, Roots, TlsMode, TlsSettings};
use crate::client::error::{EncryptionError, Error};
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use std::io;
use transport::tls::{Tls, TlsOptions};
use transport::{Stopped, Stream, tls};

/// How connections to one host are encrypted.
#[derive(Debug, Clone)]
pub struct Encryption {
    tls: Tls,
    is_direct: bool,
}

impl Encryption {
    pub fn new(config: &Config, host: &Host, address: &Address) -> Result<Self, Error> {
        let tls = options(&config.tls, host.name()).and_then(|option| Ok(Tls::new(&option)?));
        Ok(Self { tls: tls.map_err(|error| error.at(address))?, is_direct: config.tls.is_direct })
    }

    /// Encrypts the connection from here on; `false` when the server declines to.
    pub fn start(&self, stream: &mut Stream, address: &Address) -> Result<bool, Error> {
        if !self.is_offered(stream, address)? {
            return Ok(false);
        }
        self.tls.start(stream).map(|()| true).map_err(|cause| match cause.kind() {
            io::ErrorKind::TimedOut => failed(address, cause),
            _ if Stopped::is_cause_of(&cause) => failed(address, cause),
            _ => EncryptionError::Handshake(cause).at(address),
        })
    }

    fn is_offered(&self, stream: &mut Stream, address: &Address) -> Result<bool, Error> {
        if self.is_direct {
            return Ok(true);
        }
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        // One byte and no more: what follows it is for TLS alone (CVE-2021-23222).
        let mut answer = [0];
        let read = stream.write_all(&request).and_then(|()| stream.read_blocking(&mut answer));
        let count = read.map_err(|source| failed(address, source))?;
        match (count, answer[0]) {
            (0, _) => Err(failed(address, io::ErrorKind::UnexpectedEof.into())),
            (_, b'S') => Ok(true),
            (_, b'N') => Ok(false),
            _ => Err(EncryptionError::NotPostgres.at(address)),
        }
    }
}

fn options(settings: &TlsSettings, host: String) -> Result<TlsOptions, EncryptionError> {
    let certificate = match (&settings.certificate, &settings.key) {
        (None, _) => None,
        (Some(path), Some(key)) => Some((path.clone(), key.clone())),
        (Some(path), None) => {
            return Err(EncryptionError::NoKey(path.clone()));
        }
    };
    Ok(TlsOptions {
        roots: trusted_roots(settings)?,
        verifies_host: settings.mode == TlsMode::VerifyFull,
        host,
        hides_host: settings.hides_host,
        certificate,
        protocol: Some("postgresql"),
    })
}

/// A root file that exists is used in every mode, as in libpq.
fn trusted_roots(settings: &TlsSettings) -> Result<tls::Roots, EncryptionError> {
    match &settings.roots {
        Roots::System => Ok(tls::Roots::System),
        Roots::File(Some(path)) if path.exists() => Ok(tls::Roots::File(path.clone())),
        Roots::File(_) if settings.mode < TlsMode::VerifyCa => Ok(tls::Roots::Unverified),
        Roots::File(path) => Err(EncryptionError::NoRoots(
            path.clone().unwrap_or_else(|| "~/.postgresql/root.crt".into()),
        )),
    }
}
