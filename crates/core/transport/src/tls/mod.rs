//! TLS options of any protocol: trusted certificates, a client's certificate, and the degree of
//! verification.

mod certificate;

pub use certificate::end_point;

use crate::Stream;
use crate::files::read_file;
use certificate::{TrustedRoots, Verifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};
use std::error::Error;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The root certificates that a server's must lead to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Roots {
    /// Any certificate is accepted.
    #[default]
    Unverified,
    /// Certificates in a file, in PEM format.
    File(PathBuf),
    /// The platform's.
    System,
}

/// How to encrypt a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// Verification of the server's certificate, and the trusted roots.
    pub roots: Roots,
    /// True if the certificate must match the host.
    pub verifies_host: bool,
    /// The host that is meant.
    pub host: String,
    /// True if the server name is not sent.
    pub hides_host: bool,
    /// Files of the client's certificate and of its private key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The protocol inside, where its servers ask for its name (ALPN).
    pub protocol: Option<&'static str>,
}

/// How connections to one host are encrypted: files are read, names are understood.
#[derive(Debug, Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// Why connections cannot be encrypted as the options say.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No certificate can name the host.
    #[error("`{host}` is not a valid host name for a certificate")]
    HostName {
        /// The host that is meant.
        host: String,
    },
    /// The library lacks the protocol versions.
    #[error("{0}")]
    Versions(#[source] rustls::Error),
    /// The client's certificate and key do not fit.
    #[error("client certificate: {0}")]
    Client(#[source] rustls::Error),
    /// The platform has no root certificates.
    #[error(
        "the system has no root certificates: {}",
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    NoSystemRoots {
        /// The causes, one for each place.
        errors: Vec<rustls_native_certs::Error>,
    },
    /// A file of certificates cannot be read, is damaged, or has none that is usable.
    #[error("{}: {source}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Cause,
    },
    /// The private key is accessible to other users, missing, or in another format.
    #[error("private key file {}: {source}{remedy}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Cause,
        /// The form that the key must have, where that is the reason.
        remedy: &'static str,
    },
}

/// An error of another crate.
type Cause = Box<dyn Error + Send + Sync>;

impl Tls {
    /// Reads the files of the options.
    ///
    /// # Errors
    /// When a file cannot be used, or no certificate can name the host.
    pub fn new(options: &TlsOptions) -> Result<Self, TlsError> {
        let host = &options.host;
        let name = match ServerName::try_from(host.clone()) {
            Ok(name) => name,
            Err(_) if options.verifies_host => {
                return Err(TlsError::HostName { host: host.clone() });
            }
            // An IP address is not sent to the server.
            Err(_) => ServerName::from(IpAddr::from(Ipv4Addr::UNSPECIFIED)),
        };
        Ok(Self { config: Arc::new(client_config(options)?), name })
    }

    /// Encrypts a connection from here on.
    ///
    /// # Errors
    /// Also [`Stopped`](crate::Stopped) and [`io::ErrorKind::TimedOut`]; [`explained`] has words
    /// for the others.
    pub fn start(&self, stream: &mut Stream) -> io::Result<()> {
        let tls = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        stream.encrypt(tls.map_err(io::Error::other)?)
    }
}

/// Explains a failed handshake and its remedy.
pub fn explained(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(problem)) = cause else { return error.to_string() };
    match problem {
        CertificateError::UnknownIssuer => {
            "the server's certificate is not signed by a trusted root certificate".to_owned()
        }
        CertificateError::Other(_) | CertificateError::BadEncoding => format!(
            "the server's certificate cannot be verified: {problem}; it must be an X.509 version \
             3 certificate (openssl x509 -req creates one with -extfile)"
        ),
        _ => format!("the server's certificate: {problem}"),
    }
}

fn client_config(options: &TlsOptions) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let roots = match &options.roots {
        Roots::Unverified => None,
        Roots::File(path) => Some(roots_of(path)?),
        Roots::System => Some(system_roots()?),
    };
    let verifier = Verifier {
        roots,
        host: options.verifies_host.then(|| options.host.clone()),
        provider: Arc::clone(&provider),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Versions)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &options.certificate {
        Some((certificate, key)) => builder
            .with_client_auth_cert(certificates_of(certificate)?, private_key(key)?)
            .map_err(TlsError::Client)?,
        None => builder.with_no_client_auth(),
    };
    config.enable_sni = !options.hides_host;
    config.alpn_protocols = options.protocol.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(config)
}

fn roots_of(path: &Path) -> Result<TrustedRoots, TlsError> {
    let certificates = certificates_of(path)?;
    let mut store = RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(unusable(path))?;
    }
    Ok(TrustedRoots { store, certificates })
}

fn system_roots() -> Result<TrustedRoots, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    // Platforms have a few that are too old to be understood.
    let (added, _) = store.add_parsable_certificates(found.certs);
    if added == 0 {
        return Err(TlsError::NoSystemRoots { errors: found.errors });
    }
    Ok(TrustedRoots { store, certificates: Vec::new() })
}

fn certificates_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read_file(path).map_err(unusable(path))?;
    let all = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let all = all.map_err(unusable(path))?;
    if all.is_empty() { Err(unusable(path)("no certificate in PEM format")) } else { Ok(all) }
}

fn unusable<E: Into<Cause>>(path: &Path) -> impl Fn(E) -> TlsError {
    move |error| TlsError::Certificates { path: path.into(), source: error.into() }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let unusable = |source, remedy| TlsError::Key { path: path.into(), source, remedy };
    check_key_file(path).map_err(|error| unusable(error.into(), ""))?;
    let form = "; it must be PEM without a pass phrase";
    let bytes = read_file(path).map_err(|error| unusable(error.into(), form))?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| unusable(error.into(), form))
}

/// A key must be its owner's secret, or root's and a group's.
fn check_key_file(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    let forbidden = if metadata.uid() == 0 { 0o027 } else { 0o077 };
    if metadata.permissions().mode() & forbidden != 0 {
        return Err(io::Error::other("other users can access it; run chmod 0600 on it"));
    }
    Ok(())
}
