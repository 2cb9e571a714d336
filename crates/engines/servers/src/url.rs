//! Percent-encoding in URLs of servers.

/// Why a part of a URL is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EscapeError {
    /// A `%` is not followed by two hexadecimal digits.
    Code,
    /// The codes are not UTF-8.
    NotUtf8,
}

/// Returns a part of a URL with its `%20`s as what they stand for.
///
/// # Errors
/// When it has another `%`, or is not UTF-8 then.
pub fn decoded(text: &str) -> Result<String, EscapeError> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|c| c.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or(EscapeError::Code)?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(|_| EscapeError::NotUtf8)
}
