use crate::read::{SOURCE_BYTES_MAX, read_text};
use observations::{FileRecord, redacted};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// How the names of programs end that an interpreter is given.
const PROGRAMS: [&str; 4] = ["sh", "sql", "py", "fio"];

/// A file that an experiment names, as it was read: what it holds is part of the experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// What names it: the path of a setting, a hook of a volume, or the option of a quick command.
    pub named_by: String,
    /// Its path as named; a relative one counts from the folder in which Steelbench runs.
    pub path: String,
    /// Its content.
    pub content: String,
    /// Whether a shell runs it from where it lies, so that what runs can change while a run goes on.
    pub is_program: bool,
}

impl NamedFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is no text (UTF-8), or is larger than [`SOURCE_BYTES_MAX`].
    pub fn read(named_by: &str, path: &str) -> io::Result<Self> {
        let content = read_text(path.as_ref(), SOURCE_BYTES_MAX)?;
        Ok(Self { named_by: named_by.to_owned(), path: path.to_owned(), content, is_program: false })
    }

    /// The programs that a shell command names by their path: text files that can be executed, that begin with `#!`, or
    /// whose name ends as those of scripts do. What the command writes to (`> made.sql`) is none of them, and neither is
    /// what a variable names.
    pub fn in_command(named_by: &str, command: &str) -> Vec<Self> {
        let separates = |c: char| c.is_whitespace() || ";|&()<\"'`=".contains(c);
        let (mut written, mut words) = (Vec::new(), Vec::new());
        for (part, text) in command.split('>').enumerate() {
            let mut of_part = text.split(separates).filter(|word| !word.is_empty());
            written.extend(of_part.next().filter(|_| part > 0));
            words.extend(text.split(separates).filter(|word| !word.is_empty()));
        }
        let mut files: Vec<Self> = Vec::new();
        for word in words {
            if !written.contains(&word) && files.iter().all(|file| file.path != word) {
                files.extend(Self::program(named_by, word));
            }
        }
        files
    }

    fn program(named_by: &str, path: &str) -> Option<Self> {
        // Devices and pipes are not even opened.
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let file = Self { is_program: true, ..Self::read(named_by, path).ok()? };
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        let is_program = metadata.permissions().mode() & 0o111 != 0
            || file.content.starts_with("#!")
            || ending.is_some_and(|ending| PROGRAMS.contains(&ending));
        is_program.then_some(file)
    }

    /// Whether the file has this content now.
    pub fn is_unchanged(&self) -> bool {
        Self::read(&self.named_by, &self.path).is_ok_and(|now| now.content == self.content)
    }

    /// SHA-256 of the content in hexadecimal.
    pub fn sha256(&self) -> String {
        Sha256::digest(self.content.as_bytes()).iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// What is kept of it with a run.
    pub fn record(&self) -> FileRecord {
        FileRecord {
            named_by: self.named_by.clone(),
            path: self.path.clone(),
            sha256: self.sha256(),
            content: redacted(&self.content),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NamedFile;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_command_names_the_programs_that_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (name, content) in [
            ("a.sh", "true\n"),
            ("b", "#!/bin/sh\n"),
            ("c", "true\n"),
            ("d", "true\n"),
            ("e.sql", "SELECT 1"),
            ("log.sh", ""),
            ("binary", "\0"),
        ] {
            fs::write(path(name), content).unwrap();
        }
        fs::write(path("binary"), [0x7f, 0xff]).unwrap();
        for executable in ["c", "binary"] {
            fs::set_permissions(path(executable), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let command = format!(
            "X='{}' sh {} && {} -f {};{} <{} 2>&1 >{} || . {}; {} /dev/null {}",
            path("missing"),
            path("a.sh"),
            path("b"),
            path("e.sql"),
            path("c"),
            path("d"),
            path("log.sh"),
            path("a.sh"),
            path("binary"),
            folder.path().display(),
        );
        let found = NamedFile::in_command("hooks.before_run", &command);
        let names: Vec<&str> = found.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["a.sh", "b", "e.sql", "c"]);
    }

    #[test]
    fn the_hash_is_that_of_sha256sum_and_passwords_are_not_kept() {
        let file = |content: &str| NamedFile {
            named_by: "s".into(),
            path: "p".into(),
            content: content.into(),
            is_program: false,
        };
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(file("abc").sha256(), abc);
        let record = file("PGPASSWORD=secret psql postgres://u:secret@h/d\n").record();
        assert_eq!(record.content, "PGPASSWORD=****** psql postgres://u:******@h/d\n");
    }
}
