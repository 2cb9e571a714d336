//! Passwords and tokens.

use std::fmt;
use zeroize::Zeroizing;

/// A password, a token or another secret, from the moment it is read.
///
/// It is neither displayed nor serialised, and `{:?}` shows stars: what is built from it, such as
/// an error or a recording, cannot hold it by accident. Its memory is overwritten when it is
/// dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// The text itself: for the server that asks for it, and for the environment of its clients.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns whether it has no characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn no_form_of_it_shows_the_text() {
        let secret = Secret::from("S3c");
        assert_eq!(secret.reveal(), "S3c");
        for shown in [format!("{secret:?}"), format!("{secret:#?}"), format!("{:?}", Some(secret))]
        {
            assert!(!shown.contains("S3c"), "{shown}");
        }
    }
}
