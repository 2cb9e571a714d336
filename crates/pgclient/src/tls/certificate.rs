//! What certificates say that `rustls` does not tell.

use ring::digest::{self, Algorithm};
use x509_cert::Certificate;
use x509_cert::der::asn1::{Ia5StringRef, PrintableStringRef, Utf8StringRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Encode};
use x509_cert::time::Time;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// The hash of a server's certificate that SCRAM binds to a channel (`tls-server-end-point`, RFC 5929
/// section 4.1): made with the hash of the certificate's own signature, and with SHA-256 where that
/// is MD5 or SHA-1. `None` where the signature has no hash of its own.
pub fn end_point(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = Certificate::from_der(der).ok()?;
    let algorithm = hash_of_signature(&certificate.signature_algorithm.oid.to_string())?;
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
pub fn public_key(der: &[u8]) -> Option<Vec<u8>> {
    Certificate::from_der(der).ok()?.tbs_certificate.subject_public_key_info.to_der().ok()
}

/// Whether a certificate is valid at a time.
pub fn is_valid_at(der: &[u8], unix_s: u64) -> bool {
    Certificate::from_der(der).is_ok_and(|certificate| {
        let validity = certificate.tbs_certificate.validity;
        let seconds = |time: Time| time.to_unix_duration().as_secs();
        (seconds(validity.not_before)..=seconds(validity.not_after)).contains(&unix_s)
    })
}

/// Whether a certificate without alternative names is made out to a host by its common name; with
/// them, the common name does not count (RFC 6125, and libpq).
pub fn common_name_is(der: &[u8], host: &str) -> bool {
    let Ok(certificate) = Certificate::from_der(der) else { return false };
    let subject = certificate.tbs_certificate;
    if subject.extensions.iter().flatten().any(|extension| extension.extn_id == SUBJECT_ALT_NAME) {
        return false;
    }
    let attributes = subject.subject.0.iter().flat_map(|part| part.0.iter());
    let mut names = attributes.filter(|attribute| attribute.oid == COMMON_NAME).filter_map(|attribute| {
        let value = &attribute.value;
        let utf8 = value.decode_as::<Utf8StringRef<'_>>().map(|text| text.as_str().to_owned());
        let printable = || value.decode_as::<PrintableStringRef<'_>>().map(|text| text.as_str().to_owned());
        let ia5 = || value.decode_as::<Ia5StringRef<'_>>().map(|text| text.as_str().to_owned());
        utf8.or_else(|_| printable()).or_else(|_| ia5()).ok()
    });
    names.next_back().is_some_and(|name| matches(&name, host))
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
