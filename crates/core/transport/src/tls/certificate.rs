//! Checks of a server's certificate, and facts that `rustls` does not report.

use ring::digest::{self, Algorithm};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;
use x509_cert::Certificate;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Encode};
use x509_cert::time::Time;

/// Trusted certificates.
#[derive(Debug)]
pub(crate) struct TrustedRoots {
    pub store: RootCertStore,
    /// The certificates as in the file: a server may present one of them itself.
    pub certificates: Vec<CertificateDer<'static>>,
}

/// Checks as much of a certificate as counts. That its key signed the handshake always does.
#[derive(Debug)]
pub(crate) struct Verifier {
    /// It must lead to one of these; `None` accepts any certificate.
    pub roots: Option<TrustedRoots>,
    /// And name this host.
    pub host: Option<String>,
    pub provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn verify_chain(
        &self,
        roots: &TrustedRoots,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        // A self-signed certificate is its own root, even one that says that it is an authority, as
        // `openssl req -x509` makes them: OpenSSL accepts that, the checks of chains do not.
        if roots.certificates.iter().any(|trusted| trusted == shown) {
            let is_valid = is_valid_at(shown, now.as_secs());
            return if is_valid { Ok(()) } else { Err(CertificateError::Expired.into()) };
        }
        let algorithms = self.provider.signature_verification_algorithms.all;
        let parsed = ParsedCertificate::try_from(shown)?;
        verify_server_cert_signed_by_trust_anchor(
            &parsed,
            &roots.store,
            intermediates,
            now,
            algorithms,
        )
    }
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
        if let Some(roots) = &self.roots {
            self.verify_chain(roots, shown, intermediates, now)?;
        }
        if self.host.as_ref().is_some_and(|host| !common_name_is(shown, host)) {
            verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            shown,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        // With the bare key, because certificates of version 1 have one too, and OpenSSL still
        // makes them; whether such a certificate is trusted is asked above.
        match public_key(shown) {
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

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// The hash of a server's certificate that SCRAM binds to a channel (`tls-server-end-point`, RFC
/// 5929 section 4.1): made with the hash of the certificate's own signature, and with SHA-256 where
/// that is MD5 or SHA-1. `None` where the signature has no hash of its own.
pub fn end_point(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = Certificate::from_der(der).ok()?;
    let algorithm = hash_of_signature(&certificate.signature_algorithm().oid.to_string())?;
    Some(digest::digest(algorithm, der).as_ref().to_vec())
}

/// Signature algorithms of RFC 3279, RFC 4055 and RFC 5758.
fn hash_of_signature(oid: &str) -> Option<&'static Algorithm> {
    match oid {
        // RSA with MD5, SHA-1, SHA-256; ECDSA with SHA-1, SHA-256.
        "1.2.840.113549.1.1.4"
        | "1.2.840.113549.1.1.5"
        | "1.2.840.113549.1.1.11"
        | "1.2.840.10045.4.1"
        | "1.2.840.10045.4.3.2" => Some(&digest::SHA256),
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => Some(&digest::SHA384),
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => Some(&digest::SHA512),
        _ => None,
    }
}

/// The public key, as DER.
fn public_key(der: &[u8]) -> Option<Vec<u8>> {
    Certificate::from_der(der).ok()?.tbs_certificate().subject_public_key_info().to_der().ok()
}

/// Returns whether a certificate is valid at a time.
fn is_valid_at(der: &[u8], unix_s: u64) -> bool {
    Certificate::from_der(der).is_ok_and(|certificate| {
        let validity = certificate.tbs_certificate().validity();
        let seconds = |time: Time| time.to_unix_duration().as_secs();
        (seconds(validity.not_before)..=seconds(validity.not_after)).contains(&unix_s)
    })
}

/// Returns whether a certificate without alternative names has a host as its common name; with
/// alternative names the common name does not count (RFC 6125, and libpq).
fn common_name_is(der: &[u8], host: &str) -> bool {
    let Ok(certificate) = Certificate::from_der(der) else { return false };
    let subject = certificate.tbs_certificate();
    let mut extensions = subject.extensions().into_iter().flatten();
    if extensions.any(|extension| extension.extn_id == SUBJECT_ALT_NAME) {
        return false;
    }
    // The bytes are compared, whatever type of text they are, as libpq does.
    let names = subject.subject().iter().filter(|attribute| attribute.oid == COMMON_NAME);
    let name = names.last().and_then(|name| str::from_utf8(name.value.value()).ok());
    name.is_some_and(|name| matches(name, host))
}

/// `*.example.com` stands for one label more, of any name.
fn matches(name: &str, host: &str) -> bool {
    match name.strip_prefix("*.") {
        None => name.eq_ignore_ascii_case(host),
        Some(domain) => host
            .split_once('.')
            .is_some_and(|(first, rest)| !first.is_empty() && rest.eq_ignore_ascii_case(domain)),
    }
}
