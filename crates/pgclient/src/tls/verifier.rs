//! What a server's certificate is checked for.

use super::certificate;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// How much of a certificate counts. That its key signed the handshake always does.
#[derive(Debug)]
pub enum Trust {
    /// Any certificate.
    Anyone,
    /// It leads to a trusted root.
    Chain(Roots),
    /// And names the host.
    Host { roots: Roots, host: String },
}

/// Trusted certificates.
#[derive(Debug)]
pub struct Roots {
    pub store: RootCertStore,
    /// The same, as they are in the file: a server may show one of them itself.
    pub certificates: Vec<CertificateDer<'static>>,
}

#[derive(Debug)]
pub struct Verifier {
    pub trust: Trust,
    pub provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn verify_chain(
        &self,
        roots: &Roots,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        // A self-signed certificate is its own root, even one that says that it is an authority, as
        // `openssl req -x509` makes them: OpenSSL accepts that, the checks of chains do not.
        if roots.certificates.iter().any(|trusted| trusted == shown) {
            let is_valid = certificate::is_valid_at(shown, now.as_secs());
            return if is_valid { Ok(()) } else { Err(CertificateError::Expired.into()) };
        }
        let algorithms = self.provider.signature_verification_algorithms.all;
        let parsed = ParsedCertificate::try_from(shown)?;
        verify_server_cert_signed_by_trust_anchor(&parsed, &roots.store, intermediates, now, algorithms)
    }
}

fn verify_host(shown: &CertificateDer<'_>, name: &ServerName<'_>, host: &str) -> Result<(), Error> {
    if certificate::common_name_is(shown, host) {
        return Ok(());
    }
    verify_server_name(&ParsedCertificate::try_from(shown)?, name)
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.trust {
            Trust::Anyone => {}
            Trust::Chain(roots) => self.verify_chain(roots, shown, intermediates, now)?,
            Trust::Host { roots, host } => {
                self.verify_chain(roots, shown, intermediates, now)?;
                verify_host(shown, name, host)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, shown, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        // With the bare key, because certificates of version 1 have one too, and OpenSSL still makes
        // them; whether such a certificate is trusted is asked above.
        match certificate::public_key(shown) {
            Some(key) => {
                let key = SubjectPublicKeyInfoDer::from(key);
                verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
            }
            None => verify_tls13_signature(message, shown, signed, algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
