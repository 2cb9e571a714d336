//! Encryption as libpq's `sslmode` defines it
//! (<https://www.postgresql.org/docs/current/libpq-ssl.html>).

mod certificate;

pub use certificate::end_point;

use crate::config::{Config, Environment, Host, Settings, read_file};
use crate::connect::{self, Address};
use crate::{ConfigError, Error};
use bytes::BytesMut;
use certificate::{TrustedRoots, Verifier};
use postgres_protocol::message::frontend;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use transport::{Stopped, Stream};

/// `sslmode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    #[default]
    Disable,
    /// Only when the server insists.
    Allow,
    /// When the server can.
    Prefer,
    Require,
    /// And the certificate leads to a trusted root.
    VerifyCa,
    /// And it is this host's.
    VerifyFull,
}

/// Names in connection strings.
const MODES: [(&str, TlsMode); 6] = [
    ("disable", TlsMode::Disable),
    ("allow", TlsMode::Allow),
    ("prefer", TlsMode::Prefer),
    ("require", TlsMode::Require),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
];

/// Which roots are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Roots {
    File(Option<PathBuf>),
    /// The platform's.
    #[default]
    System,
}

/// What a configuration says about encryption.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    pub mode: TlsMode,
    pub roots: Roots,
    /// The one that was given, or the one at home when it exists.
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    /// Whether the server is not told which host is meant.
    pub hides_host: bool,
    /// Whether TLS begins at once, without asking (`sslnegotiation=direct`, servers from 17 on).
    pub is_direct: bool,
}

impl TlsSettings {
    /// Variables that say the same to libpq's programs.
    pub fn client_environment(&self) -> Vec<(&'static str, String)> {
        let mode = MODES.iter().find(|(_, mode)| *mode == self.mode).map(|(name, _)| (*name).to_owned());
        let text = |path: &PathBuf| path.display().to_string();
        let roots = match &self.roots {
            // libpq refuses it with less.
            Roots::System => (self.mode == TlsMode::VerifyFull).then(|| "system".to_owned()),
            Roots::File(path) => path.as_ref().map(text),
        };
        let files = [("PGSSLCERT", &self.certificate), ("PGSSLKEY", &self.key)];
        let files = files.into_iter().filter_map(|(name, path)| Some((name, text(path.as_ref()?))));
        let known = [("PGSSLMODE", mode), ("PGSSLROOTCERT", roots)];
        known.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(files).collect()
    }

    /// From the values of the keywords.
    pub fn take(settings: &mut Settings, environment: &Environment) -> Result<Self, ConfigError> {
        let mut given = |keyword| settings.take(keyword).map(PathBuf::from);
        let at_home = |name: &str| environment.in_home(&format!(".postgresql/{name}"));
        let certificate = given("sslcert").or_else(|| at_home("postgresql.crt").filter(|path| path.exists()));
        let key = given("sslkey").or_else(|| at_home("postgresql.key"));
        let roots = match given("sslrootcert") {
            Some(path) if path.as_os_str() == "system" => Roots::System,
            path => Roots::File(path.or_else(|| at_home("root.crt"))),
        };
        let default = if roots == Roots::System { TlsMode::VerifyFull } else { TlsMode::Prefer };
        let mode = settings.choice("sslmode", &MODES, default)?;
        let is_direct = settings.choice("sslnegotiation", &[("postgres", false), ("direct", true)], false)?;
        let hides_host = settings.choice("sslsni", &[("1", false), ("0", true)], false)?;
        let too_weak = |reason: &str| Err(ConfigError::Value("sslmode", reason.to_owned()));
        if roots == Roots::System && mode != TlsMode::VerifyFull {
            return too_weak("sslrootcert=system needs sslmode=verify-full");
        }
        if is_direct && mode < TlsMode::Require {
            return too_weak("sslnegotiation=direct needs sslmode=require or stronger");
        }
        Ok(Self { mode, roots, certificate, key, hides_host, is_direct })
    }
}

/// How connections to one host are encrypted.
#[derive(Debug, Clone)]
pub struct Encryption {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    is_direct: bool,
}

impl Encryption {
    pub fn new(config: &Config, host: &Host, address: &Address) -> Result<Self, Error> {
        let settings = &config.tls;
        let host = host.name();
        let name = match ServerName::try_from(host.clone()) {
            Ok(name) => name,
            Err(_) if settings.mode == TlsMode::VerifyFull => {
                return Err(failed(address, format!("`{host}` is not a name that certificates can have")));
            }
            // An address is not told to the server.
            Err(_) => ServerName::from(IpAddr::from(Ipv4Addr::UNSPECIFIED)),
        };
        let config = client_config(settings, &host).map_err(|reason| failed(address, reason))?;
        Ok(Self { config: Arc::new(config), name, is_direct: settings.is_direct })
    }

    /// Encrypts the connection from here on; `false` when the server declines to.
    pub fn start(&self, stream: &mut Stream, address: &Address) -> Result<bool, Error> {
        if !self.is_offered(stream, address)? {
            return Ok(false);
        }
        let tls = ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|cause| failed(address, cause.to_string()))?;
        stream.encrypt(tls).map(|()| true).map_err(|cause| match cause.kind() {
            io::ErrorKind::TimedOut => connect::failed(address, cause),
            _ if Stopped::is_cause_of(&cause) => connect::failed(address, cause),
            _ => failed(address, explained(&cause)),
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
        let count = read.map_err(|source| connect::failed(address, source))?;
        match (count, answer[0]) {
            (0, _) => Err(connect::failed(address, io::ErrorKind::UnexpectedEof.into())),
            (_, b'S') => Ok(true),
            (_, b'N') => Ok(false),
            _ => Err(failed(address, "the answer to the request for encryption is not PostgreSQL's")),
        }
    }

    /// Of a server that does not encrypt.
    pub fn declined(address: &Address) -> Error {
        failed(address, "the server does not encrypt, and sslmode asks for it")
    }
}

fn failed(address: &Address, reason: impl Into<String>) -> Error {
    Error::Tls(address.to_string(), reason.into())
}

/// What went wrong in a handshake, and what to do about it.
fn explained(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(problem)) = cause else { return error.to_string() };
    match problem {
        CertificateError::UnknownIssuer => {
            "the server's certificate is not signed by a root certificate of sslrootcert".to_owned()
        }
        CertificateError::Other(_) | CertificateError::BadEncoding => format!(
            "the server's certificate cannot be verified: {problem}; it must be of X.509 version 3, which \
             openssl x509 -req makes with -extfile"
        ),
        _ => format!("the server's certificate: {problem}"),
    }
}

fn client_config(settings: &TlsSettings, host: &str) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier {
        roots: trusted_roots(settings)?,
        host: (settings.mode == TlsMode::VerifyFull).then(|| host.to_owned()),
        provider: Arc::clone(&provider),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match client_certificate(settings)? {
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| format!("client certificate: {error}"))?,
        None => builder.with_no_client_auth(),
    };
    config.enable_sni = !settings.hides_host;
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(config)
}

/// A root file that exists is used in every mode, as in libpq.
fn trusted_roots(settings: &TlsSettings) -> Result<Option<TrustedRoots>, String> {
    match &settings.roots {
        Roots::System => system_roots().map(Some),
        Roots::File(Some(path)) if path.exists() => roots_of(path).map(Some),
        Roots::File(_) if settings.mode < TlsMode::VerifyCa => Ok(None),
        Roots::File(path) => Err(format!(
            "root certificate file {} does not exist: provide it, use the platform's with \
             sslrootcert=system, or verify nothing with sslmode=require",
            path.as_deref().unwrap_or(Path::new("~/.postgresql/root.crt")).display()
        )),
    }
}

fn roots_of(path: &Path) -> Result<TrustedRoots, String> {
    let certificates = certificates_of(path)?;
    let mut store = RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(TrustedRoots { store, certificates })
}

fn system_roots() -> Result<TrustedRoots, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    // Platforms have a few that are too old to be understood.
    let (added, _) = store.add_parsable_certificates(found.certs);
    if added == 0 {
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(format!("the platform has no root certificates: {}", errors.join("; ")));
    }
    Ok(TrustedRoots { store, certificates: Vec::new() })
}

fn certificates_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let failed = |error: String| format!("{}: {error}", path.display());
    let bytes = read_file(path).map_err(|error| failed(error.to_string()))?;
    match CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>() {
        Ok(certificates) if certificates.is_empty() => Err(failed("no certificate in PEM format".to_owned())),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(failed(error.to_string())),
    }
}

type ClientCertificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn client_certificate(settings: &TlsSettings) -> Result<Option<ClientCertificate>, String> {
    let Some(path) = &settings.certificate else { return Ok(None) };
    let chain = certificates_of(path)?;
    let Some(key) = &settings.key else {
        return Err(format!("{}: no private key is known for it: set sslkey", path.display()));
    };
    check_key_file(key).map_err(|error| format!("private key file {}: {error}", key.display()))?;
    let read = |error: String| {
        format!("private key file {}: {error}; it must be PEM without a pass phrase", key.display())
    };
    let bytes = read_file(key).map_err(|error| read(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| read(error.to_string()))?;
    Ok(Some((chain, key)))
}

/// A key must be its owner's secret, or root's and a group's.
fn check_key_file(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    let forbidden = if metadata.uid() == 0 { 0o027 } else { 0o077 };
    if metadata.permissions().mode() & forbidden != 0 {
        return Err(io::Error::other("others have access to it; run chmod 0600 on it"));
    }
    Ok(())
}
