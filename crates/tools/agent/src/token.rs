//! The secret that admits agents to a broker. It is in no output and on no command line.

use crate::error::AgentError;
use observations::{Secret, hexadecimal};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Fewest and most characters of a token.
const LENGTH: std::ops::RangeInclusive<usize> = 16..=512;

/// The kernel's source of random bytes.
const RANDOM: &str = "/dev/urandom";

/// Returns a new token of 256 random bits.
///
/// # Errors
/// When the system has no random bytes.
pub fn random() -> Result<Secret, AgentError> {
    random_name(32).map(Secret::from)
}

/// Returns a random name of this number of bytes, at most 32, in hexadecimal.
///
/// # Errors
/// When the system has no random bytes.
pub(crate) fn random_name(bytes: usize) -> Result<String, AgentError> {
    let mut random = [0; 32];
    let read = File::open(RANDOM).and_then(|mut file| file.read_exact(&mut random));
    read.map_err(|source| AgentError::File { path: RANDOM.into(), source })?;
    Ok(hexadecimal(&random[..bytes.min(32)]))
}

/// Reads a token from the first line of a file that only its owner can read.
///
/// # Errors
/// When the file cannot be read, others can read it, or it has no token.
pub fn read(path: &Path) -> Result<Secret, AgentError> {
    let at = |source| AgentError::File { path: path.into(), source };
    let file = File::open(path).map_err(at)?;
    let mode = file.metadata().map_err(at)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(AgentError::OpenToken { path: path.into() });
    }
    read_line(&mut BufReader::new(file), path)
}

/// Reads a token from the first line of a reader; errors call it `path`.
///
/// # Errors
/// When it cannot be read, or has no token.
pub fn read_line(from: &mut impl BufRead, path: &Path) -> Result<Secret, AgentError> {
    let mut line = String::new();
    let most = *LENGTH.end() as u64 + 2;
    from.take(most)
        .read_line(&mut line)
        .map_err(|source| AgentError::File { path: path.into(), source })?;
    let token = line.trim();
    let is_token = LENGTH.contains(&token.len()) && token.chars().all(|c| c.is_ascii_graphic());
    if !is_token {
        return Err(AgentError::NoToken { path: path.into() });
    }
    Ok(token.into())
}

#[cfg(test)]
mod tests {
    use super::{LENGTH, random, read};
    use crate::error::AgentError;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_read_from_a_file_that_only_its_owner_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = random().unwrap();
        assert!(LENGTH.contains(&token.reveal().len()));
        let write = |text: &str, mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            read(&path)
        };
        assert!(write(&format!("{}\n", token.reveal()), 0o600).unwrap() == token);
        for mode in [0o640, 0o604] {
            let refused = write(token.reveal(), mode);
            assert!(matches!(refused, Err(AgentError::OpenToken { .. })), "{refused:?}");
        }
        for text in ["", "short", "has blanks in between them", &"x".repeat(600)] {
            let refused = write(text, 0o600);
            assert!(matches!(refused, Err(AgentError::NoToken { .. })), "{text}: {refused:?}");
        }
    }
}
